/** Runs checks one after the other, and collects what they find. */
import { EngineError } from '../../errors.ts'
import { isHeld, obstructs, tellObstacle, troubleOf } from '../files/disk-trouble.ts'
import { messageOf } from '../../../errors/reason.ts'

/** A text for a problem; a note for something that repairs itself. */
export type Finding = string | { readonly note: string }

export interface Check<Subject> {
  readonly run: (subject: Subject) => Iterable<Finding>
  /** Whether the checks behind this one are worth running only if it finds nothing. */
  readonly isGate?: boolean
}

/** Result of all checks of a file. */
export interface Findings {
  readonly findings: readonly string[]
  readonly notes: readonly string[]
  /** Why the file could not be checked to the end, and what to do about it. */
  readonly obstacle?: string
}

/** Beyond this many findings of a file the rest is only counted: they have one cause. */
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

  /** Returns false when a gate or an obstacle ended the list early. */
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

  /** Does a part of a check; what it throws is a finding, or an obstacle. */
  attempt(act: () => void): void {
    try {
      act()
    } catch (error) {
      this.#obstacle = this.#obstacleOf(error)
      if (this.#obstacle === undefined) this.#add(wordsFor(error))
    }
  }

  get result(): Findings {
    const untold = this.#untold === 0 ? [] : [`${this.#untold} more like these`]
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
    const trouble = troubleOf(error, this.#file)
    return trouble !== undefined && obstructs(trouble)
      ? tellObstacle(trouble, this.#file)
      : undefined
  }

  #add(finding: Finding): void {
    if (typeof finding !== 'string') this.#notes.push(finding.note)
    else if (this.#findings.length < findingsMax) this.#findings.push(finding)
    else this.#untold++
  }
}

/** Damaged bytes can make a check fail anywhere; the other files are still checked. */
function wordsFor(error: unknown): string {
  const message = messageOf(error).replace(/\s*\n\s*/g, ' ')
  return error instanceof EngineError ? message : `the file cannot be read: ${message}`
}
