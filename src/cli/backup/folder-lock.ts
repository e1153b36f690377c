/**
 * Lock file that allows one backup at a time into a folder. The process that holds the lock touches
 * the file regularly, so that another process can take over the lock of a dead process.
 */
import { randomUUID } from 'node:crypto'
import { readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { privateFileMode } from '../../engine/private-files.ts'
import { CommandFailure } from '../records/failure.ts'

const touchMs = 10_000
/**
 * Milliseconds without a touch after which a holder on another machine counts as dead. Whether the
 * process on that machine still runs cannot be checked.
 */
const silentMsMax = 120_000

interface Holder {
  readonly id: string
  readonly pid: number
  readonly host: string
  /** Start time of the process, because process ids are reused. */
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

  /** Takes the lock. Throws a CommandFailure when another process holds it. */
  constructor(folder: string) {
    this.#path = join(folder, 'backup.lock')
    if (!this.#take()) {
      const holder = readHolder(this.#path)
      if (holder !== undefined && isAlive(holder, this.#path))
        throw new CommandFailure(
          `another backup into ${folder} is running: process ${holder.pid} on ` +
            `${holder.host}. Wait until it ends, or choose another folder.`,
        )
      rmSync(this.#path, { force: true })
      if (!this.#take())
        throw new CommandFailure(
          `another backup into ${folder} started at the same time. Wait until it ` +
            'ends, then try again.',
        )
    }
    this.#touch = setInterval(() => {
      const now = new Date()
      try {
        utimesSync(this.#path, now, now)
      } catch {
        // The lock file is gone. confirm() reports the loss before the backup becomes
        // valid.
      }
    }, touchMs).unref()
  }

  /** Throws when another process has taken the lock over. */
  confirm(): void {
    if (readHolder(this.#path)?.id !== this.#self.id)
      throw new CommandFailure(
        'another backup took over the lock of this folder. This backup was not completed.',
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
    // The lock file was removed meanwhile, or it is incomplete because the process died while
    // writing it.
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
    // EPERM: the process exists, but belongs to another user.
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

/** Start time of a process, or '' when the system does not report it. */
function startOf(pid: number): string {
  try {
    // The program name, in parentheses, may contain spaces. The start time is the 20th field after
    // the program name.
    const behindName = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)!
    return behindName.split(' ')[19] ?? ''
  } catch {
    return ''
  }
}
