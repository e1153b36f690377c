/**
 * Determines whether the data folder is writable, from the results of recent writes or, without
 * recent writes, from probes.
 *
 * A probe checks that the folder is still the same, and from time to time writes, syncs and removes
 * a small file. So a lost folder, and space that became free, are detected without traffic.
 */
import { open, rm, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { privateFileMode } from '../../private-files.ts'
import { unfinishedFile } from './data-folder.ts'
import {
  failing,
  unknownOutcome,
  clientMessage,
  logMessage,
  problemOf,
  problemOfLost,
  type DiskProblem,
} from '../files/disk-trouble.ts'
import { checkIdentityAsync, type FileIdentity } from '../files/file-identity.ts'

type Log = (level: 'info' | 'error', message: string) => void

export class StoreHealth {
  readonly #catalog: FileIdentity
  readonly #probe: string
  readonly #log: Log
  /** Problems by file; each stays until a write succeeds or a probe clears it. */
  readonly #troubles = new Map<string, DiskProblem>()
  #death: string | undefined
  #wroteAt = -Infinity
  #triedAt = -Infinity
  #looking: Promise<void> | undefined

  /** `catalog`: identity of the opened catalog file. */
  constructor(catalog: FileIdentity, log: Log) {
    this.#catalog = catalog
    // The next start removes files with this prefix, if this process dies during a probe.
    this.#probe = join(dirname(catalog.path), `${unfinishedFile}-probe`)
    this.#log = log
  }

  /** The reason why writes are not possible, for operators; undefined if they are possible. */
  async problem(): Promise<string | undefined> {
    if (this.#death !== undefined) return this.#death
    this.#looking ??= this.#look().finally(() => (this.#looking = undefined))
    if (!(await endsInTime(this.#looking)))
      return 'the disk of the data folder does not respond. Check the disk'
    const [trouble] = this.#troubles.values()
    return trouble && clientMessage(trouble)
  }

  /** Whether no problem is known. */
  get isWell(): boolean {
    return this.#death === undefined && this.#troubles.size === 0
  }

  noteSuccess(file: string): void {
    this.#wroteAt = performance.now()
    this.#clear(file)
  }

  noteFailure(file: string, trouble: DiskProblem): void {
    if (this.#troubles.size === 0)
      this.#log('error', `Writing ${file} failed: ${logMessage(trouble)}`)
    this.#troubles.set(file, trouble)
  }

  /**
   * Reports that tidying or merging a store has failed. Such a failure does not affect reads and
   * writes yet.
   */
  noteNeglect(file: string, reason: string): void {
    const advice = 'Reads and writes continue. Run "stela check" to find the problem'
    this.#log('error', `Maintenance of ${file} failed: ${reason}. ${advice}`)
  }

  /** Forgets the problem of the file of a dropped store. */
  forget(file: string): void {
    this.#clear(file)
  }

  /**
   * Reports that the writer thread has died. Returns the message for the requests that therefore
   * fail.
   */
  noteDeath(reason: string): string {
    this.#death = `writes are no longer possible: ${reason}. Restart the server`
    this.#log('error', this.#death)
    return `${this.#death}. ${unknownOutcome}`
  }

  #clear(file: string): void {
    if (this.#troubles.delete(file) && this.#troubles.size === 0)
      this.#log('info', 'Writes are possible again')
  }

  async #look(): Promise<void> {
    const { path } = this.#catalog
    try {
      const whereabouts = await checkIdentityAsync(this.#catalog)
      if (whereabouts !== 'there') {
        this.noteFailure(path, problemOfLost(this.#catalog, whereabouts))
        return
      }
      const isDue = this.#isWriteDue()
      if (isDue) {
        this.#triedAt = performance.now()
        await writeAndRemove(this.#probe)
      }
      for (const [file, trouble] of [...this.#troubles])
        if (isAbsence(trouble) ? await isBack(file, trouble) : isDue) this.#clear(file)
    } catch (error) {
      this.noteFailure(path, problemOf(error, path) ?? failing(error))
    }
  }

  #isWriteDue(): boolean {
    const now = performance.now()
    return this.#troubles.size > 0
      ? now - this.#triedAt >= tryAgainMs
      : now - Math.max(this.#triedAt, this.#wroteAt) >= tryMs
  }
}

/** Time without a write after which a probe writes, in milliseconds. */
const tryMs = 5_000
/** While there is a problem: time without a probe after which a probe writes, in milliseconds. */
const tryAgainMs = 1_000
/**
 * Health checks are answered within two seconds, even if a disk hangs. The time is counted in
 * steps: a pause of the whole process counts as one step, and is not mistaken for a hanging disk.
 */
const lookStepMs = 100
const lookStepsMax = 20

/** Bytes that a probe writes: about as many as a small write with its log frames. */
const probeSize = 64 * 1024

async function writeAndRemove(file: string): Promise<void> {
  // A file that an interrupted probe has left is removed first.
  await rm(file, { force: true })
  const handle = await open(file, 'wx', privateFileMode)
  try {
    await handle.writeFile(Buffer.alloc(probeSize, 1))
    await handle.sync()
  } finally {
    await handle.close()
    await rm(file, { force: true })
  }
}

function isAbsence({ kind }: DiskProblem): boolean {
  return kind === 'gone' || kind === 'replaced'
}

async function isBack(file: string, { lost }: DiskProblem): Promise<boolean> {
  if (lost !== undefined) return (await checkIdentityAsync(lost)) === 'there'
  return stat(file).then(
    () => true,
    () => false,
  )
}

async function endsInTime(looking: Promise<void>): Promise<boolean> {
  const ended = looking.then(() => true)
  for (let step = 0; step < lookStepsMax; step++) {
    const stepOver = delay(lookStepMs, false, { ref: false })
    if (await Promise.race([ended, stepOver])) return true
  }
  return false
}
