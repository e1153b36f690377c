/**
 * Sends the records of an input in batches, several at a time, and settles the batches in order.
 *
 * Records are counted and rejected in input order, so that one number describes the progress of an
 * import. A batch whose reply arrives early waits until all earlier batches are settled. At most
 * two batches per connection wait, which keeps the connections busy.
 */
import { BadRecord } from './csv.ts'
import type { ImportState } from './import-state.ts'
import {
  batchCountMax,
  batchSizeMax,
  documentSizeMax,
  insertBatch,
  type InsertOutcome,
  type SentDocument,
} from './insert-batch.ts'
import type { DocumentReader } from './read-document.ts'
import type { Rejects } from './rejects.ts'
import type { RawRecord } from './split.ts'
import type { RecordTarget } from './target.ts'

export interface ImporterOptions {
  readonly target: RecordTarget
  readonly rejects: Rejects
  readonly connections: number
  /** The state of an earlier run, or a new state; the importer updates it. */
  readonly state: ImportState
  /** Saves the state. Called before a batch is sent and after a batch is settled. */
  readonly save: () => void
}

interface Item {
  readonly record: RawRecord
  readonly content: SentDocument | BadRecord
}

interface Batch {
  readonly items: readonly Item[]
  readonly outcomes: Promise<InsertOutcome[]>
}

export class Importer {
  readonly #options: ImporterOptions
  /** Number of records that an earlier run may have sent. */
  readonly #sentBefore: number
  /** Batches in flight, in input order. */
  readonly #waiting: Batch[] = []
  #items: Item[] = []
  #size = 0
  /** Number of records read, including records that an earlier run settled. */
  #seen = 0

  constructor(options: ImporterOptions) {
    this.#options = options
    this.#sentBefore = options.state.sent
  }

  async add(record: RawRecord, read: DocumentReader): Promise<void> {
    this.#seen++
    if (this.#seen <= this.#options.state.done) return
    const content = this.#readContent(record, read)
    const size = content instanceof BadRecord ? 0 : Buffer.byteLength(content.text) + 1
    const isFull =
      this.#items.length === batchCountMax ||
      (this.#items.length > 0 && this.#size + size > batchSizeMax)
    if (isFull) await this.#send()
    this.#items.push({ record, content })
    this.#size += size
  }

  /** Sends the last batch and waits until all batches are settled. */
  async finish(): Promise<void> {
    if (this.#items.length > 0) await this.#send()
    await this.settle()
  }

  /** Waits for the batches in flight. */
  async settle(): Promise<void> {
    while (this.#waiting.length > 0) await this.#settleFirst()
  }

  #readContent(record: RawRecord, read: DocumentReader): SentDocument | BadRecord {
    const text = read(record)
    if (text instanceof BadRecord) return text
    if (Buffer.byteLength(text) > documentSizeMax)
      return new BadRecord(
        `the record is larger than ${documentSizeMax} bytes, the maximum of a request`,
      )
    return { text, mayBeThere: this.#seen <= this.#sentBefore }
  }

  async #send(): Promise<void> {
    const { target, connections, state, save } = this.#options
    while (this.#waiting.length >= 2 * connections) await this.#settleFirst()
    const items = this.#items
    this.#items = []
    this.#size = 0
    state.sent = Math.max(state.sent, this.#seen)
    save()
    const documents = items.flatMap(({ content }) =>
      content instanceof BadRecord ? [] : [content],
    )
    const outcomes = insertBatch(target, documents)
    // Prevents an unhandled rejection. The rejection is handled when this batch is settled.
    outcomes.catch(() => undefined)
    this.#waiting.push({ items, outcomes })
  }

  async #settleFirst(): Promise<void> {
    const { state, rejects, save } = this.#options
    const { items, outcomes } = this.#waiting[0]!
    const sent = (await outcomes)[Symbol.iterator]()
    this.#waiting.shift()
    for (const { record, content } of items) {
      const outcome: InsertOutcome =
        content instanceof BadRecord ? { refused: content.reason } : sent.next().value!
      if (outcome === 'inserted' || outcome === 'there') {
        state[outcome]++
        continue
      }
      state.rejected++
      rejects.add(record, outcome.refused)
    }
    state.rejectsSize = rejects.size
    state.done += items.length
    save()
  }
}
