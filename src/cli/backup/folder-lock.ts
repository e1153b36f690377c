/**
 * One backup at a time into a folder: a file says who is at it, and is touched as long as
 * they are. One that was left behind by a process that died is taken over.
 */
import { randomUUID } from 'node:crypto'
import { readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { privateFileMode } from '../../engine/private-files.ts'
import { CommandFailure } from '../records/failure.ts'

const touchMs = 10_000
/** Where the process cannot be seen from here, being on another machine. */
const silentMsMax = 120_000

interface Holder {
  readonly id: string
  readonly pid: number
  readonly host: string
  /** When the process started: numbers of processes are used again. */
  readonly started: string
}

export class FolderLock {
  readonly #path: string
  readonly #self: Holder = {
    id: randomUUID(),
    pid: process.pid,
    host: hostname(),
    started: startOf(process.pid),
  }
  readonly #touch: NodeJS.Timeout

  /** Throws a Failure when another has it. */
  constructor(folder: string) {
    this.#path = join(folder, 'backup.lock')
    if (!this.#take()) {
      const holder = readHolder(this.#path)
      if (holder !== undefined && isAlive(holder, this.#path))
        throw new CommandFailure(
          `another backup is being made into ${folder}, by process ${holder.pid} on ` +
            `${holder.host}. Wait for its end, or choose another folder.`,
        )
      rmSync(this.#path, { force: true })
      if (!this.#take())
        throw new CommandFailure(`another backup into ${folder} started at this moment.`)
    }
    this.#touch = setInterval(() => {
      const now = new Date()
      try {
        utimesSync(this.#path, now, now)
      } catch {
        // That it was taken away is found out before anything counts on it.
      }
    }, touchMs).unref()
  }

  /** Throws when another has taken over meanwhile. */
  confirm(): void {
    if (readHolder(this.#path)?.id !== this.#self.id)
      throw new CommandFailure(
        'another backup took over this folder. Nothing was backed up.',
      )
  }

  release(): void {
    clearInterval(this.#touch)
    if (readHolder(this.#path)?.id === this.#self.id) rmSync(this.#path, { force: true })
  }

  #take(): boolean {
    try {
      const content = JSON.stringify(this.#self)
      writeFileSync(this.#path, content, { flag: 'wx', mode: privateFileMode })
      return true
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
      throw error
    }
  }
}

function readHolder(path: string): Holder | undefined {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as Holder
  } catch {
    // Gone, or cut off when its process died.
    return undefined
  }
}

function isAlive({ pid, host, started }: Holder, path: string): boolean {
  if (host !== hostname()) {
    const touched = statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0
    return Date.now() - touched < silentMsMax
  }
  return isRunning(pid) && startOf(pid) === started
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    // There is one, of another user.
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

/** When a process started, as far as the system tells; else the empty text. */
function startOf(pid: number): string {
  try {
    // The name of the program, in brackets, may have spaces in it; the start is the 20th behind.
    const behindName = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)!
    return behindName.split(' ')[19] ?? ''
  } catch {
    return ''
  }
}
