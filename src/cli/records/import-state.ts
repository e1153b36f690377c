/**
 * How far an import is, in a small file beside the input: an import that is interrupted,
 * even with no warning, can be resumed from there.
 *
 * It says that so many records are done, in their order, and that no record beyond another
 * number has been sent. Those in between may be stored or not.
 */
import { readFileSync, renameSync, rmSync } from 'node:fs'
import { writeAnew } from '../../engine/private-files.ts'
import { CommandFailure, fileFailure } from './failure.ts'
import type { InputIdentity } from './input.ts'

export interface ImportState {
  /** Records that are done. */
  done: number
  /** Records that may have been sent. */
  sent: number
  inserted: number
  /** Records that an interrupted request had stored already. */
  there: number
  rejected: number
  /** Bytes of the file of rejected records. */
  rejectsSize: number
}

export function newState(): ImportState {
  return { done: 0, sent: 0, inserted: 0, there: 0, rejected: 0, rejectsSize: 0 }
}

/** What an import reads and fills; another one cannot go on from its state. */
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

  /** What an earlier import left; undefined where there is nothing to go on from. */
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
        `the input has changed since ${this.path} was written. Remove that to start anew.`,
      )
    if (kept.target !== target)
      throw new CommandFailure(
        `${this.path} is of an import into ${kept.target}. Remove it first.`,
      )
    return kept.state
  }

  /** The same, but undefined as well where it cannot be gone on from. */
  readIfSound(): ImportState | undefined {
    try {
      return this.read()
    } catch (error) {
      if (error instanceof CommandFailure) return undefined
      throw error
    }
  }

  /** Survives the end of this process, however it comes. */
  write(state: ImportState): void {
    const written = `${this.path}.new`
    writeAnew(written, JSON.stringify({ ...this.#subject, state }) + '\n')
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
