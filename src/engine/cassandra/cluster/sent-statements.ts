/**
 * The statements of one read, and the conditions that the server checks itself. Statements have no
 * values (statement.ts), so the report has none either.
 */
import type { Caller } from '../../../caller/caller.ts'
import type { ReadReport } from '../../../caller/read-report.ts'
import type { StatementOwner } from './statement-queue.ts'

/** Maximum number of different statements in a report. */
const shownMax = 4

export class SentStatements implements StatementOwner, ReadReport {
  readonly #caller: Caller
  readonly #startedAt = performance.now()
  readonly #times = new Map<string, number>()
  #checked: readonly string[] = []
  entries = 0
  elapsedMs = 0

  constructor(caller: Caller) {
    this.#caller = caller
  }

  get principalName(): string {
    return this.#caller.principalName
  }

  get signal(): AbortSignal {
    return this.#caller.signal
  }

  /** Called with each answered statement and the number of its rows. */
  answered(text: string, rows: number): void {
    this.#times.set(text, (this.#times.get(text) ?? 0) + 1)
    this.entries += rows
  }

  /**
   * Adds to the report the conditions that the server checks on the rows that the cluster returns.
   */
  check(conditions: readonly string[]): void {
    this.#checked = conditions
  }

  /** Reports the read to its caller. */
  report(): void {
    this.elapsedMs = performance.now() - this.#startedAt
    this.#caller.noteRead?.(this)
  }

  get plan(): string {
    const statements = Array.from(this.#times, ([text, times]) => {
      // Removes the comment with the table's id.
      const cql = text.replace(/ \/\*.*?\*\//g, '')
      return times === 1 ? cql : `${cql} (${times} times)`
    })
    const more = statements.length - shownMax
    return [
      ...(statements.length === 0 ? ['no statement'] : statements.slice(0, shownMax)),
      ...(more > 0 ? [`${more} other statements`] : []),
      ...(this.#checked.length === 0
        ? []
        : [`the server checks ${this.#checked.join(', ')}`]),
    ].join('; ')
  }
}
