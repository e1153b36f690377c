/**
 * The terms of a text, as the table `waiting` stores them: varints. For each ascending term: the
 * difference from the previous term, doubled, plus 1 when the count is 1; any other count follows.
 */
import { firstFrom } from './segment.ts'
import { VarintReader, VarintWriter } from './varints.ts'

/** Ascending terms of a text, with their counts. */
export class TermList {
  size = 0
  ids: Uint32Array
  counts: Uint32Array

  constructor(capacity: number) {
    this.ids = new Uint32Array(capacity)
    this.counts = new Uint32Array(capacity)
  }

  /** Length of the text in tokens. */
  get length(): number {
    let sum = 0
    for (let i = 0; i < this.size; i++) sum += this.counts[i]!
    return sum
  }

  push(id: number, count: number): void {
    if (this.size === this.ids.length) this.#grow(this.size * 2 + 16)
    this.ids[this.size] = id
    this.counts[this.size++] = count
  }

  /** Count of a term in the text. */
  countOf(id: number): number {
    const { ids, counts, size } = this
    const at = firstFrom(ids, size, id)
    return at < size && ids[at] === id ? counts[at]! : 0
  }

  encode(): Uint8Array {
    const { ids, counts, size } = this
    let before = 0
    for (let i = 0; i < size; i++) {
      const count = counts[i]!
      writer.put((ids[i]! - before) * 2 + (count === 1 ? 1 : 0))
      if (count !== 1) writer.put(count)
      before = ids[i]!
    }
    return writer.finish()
  }

  /** Replaces the content with the decoded bytes. */
  decode(bytes: Uint8Array): this {
    // A capacity of bytes.length suffices, because each term takes at least one byte.
    if (bytes.length > this.ids.length) this.#grow(bytes.length)
    const { ids, counts } = this
    const reader = new VarintReader(bytes)
    let size = 0
    let id = 0
    while (!reader.isAtEnd) {
      const distance = reader.take()
      id += Math.floor(distance / 2)
      ids[size] = id
      counts[size++] = distance % 2 === 1 ? 1 : reader.take()
    }
    this.size = size
    return this
  }

  #grow(capacity: number): void {
    const { ids, counts } = this
    this.ids = new Uint32Array(capacity)
    this.counts = new Uint32Array(capacity)
    this.ids.set(ids)
    this.counts.set(counts)
  }
}

const writer = new VarintWriter()
