/**
 * Writes of one small document each, which go to the writing thread together.
 *
 * Waking that thread up takes longer than packing a write, and it would begin a transaction
 * for every one of them: it is the faster of the two. So writes wait for the end of the turn
 * of the event loop, in which others may come, or until they are a few.
 */
import { atOnce } from '../../../runtime/steps.ts'
import type { Write } from '../../contract.ts'
import type { RecordView } from '../../record-view.ts'
import { packWrites } from './pack-writes.ts'
import type { WriteBatch, Written } from './write-batch.ts'
import { sizeOf } from './write-pieces.ts'

/** Writes that are sent at a time. The next are packed while these are made. */
const gatheredMax = 8

/** Characters of a document that takes microseconds to pack. */
const smallMax = 16_384

export function isSmall(write: Write): boolean {
  return sizeOf(write) <= smallMax
}

/** What waits for one store. */
interface Gathered {
  readonly view: RecordView
  readonly writes: Write[]
  readonly callers: PromiseWithResolvers<Written>[]
}

export class GatheredWrites {
  readonly #write: (file: string, batch: WriteBatch) => Promise<Written>
  /** A new one each time: what was in a Map that is cleared can live on for long. */
  #gathered = new Map<string, Gathered>()

  /** `write` sends a batch. */
  constructor(write: (file: string, batch: WriteBatch) => Promise<Written>) {
    this.#write = write
  }

  add(file: string, write: Write, view: RecordView): Promise<Written> {
    if (this.#gathered.size === 0) setImmediate(() => this.send())
    let gathered = this.#gathered.get(file)
    if (gathered === undefined)
      this.#gathered.set(file, (gathered = { view, writes: [], callers: [] }))
    const caller = Promise.withResolvers<Written>()
    gathered.callers.push(caller)
    if (gathered.writes.push(write) === gatheredMax) this.send()
    return caller.promise
  }

  /** Sends what waits: also before anything else is sent, so that all is done in order. */
  send(): void {
    if (this.#gathered.size === 0) return
    const all = this.#gathered
    this.#gathered = new Map()
    for (const [file, gathered] of all) void this.#send(file, gathered)
  }

  async #send(file: string, { view, writes, callers }: Gathered): Promise<void> {
    try {
      const batch = atOnce(packWrites(writes, view, false))
      const { outcomes, version, before } = await this.#write(file, batch)
      let latest = before
      for (const [i, { resolve }] of callers.entries()) {
        const outcome = outcomes[i]!
        resolve({ outcomes: [outcome], version, before: latest })
        if (outcome === 'done') latest++
      }
    } catch (error) {
      for (const { reject } of callers) reject(error)
    }
  }
}
