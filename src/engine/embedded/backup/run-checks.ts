/** Runs a list of checks, and collects their findings. */
import { EngineError } from '../../errors.ts'
import { isHeld, preventsCheck, checkMessage, problemOf } from '../files/disk-trouble.ts'
import { messageOf } from '../../../errors/reason.ts'

/**
 * A result of a check. A string describes a problem; a note describes something that a server will
 * repair by itself.
 */
export type Finding = string | { readonly note: string }

export interface Check<Subject> {
  readonly run: (subject: Subject) => Iterable<Finding>
  /** Whether a finding makes the later checks pointless. */
  readonly isGate?: boolean
}

/** Result of all checks of a file. */
export interface Findings {
  readonly findings: readonly string[]
  readonly notes: readonly string[]
  /** Why the check could not be completed, and what to do about it. */
  readonly obstacle?: string
}

/**
 * Maximum findings that are listed per file. Further findings are only counted, because they
 * usually have the same cause.
 */
const findingsMax = 100

export class Collector {
  readonly #file: string
  readonly #findings: string[] = []
  readonly #notes: string[] = []
  #untold = 0
  #obstacle: string | undefined

  constructor(file: string) {
    this.#file = file
  }

  /** Runs checks in order. Returns false when a gate or an obstacle ended the list early. */
  run<Subject>(checks: readonly Check<Subject>[], subject: Subject): boolean {
    for (const { run, isGate } of checks) {
      const before = this.#findings.length
      this.attempt(() => {
        for (const finding of run(subject)) this.#add(finding)
      })
      if (this.#obstacle !== undefined) return false
      if (isGate === true && this.#findings.length > before) return false
    }
    return true
  }

  /** Runs a part of a check. An error becomes a finding or an obstacle. */
  attempt(act: () => void): void {
    try {
      act()
    } catch (error) {
      this.#obstacle = this.#obstacleOf(error)
      if (this.#obstacle === undefined) this.#add(wordsFor(error))
    }
  }

  get result(): Findings {
    const untold = this.#untold === 0 ? [] : [`${this.#untold} more similar problems`]
    return {
      findings: [...this.#findings, ...untold],
      notes: this.#notes,
      ...(this.#obstacle !== undefined && { obstacle: this.#obstacle }),
    }
  }

  #obstacleOf(error: unknown): string | undefined {
    if (error instanceof EngineError)
      return error.kind === 'damaged' ? undefined : error.message
    if (isHeld(error)) return `${this.#file} is in use by another program; stop it first`
    const trouble = problemOf(error, this.#file)
    return trouble !== undefined && preventsCheck(trouble)
      ? checkMessage(trouble, this.#file)
      : undefined
  }

  #add(finding: Finding): void {
    if (typeof finding !== 'string') this.#notes.push(finding.note)
    else if (this.#findings.length < findingsMax) this.#findings.push(finding)
    else this.#untold++
  }
}

/**
 * Describes an error of a check. Damaged bytes can make any check throw; the other files are still
 * checked.
 */
function wordsFor(error: unknown): string {
  const message = messageOf(error).replace(/\s*\n\s*/g, ' ')
  return error instanceof EngineError ? message : `the file cannot be read: ${message}`
}
