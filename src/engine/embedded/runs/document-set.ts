/**
 * A set of documents, by number: bits, in chunks for the numbers that occur. Documents that
 * have a value come by number, some hundreds to a chunk or few; either way one more costs some
 * nanoseconds, where a Set hashes each.
 */

/** Bits of a chunk: 512 bytes, which is what a number may cost that is far from all others. */
const chunkBits = 12
const chunkSize = 1 << chunkBits
const chunkWords = chunkSize / 32

export class DocumentSet {
  /** Which chunk of the words has the bits of which numbers. */
  readonly #chunks = new Map<number, number>()
  #words: Uint32Array
  /** The chunk that was asked for last: the next number is often of the same. */
  #lastNumber = -1
  #lastStart = 0

  /** With room for documents of so many chunks, which grows when it is filled. */
  constructor(chunkCount = 16) {
    this.#words = new Uint32Array(Math.max(1, chunkCount) * chunkWords)
  }

  get chunkCount(): number {
    return this.#chunks.size
  }

  has(document: number): boolean {
    const start = this.#find(document)
    return start >= 0 && (this.#words[start + wordOf(document)]! & bitOf(document)) !== 0
  }

  add(document: number): void {
    let start = this.#find(document)
    if (start < 0) start = this.#newChunk()
    this.#words[start + wordOf(document)]! |= bitOf(document)
  }

  /** Those that another set has told. */
  addAll(documents: Uint32Array): void {
    for (let i = 0; i < documents.length;) {
      const number = documents[i]! >>> chunkBits
      let start = this.#find(documents[i]!)
      if (start < 0) start = this.#newChunk()
      const words = this.#words
      for (; i < documents.length && documents[i]! >>> chunkBits === number; i++)
        words[start + wordOf(documents[i]!)]! |= bitOf(documents[i]!)
    }
  }

  delete(document: number): void {
    const start = this.#find(document)
    if (start >= 0) this.#words[start + wordOf(document)]! &= ~bitOf(document)
  }

  /** All of them, in order within a chunk; undefined where one does not fit into 32 bits. */
  numbers(): Uint32Array | undefined {
    const numbers: number[] = []
    for (const [number, start] of this.#chunks) {
      if (number >= 2 ** (32 - chunkBits)) return undefined
      for (let at = 0; at < chunkWords; at++)
        for (let word = this.#words[start + at]!; word !== 0; word &= word - 1)
          numbers.push(number * chunkSize + 32 * at + (31 - Math.clz32(word & -word)))
    }
    return Uint32Array.from(numbers)
  }

  /** Where the chunk of a document starts; negative where there is none. */
  #find(document: number): number {
    const number = Math.floor(document / chunkSize)
    if (number === this.#lastNumber) return this.#lastStart
    this.#lastNumber = number
    return (this.#lastStart = this.#chunks.get(number) ?? -1)
  }

  /** Makes the chunk that was not found. */
  #newChunk(): number {
    const start = this.#chunks.size * chunkWords
    if (start === this.#words.length) {
      const grown = new Uint32Array(2 * start)
      grown.set(this.#words)
      this.#words = grown
    }
    this.#chunks.set(this.#lastNumber, start)
    return (this.#lastStart = start)
  }
}

function wordOf(document: number): number {
  return (document >>> 5) & (chunkWords - 1)
}

function bitOf(document: number): number {
  return 1 << (document & 31)
}
