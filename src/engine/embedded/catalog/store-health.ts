/**
 * Whether the data folder can be written: what the latest writes met, and what a look at the
 * disk finds when nobody has written for a while.
 *
 * A look sees whether the folder is where it was, and now and then writes a small file durably
 * and removes it. So a folder that was lost is noticed, and a disk that has space again is
 * believed, with no traffic at all.
 */
import { open, rm, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { privateFileMode } from '../../private-files.ts'
import { unfinishedFile } from './data-folder.ts'
import {
  failing,
  inDoubt,
  tell,
  tellLog,
  troubleOf,
  troubleOfLost,
  type Trouble,
} from '../files/disk-trouble.ts'
import { findWhereabouts, type FileIdentity } from '../files/file-identity.ts'

type Log = (level: 'info' | 'error', message: string) => void

export class StoreHealth {
  readonly #catalog: FileIdentity
  readonly #probe: string
  readonly #log: Log
  /** What writes to files met, each until one succeeds or a look says otherwise. */
  readonly #troubles = new Map<string, Trouble>()
  #death: string | undefined
  #wroteAt = -Infinity
  #triedAt = -Infinity
  #looking: Promise<void> | undefined

  /** `catalog` is the file that was opened, in the data folder. */
  constructor(catalog: FileIdentity, log: Log) {
    this.#catalog = catalog
    // A name that the next start removes, should this one be cut short.
    this.#probe = join(dirname(catalog.path), `${unfinishedFile}-probe`)
    this.#log = log
  }

  /** What keeps the store from being written, in words; undefined when nothing does. */
  async problem(): Promise<string | undefined> {
    if (this.#death !== undefined) return this.#death
    this.#looking ??= this.#look().finally(() => (this.#looking = undefined))
    if (!(await endsInTime(this.#looking)))
      return 'the disk of the data folder does not answer. Look after the disk'
    const [trouble] = this.#troubles.values()
    return trouble && tell(trouble)
  }

  /** Whether nothing is known to be wrong. */
  get isWell(): boolean {
    return this.#death === undefined && this.#troubles.size === 0
  }

  noteSuccess(file: string): void {
    this.#wroteAt = performance.now()
    this.#clear(file)
  }

  noteFailure(file: string, trouble: Trouble): void {
    if (this.#troubles.size === 0)
      this.#log('error', `Writing ${file} fails: ${tellLog(trouble)}`)
    this.#troubles.set(file, trouble)
  }

  /** It cannot be tidied, or its index merged, which harms nobody yet. */
  noteNeglect(file: string, reason: string): void {
    const advice = 'Reads and writes go on. Run "stela check" to see what is wrong'
    this.#log('error', `${file} cannot be tidied: ${reason}. ${advice}`)
  }

  /** The file is no more, and that is as it should be. */
  forget(file: string): void {
    this.#clear(file)
  }

  /** The thread that writes has died. Returns what its calls fail with. */
  noteDeath(reason: string): string {
    this.#death = `the store cannot write any more: ${reason}. Restart the server`
    this.#log('error', this.#death)
    return `${this.#death}. ${inDoubt}`
  }

  #clear(file: string): void {
    if (this.#troubles.delete(file) && this.#troubles.size === 0)
      this.#log('info', 'The store can be written again')
  }

  async #look(): Promise<void> {
    const { path } = this.#catalog
    try {
      const whereabouts = await findWhereabouts(this.#catalog)
      if (whereabouts !== 'there') {
        this.noteFailure(path, troubleOfLost(this.#catalog, whereabouts))
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
      this.noteFailure(path, troubleOf(error, path) ?? failing(error))
    }
  }

  #isWriteDue(): boolean {
    const now = performance.now()
    return this.#troubles.size > 0
      ? now - this.#triedAt >= tryAgainMs
      : now - Math.max(this.#triedAt, this.#wroteAt) >= tryMs
  }
}

/** How long nobody may have written before a look does. */
const tryMs = 5_000
/** The same while something is wrong. */
const tryAgainMs = 1_000
/**
 * Health is answered even if a disk is stuck, after two seconds. They are counted in steps: one
 * in which the process was held up for long counts as one, for it is not the disk's.
 */
const lookStepMs = 100
const lookStepsMax = 20

/** As much as a small write takes, with the log that it is noted in. */
const probeSize = 64 * 1024

async function writeAndRemove(file: string): Promise<void> {
  // What an earlier look left, if it was cut short.
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

function isAbsence({ kind }: Trouble): boolean {
  return kind === 'gone' || kind === 'replaced'
}

async function isBack(file: string, { lost }: Trouble): Promise<boolean> {
  if (lost !== undefined) return (await findWhereabouts(lost)) === 'there'
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
