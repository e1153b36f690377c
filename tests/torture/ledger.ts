/** Records the state of a client's own records, and resolves unknown outcomes. */
import { Unexplained } from './unexplained.ts'

/** The expected state of a record. */
export interface State {
  readonly text: string
  /** Whether the record contains a time that the server chose. Any plausible time then matches. */
  readonly isStamped?: boolean
}

/**
 * The state of each touched record after a command, by key; undefined: the record does not exist.
 */
export type Touched<S extends State> = ReadonlyMap<string, S | undefined>

export interface Doubt {
  /**
   * Which records may have changed. `each`: any subset; `prefix`: the first ones in order;
   * `untouched`: none.
   */
  readonly mayBe: 'each' | 'prefix' | 'untouched'
  readonly command: object
}

export class Ledger<S extends State> {
  readonly #known = new Map<string, S>()

  get size(): number {
    return this.#known.size
  }

  get keys(): readonly string[] {
    return [...this.#known.keys()]
  }

  get states(): readonly S[] {
    return [...this.#known.values()]
  }

  get entries(): Iterable<[string, S]> {
    return this.#known
  }

  get(key: string): S | undefined {
    return this.#known.get(key)
  }

  apply(touched: Touched<S>): void {
    for (const [key, state] of touched)
      if (state === undefined) this.#known.delete(key)
      else this.#known.set(key, state)
  }

  forget(): void {
    this.#known.clear()
  }

  /**
   * Checks that the records, read after an unknown outcome, are in possible states, and adopts
   * these states.
   */
  settle(touched: Touched<S>, found: ReadonlyMap<string, S>, doubt: Doubt): void {
    let isOpen = doubt.mayBe !== 'untouched'
    for (const [key, after] of touched) {
      const before = this.#known.get(key)
      const now = found.get(key)
      const isBefore = isSame(before, now)
      if (isSame(after, now) && (isOpen || isBefore)) {
        if (now === undefined) this.#known.delete(key)
        else this.#known.set(key, now)
        continue
      }
      if (!isBefore)
        throw new Unexplained(
          `${key} is neither as before nor as after (${doubt.mayBe})`,
          {
            command: doubt.command,
            answer: now?.text ?? 'absent',
            expected: `${before?.text ?? 'absent'}\n     or   ${after?.text ?? 'absent'}`,
          },
          now === undefined && before !== undefined && after !== undefined
            ? 'lost'
            : 'unexplained',
        )
      if (doubt.mayBe === 'prefix') isOpen = false
    }
  }

  /** Compares all records that were read with the known states. */
  verify(found: ReadonlyMap<string, State>, what: string, command: object): number {
    for (const [key, state] of this.#known) {
      const now = found.get(key)
      if (now === undefined)
        throw new Unexplained(
          `${what}: ${key} is gone`,
          { command, expected: state.text },
          'lost',
        )
      if (now.text !== state.text)
        throw new Unexplained(`${what}: ${key} is something else`, {
          command,
          answer: now.text,
          expected: state.text,
        })
    }
    for (const [key, { text }] of found)
      if (!this.#known.has(key))
        throw new Unexplained(`${what}: nobody wrote ${key}`, { command, answer: text })
    return found.size
  }
}

const anyDate = /\{"\$date":-?\d+\}/g

function isSame(expected: State | undefined, found: State | undefined): boolean {
  if (expected === undefined || found === undefined) return expected === found
  if (!expected.isStamped) return expected.text === found.text
  return expected.text.replace(anyDate, 'date') === found.text.replace(anyDate, 'date')
}
