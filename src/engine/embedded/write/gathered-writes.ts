/**
 * Collects small writes of one document each, and sends them to the writer thread together.
 *
 * Waking the writer thread takes longer than packing a write. Since that thread is faster than the
 * main thread, it would also start a transaction for each write. So up to `gatheredMax` writes are
 * collected until the current turn of the event loop ends.
 */
import { atOnce } from '../../../runtime/steps.ts'
import type { Write } from '../../contract.ts'
import type { RecordView } from '../../record-view.ts'
import { packWrites } from './pack-writes.ts'
import type { WriteBatch, Written } from './write-batch.ts'
import { sizeOf } from './write-pieces.ts'

/** Writes per message. While the writer thread executes them, the next writes are packed. */
const gatheredMax = 8

/** Maximum size in characters of a small write, which is packed in microseconds. */
const smallMax = 16_384

export function isSmall(write: Write): boolean {
  return sizeOf(write) <= smallMax
}

/** Collected writes to one store. */
interface Gathered {
  readonly view: RecordView
  readonly writes: Write[]
  readonly callers: PromiseWithResolvers<Written>[]
}

export class GatheredWrites {
  readonly #write: (file: string, batch: WriteBatch) => Promise<Written>
  /**
   * Collected writes by store file. The map is replaced and not cleared: V8 can keep entries of a
   * cleared Map alive for long.
   */
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

  /**
   * Sends the collected writes. Must also be called before any other message, so that messages
   * arrive in the order of the calls.
   */
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
