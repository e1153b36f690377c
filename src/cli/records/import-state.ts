/**
 * The progress of an import, in a small file next to the input, so that an interrupted import can
 * be resumed.
 *
 * The file contains two record numbers. All records up to `done` are settled, and no record after
 * `sent` was sent. Records between the two may be stored or not.
 */
import { readFileSync, renameSync, rmSync } from 'node:fs'
import { writeReplacing } from '../../engine/private-files.ts'
import { CommandFailure, fileFailure } from './failure.ts'
import type { InputIdentity } from './input.ts'

export interface ImportState {
  /** Number of settled records: the server stored or rejected them. */
  done: number
  /** Number of records that may have been sent. */
  sent: number
  inserted: number
  /** Number of records that were already stored by an interrupted request. */
  there: number
  rejected: number
  /** Size of the rejects file in bytes. */
  rejectsSize: number
}

export function newState(): ImportState {
  return { done: 0, sent: 0, inserted: 0, there: 0, rejected: 0, rejectsSize: 0 }
}

/**
 * Input and target of an import. An import can resume from a state only if the state has the same
 * input and target.
 */
export interface ImportSubject {
  readonly input: InputIdentity
  readonly target: string
}

export class StateFile {
  readonly path: string
  readonly #subject: ImportSubject

  constructor(path: string, subject: ImportSubject) {
    this.path = path
    this.#subject = subject
  }

  /**
   * The state of an earlier import; undefined if the file does not exist. Throws if the import
   * cannot be resumed from it.
   */
  read(): ImportState | undefined {
    let text: string
    try {
      text = readFileSync(this.path, 'utf8')
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
      throw fileFailure(error)
    }
    const kept = parseState(text)
    const { input, target } = this.#subject
    if (kept === undefined)
      throw new CommandFailure(
        `${this.path} is damaged. Remove it to start from the beginning.`,
      )
    if (kept.input.size !== input.size || kept.input.changedAt !== input.changedAt)
      throw new CommandFailure(
        `the input has changed since ${this.path} was written. Remove that file to ` +
          'start from the beginning.',
      )
    if (kept.target !== target)
      throw new CommandFailure(
        `${this.path} belongs to an import into ${kept.target}. Remove the file to ` +
          'start another import.',
      )
    return kept.state
  }

  /** Like `read`, but returns undefined where `read` throws. */
  readIfSound(): ImportState | undefined {
    try {
      return this.read()
    } catch (error) {
      if (error instanceof CommandFailure) return undefined
      throw error
    }
  }

  /**
   * Writes the state atomically: if the process is killed, the file contains the old or the new
   * state.
   */
  write(state: ImportState): void {
    const written = `${this.path}.new`
    writeReplacing(written, JSON.stringify({ ...this.#subject, state }) + '\n')
    renameSync(written, this.path)
  }

  remove(): void {
    rmSync(this.path, { force: true })
  }
}

interface Kept extends ImportSubject {
  readonly state: ImportState
}

function parseState(text: string): Kept | undefined {
  try {
    const kept = JSON.parse(text) as Partial<Kept> | null
    const state: Partial<Record<string, unknown>> = { ...kept?.state }
    const isWhole = Object.keys(newState()).every((name) => Number.isInteger(state[name]))
    return isWhole && kept?.input !== undefined && kept.target !== undefined
      ? (kept as Kept)
      : undefined
  } catch {
    return undefined
  }
}
