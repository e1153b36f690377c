/**
 * Set of document numbers: a sparse bitmap. Adding a number takes a few nanoseconds, whether
 * numbers are dense or sparse; a Set would hash each number.
 */

/** Membership test for document numbers. */
export interface Documents {
  has(document: number): boolean
}

/**
 * Binary logarithm of the numbers per chunk. A chunk takes 512 bytes, even if it has only one
 * number.
 */
const chunkBits = 12
const chunkSize = 1 << chunkBits
const chunkWords = chunkSize / 32

/**
 * Marks an unused slot. Document numbers have 40 bits, so chunk numbers fit into a slot and are not
 * negative.
 */
const unused = -1

export class DocumentSet implements Documents {
  /**
   * Hash table with open addressing, at most half full: pairs of a chunk number and the offset of
   * its words. Numbers are mostly consecutive, so there are few collisions.
   */
  #slots: Int32Array
  #words: Uint32Array
  chunkCount = 0

  /** `chunkCount` is the initial capacity in chunks; the set grows when it is full. */
  constructor(chunkCount = 16) {
    const room = 1 << (32 - Math.clz32(Math.max(1, chunkCount) - 1))
    this.#slots = new Int32Array(4 * room).fill(unused)
    this.#words = new Uint32Array(room * chunkWords)
  }

  has(document: number): boolean {
    const start = this.#find(document)
    return start >= 0 && (this.#words[start + wordOf(document)]! & bitOf(document)) !== 0
  }

  add(document: number): void {
    const start = this.#open(chunkOf(document))
    this.#words[start + wordOf(document)]! |= bitOf(document)
  }

  /** Adds the result of `numbers()` of another set. */
  addAll(documents: Uint32Array): void {
    for (let i = 0; i < documents.length;) {
      const number = documents[i]! >>> chunkBits
      const start = this.#open(number)
      const words = this.#words
      for (; i < documents.length && documents[i]! >>> chunkBits === number; i++)
        words[start + wordOf(documents[i]!)]! |= bitOf(documents[i]!)
    }
  }

  delete(document: number): void {
    const start = this.#find(document)
    if (start >= 0) this.#words[start + wordOf(document)]! &= ~bitOf(document)
  }

  /** A set with the same numbers. */
  copy(): DocumentSet {
    const copy = new DocumentSet(0)
    copy.#slots = this.#slots.slice()
    copy.#words = this.#words.slice()
    copy.chunkCount = this.chunkCount
    return copy
  }

  /** Memory of the set in bytes. */
  get bytes(): number {
    return this.#slots.byteLength + this.#words.byteLength
  }

  /** All numbers, ascending; undefined when one does not fit into 32 bits. */
  numbers(): Uint32Array | undefined {
    const chunks: number[] = []
    for (let slot = 0; slot < this.#slots.length; slot += 2)
      if (this.#slots[slot] !== unused) chunks.push(this.#slots[slot]!)
    const numbers: number[] = []
    for (const number of chunks.sort((a, b) => a - b)) {
      if (number >= 2 ** (32 - chunkBits)) return undefined
      const start = this.#slots[this.#slotOf(number) + 1]!
      for (let at = 0; at < chunkWords; at++)
        for (let word = this.#words[start + at]!; word !== 0; word &= word - 1)
          numbers.push(number * chunkSize + 32 * at + (31 - Math.clz32(word & -word)))
    }
    return Uint32Array.from(numbers)
  }

  /** Offset of the words of a document's chunk; negative when there is no such chunk. */
  #find(document: number): number {
    return this.#slots[this.#slotOf(chunkOf(document)) + 1]!
  }

  /** The slot of a chunk; for a missing chunk, the unused slot where it belongs. */
  #slotOf(number: number): number {
    const slots = this.#slots
    const mask = slots.length - 2
    let slot = (number * 2) & mask
    while (slots[slot] !== number && slots[slot] !== unused) slot = (slot + 2) & mask
    return slot
  }

  /** Offset of the words of a chunk, which is created when it is missing. */
  #open(number: number): number {
    const slot = this.#slotOf(number)
    if (this.#slots[slot] === number) return this.#slots[slot + 1]!
    const start = this.chunkCount * chunkWords
    if (start === this.#words.length) {
      this.#grow()
      return this.#open(number)
    }
    this.#slots[slot] = number
    this.#slots[slot + 1] = start
    this.chunkCount++
    return start
  }

  #grow(): void {
    const words = this.#words
    const slots = this.#slots
    this.#words = new Uint32Array(2 * words.length)
    this.#words.set(words)
    this.#slots = new Int32Array(2 * slots.length).fill(unused)
    for (let slot = 0; slot < slots.length; slot += 2) {
      if (slots[slot] === unused) continue
      const moved = this.#slotOf(slots[slot]!)
      this.#slots[moved] = slots[slot]!
      this.#slots[moved + 1] = slots[slot + 1]!
    }
  }
}

function chunkOf(document: number): number {
  return Math.floor(document / chunkSize)
}

function wordOf(document: number): number {
  return (document >>> 5) & (chunkWords - 1)
}

function bitOf(document: number): number {
  return 1 << (document & 31)
}
