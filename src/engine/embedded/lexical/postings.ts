/**
 * The index of terms as bytes. All numbers are varints: seven bits a byte, the lowest first,
 * the high bit set if more follow.
 *
 * Of each ascending number its distance from the one before is written, doubled, plus one if
 * its count is 1; any other count follows. So most take a byte or two, and the length of the
 * text another, where it is part of the list.
 */

/** The terms that a text has, by ascending number, and how often. */
export class TermList {
  size = 0
  ids: Float64Array
  counts: Uint32Array

  constructor(capacity: number) {
    this.ids = new Float64Array(capacity)
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
    let at = 0
    let before = 0
    for (let i = 0; i < this.size; i++) {
      at = putCounted(at, this.ids[i]! - before, this.counts[i]!)
      before = this.ids[i]!
    }
    return scratch.slice(0, at)
  }

  /** Takes what the bytes say in place of what it holds. */
  decode(bytes: Uint8Array): this {
    // Each term takes at least a byte.
    if (bytes.length > this.ids.length) this.#grow(bytes.length)
    const { ids, counts } = this
    let size = 0
    let id = 0
    reading = bytes
    readAt = 0
    while (readAt < bytes.length) {
      id += takeDistance()
      ids[size] = id
      counts[size++] = takeCount()
    }
    this.size = size
    return this
  }

  #grow(capacity: number): void {
    const { ids, counts } = this
    this.ids = new Float64Array(capacity)
    this.counts = new Uint32Array(capacity)
    this.ids.set(ids)
    this.counts.set(counts)
  }
}

/** The documents that have a term, by ascending number, how often, and their lengths. */
export class Postings {
  size = 0
  seqs: Float64Array
  counts: Uint32Array
  lengths: Uint32Array

  constructor(capacity: number) {
    this.seqs = new Float64Array(capacity)
    this.counts = new Uint32Array(capacity)
    this.lengths = new Uint32Array(capacity)
  }

  get last(): number {
    return this.seqs[this.size - 1]!
  }

  push(seq: number, count: number, length: number): void {
    if (this.size === this.seqs.length) this.#grow(this.size * 2 + 4)
    this.seqs[this.size] = seq
    this.counts[this.size] = count
    this.lengths[this.size++] = length
  }

  /** The bytes of the documents from one place up to another; the first starts the chunk. */
  encode(from = 0, to = this.size): Uint8Array {
    let at = 0
    let before = this.seqs[from]!
    for (let i = from; i < to; i++) {
      at = putCounted(at, this.seqs[i]! - before, this.counts[i]!)
      at = putVarint(at, this.lengths[i]!)
      before = this.seqs[i]!
    }
    return scratch.slice(0, at)
  }

  /** Takes what a chunk says in place of what it holds. */
  decode({ first, entries }: Chunk): this {
    // Each document takes at least two bytes.
    if (entries.length > this.seqs.length * 2) this.#grow(entries.length)
    const { seqs, counts, lengths } = this
    let size = 0
    let seq = first
    reading = entries
    readAt = 0
    while (readAt < entries.length) {
      seq += takeDistance()
      seqs[size] = seq
      counts[size] = takeCount()
      lengths[size++] = takeVarint()
    }
    this.size = size
    return this
  }

  #grow(capacity: number): void {
    const { seqs, counts, lengths } = this
    this.seqs = new Float64Array(capacity)
    this.counts = new Uint32Array(capacity)
    this.lengths = new Uint32Array(capacity)
    this.seqs.set(seqs)
    this.counts.set(counts)
    this.lengths.set(lengths)
  }
}

/** A part of a term's postings: from a document's number up to where the next one starts. */
export interface Chunk {
  readonly first: number
  readonly entries: Uint8Array
}

/**
 * Bytes of a chunk at most. SQLite keeps rows of up to 1 002 bytes in the tree itself and
 * sends longer ones to pages of their own, which would double the pages that a list takes.
 */
export const chunkSizeMax = 960

/**
 * Cuts postings into chunks. At the end of a list, where new documents come, they are
 * filled; elsewhere they are of one size, so that each has room for what comes between.
 */
export function chunksOf(postings: Postings, isEnd: boolean): Chunk[] {
  const { seqs, size } = postings
  if (size === 0) return []
  const whole = postings.encode()
  if (whole.length <= chunkSizeMax) return [{ first: seqs[0]!, entries: whole }]
  const pieces = Math.ceil(whole.length / (chunkSizeMax - 2 * entrySizeMax))
  const target = isEnd ? chunkSizeMax : whole.length / pieces + entrySizeMax
  const chunks: Chunk[] = []
  for (let from = 0; from < size;) {
    const to = endOfChunk(postings, from, target)
    chunks.push({ first: seqs[from]!, entries: postings.encode(from, to) })
    from = to
  }
  return chunks
}

function endOfChunk(postings: Postings, from: number, target: number): number {
  const { seqs, counts, lengths, size } = postings
  let bytes = 0
  for (let i = from; i < size; i++) {
    const distance = i === from ? 0 : seqs[i]! - seqs[i - 1]!
    bytes += varintSize(distance * 2) + varintSize(lengths[i]!)
    if (counts[i] !== 1) bytes += varintSize(counts[i]!)
    if (bytes > target) return i
  }
  return size
}

/** Eight bytes hold twice any number that a store gets to; five a count, five a length. */
const entrySizeMax = 18

let scratch = new Uint8Array(4096)

function putCounted(start: number, distance: number, count: number): number {
  if (start + entrySizeMax > scratch.length) {
    const larger = new Uint8Array(scratch.length * 2)
    larger.set(scratch)
    scratch = larger
  }
  const at = putVarint(start, distance * 2 + (count === 1 ? 1 : 0))
  return count === 1 ? at : putVarint(at, count)
}

function putVarint(start: number, value: number): number {
  let at = start
  let rest = value
  while (rest >= 0x80) {
    scratch[at++] = (rest % 0x80) | 0x80
    rest = Math.floor(rest / 0x80)
  }
  scratch[at++] = rest
  return at
}

function varintSize(value: number): number {
  let size = 1
  for (let rest = value; rest >= 0x80; rest = Math.floor(rest / 0x80)) size++
  return size
}

/** What is being decoded, and how far: plain variables, because every list passes here. */
let reading: Uint8Array = scratch
let readAt = 0
let isOnce = 0

function takeDistance(): number {
  const byte = reading[readAt]!
  isOnce = byte & 1
  if (byte >= 0x80) return (takeVarint() - isOnce) / 2
  readAt++
  return byte >> 1
}

function takeCount(): number {
  return isOnce === 1 ? 1 : takeVarint()
}

function takeVarint(): number {
  let byte = reading[readAt++]!
  if (byte < 0x80) return byte
  let value = byte & 0x7f
  for (let unit = 0x80; byte >= 0x80; unit *= 0x80) {
    byte = reading[readAt++]!
    value += (byte & 0x7f) * unit
  }
  return value
}
