/** The terms of a text, as the table `indexed` has them. */
import { BitReader, BitWriter } from './bits.ts'

/** The terms that a text has, by ascending number, and how often. */
export class TermList {
  size = 0
  ids: Uint32Array
  counts: Uint32Array

  constructor(capacity: number) {
    this.ids = new Uint32Array(capacity)
    this.counts = new Uint32Array(capacity)
  }

  /** The length of the text, in tokens. */
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

  /** How often the text has a term. */
  countOf(id: number): number {
    const { ids, counts, size } = this
    let low = 0
    let high = size
    while (low < high) {
      const middle = (low + high) >>> 1
      if (ids[middle]! < id) low = middle + 1
      else high = middle
    }
    return low < size && ids[low] === id ? counts[low]! : 0
  }

  encode(): Uint8Array {
    let before = 0
    for (let i = 0; i < this.size; i++) {
      const id = this.ids[i]!
      writer.putGolomb(id - before - 1, orderAfter(before))
      writer.putGolomb(this.counts[i]! - 1, 0)
      before = id
    }
    return writer.finish()
  }

  /** Takes what the bytes say in place of what it holds. */
  decode(bytes: Uint8Array): this {
    // Each term takes at least two bits.
    if (bytes.length * 4 > this.ids.length) this.#grow(bytes.length * 4)
    const { ids, counts } = this
    let size = 0
    let id = 0
    reader.read(bytes)
    for (;;) {
      const distance = reader.takeGolomb(orderAfter(id))
      if (distance < 0) break
      id += distance + 1
      ids[size] = id
      counts[size++] = reader.takeGolomb(0) + 1
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

/**
 * Common terms come early and so have low numbers; by Zipf's law a text then has about as many
 * terms between 100 and 200 as between 1 000 and 2 000. So the distance to the next one is
 * a part of the number itself.
 */
function orderAfter(id: number): number {
  return Math.max(0, 28 - Math.clz32(id + 1))
}

const writer = new BitWriter()
const reader = new BitReader()
