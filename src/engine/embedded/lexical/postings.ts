/**
 * The posting list of a term in a segment: the places of the documents that have the term, and the
 * count of the term in each document. It consists of blocks of 128 (blocks.ts) and a bit stream for
 * the postings after the last whole block.
 *
 * For each block, its last place and its best pairs are stored. A pair is a count and a text
 * length; it is one of the best pairs unless another document has at least that count in a text of
 * at most that length. So the highest score of a block is known without unpacking it, whatever the
 * weights are.
 */
import { BitReader, BitWriter } from './bits.ts'
import { blockSize, packBlock, unpackBlock, widthOf, wordsOf } from './blocks.ts'
import { VarintReader, VarintWriter } from './varints.ts'

/** Documents by ascending place, with the counts of the term. */
export class Postings {
  size = 0
  places: Uint32Array
  counts: Uint32Array

  constructor(capacity: number) {
    this.places = new Uint32Array(capacity)
    this.counts = new Uint32Array(capacity)
  }

  push(place: number, count: number): void {
    if (this.size === this.places.length) this.reserve(this.size * 2 + 16)
    this.places[this.size] = place
    this.counts[this.size++] = count
  }

  reserve(capacity: number): void {
    if (capacity <= this.places.length) return
    const { places, counts } = this
    this.places = new Uint32Array(capacity)
    this.counts = new Uint32Array(capacity)
    this.places.set(places)
    this.counts.set(counts)
  }
}

/** Stored form of a posting list. */
export interface EncodedPostings {
  /** Packed whole blocks. */
  readonly words: Uint32Array
  /** Last places, bit widths and best pairs of the blocks. */
  readonly skips: Uint8Array
  /** Postings after the whole blocks. */
  readonly tail: Uint8Array
}

/** Writes postings that do not fill a block, preceded by their size in bytes. */
export function putShortList(postings: Postings, into: VarintWriter): void {
  encodeTail(postings, 0, -1)
  bitWriter.finishInto(into)
}

/** Encodes a posting list. `lengths` has the length of each document's text, by place. */
export function encodePostings(postings: Postings, lengths: Uint32Array): EncodedPostings {
  const { places, counts, size } = postings
  const whole = Math.floor(size / blockSize)
  let words: Uint32Array = scratch
  let wordsSize = 0
  let before = -1
  for (let block = 0; block < whole; block++) {
    const from = block * blockSize
    const last = places[from + blockSize - 1]!
    skipWriter.put(last - before)
    for (let i = 0; i < blockSize; i++) {
      const place = places[from + i]!
      packedPlaces[i] = place - before - 1
      packedCounts[i] = counts[from + i]! - 1
      before = place
    }
    const placeWidth = widthOf(packedPlaces, 0, blockSize)
    const countWidth = widthOf(packedCounts, 0, blockSize)
    skipWriter.put(placeWidth)
    skipWriter.put(countWidth)
    putBest(postings, from, lengths)
    words = clearedWords(wordsSize, wordsOf(placeWidth + countWidth))
    packBlock(packedPlaces, 0, placeWidth, words, wordsSize)
    wordsSize += wordsOf(placeWidth)
    packBlock(packedCounts, 0, countWidth, words, wordsSize)
    wordsSize += wordsOf(countWidth)
  }
  encodeTail(postings, whole * blockSize, before)
  const tail = bitWriter.finish()
  return { words: words.slice(0, wordsSize), skips: skipWriter.finish(), tail }
}

/**
 * Writes Rice codes of the distances between places, and exponential Golomb codes of the counts.
 */
function encodeTail(postings: Postings, from: number, start: number): void {
  const { places, counts, size } = postings
  if (from === size) return
  const mean = (places[size - 1]! - start) / (size - from) - 1
  const order = mean < 1 ? 0 : 31 - Math.clz32(mean)
  const unit = 2 ** order
  bitWriter.put(order, 5)
  let before = start
  for (let i = from; i < size; i++) {
    const distance = places[i]! - before - 1
    bitWriter.putUnary(distance >>> order)
    bitWriter.put(distance & (unit - 1), order)
    bitWriter.putGolomb(counts[i]! - 1, 0)
    before = places[i]!
  }
}

/**
 * Decodes the postings after the whole blocks; `before` is the last place in these blocks, or -1.
 */
export function decodeTail(
  tail: Uint8Array,
  size: number,
  before: number,
  places: Uint32Array,
  counts: Uint32Array,
): void {
  if (size === 0) return
  bitReader.read(tail)
  const order = bitReader.take(5)
  const unit = 2 ** order
  let place = before
  for (let i = 0; i < size; i++) {
    place += bitReader.takeUnary() * unit + bitReader.take(order) + 1
    places[i] = place
    counts[i] = bitReader.takeGolomb(0) + 1
  }
}

/** Decodes the places of a whole block; `before` is the last place before the block, or -1. */
export function decodePlaces(
  words: Uint32Array,
  at: number,
  widths: number,
  before: number,
  places: Uint32Array,
): void {
  unpackBlock(words, at, widths >>> 8, 1, places)
  let place = before
  for (let i = 0; i < blockSize; i++) {
    place += places[i]!
    places[i] = place
  }
}

/** Decodes the counts of a whole block. */
export function decodeCounts(
  words: Uint32Array,
  at: number,
  widths: number,
  counts: Uint32Array,
): void {
  unpackBlock(words, at + wordsOf(widths >>> 8), widths & 0xff, 1, counts)
}

/** Skip data of the whole blocks of a list. */
export class Skips {
  /** Last place of each block. */
  readonly lasts: Uint32Array
  /** Index of the first word of each block; the last element is the end of the last block. */
  readonly starts: Uint32Array
  /** Bits per place times 256, plus bits per count. */
  readonly widths: Uint16Array
  /** Best pairs of a count and a length, and the index at which the pairs of each block end. */
  readonly best: Uint32Array
  readonly bestEnds: Uint32Array

  constructor(bytes: Uint8Array, blocks: number) {
    const reader = new VarintReader(bytes)
    this.lasts = new Uint32Array(blocks)
    this.starts = new Uint32Array(blocks + 1)
    this.widths = new Uint16Array(blocks)
    this.bestEnds = new Uint32Array(blocks)
    const best: number[] = []
    let last = -1
    let start = 0
    for (let block = 0; block < blocks; block++) {
      this.lasts[block] = last += reader.take()
      const placeWidth = reader.take()
      const countWidth = reader.take()
      this.widths[block] = placeWidth * 256 + countWidth
      this.starts[block] = start
      start += wordsOf(placeWidth + countWidth)
      let count = 0
      let length = 0
      for (let pairs = reader.take(); pairs > 0; pairs--)
        best.push((count += reader.take()), (length += reader.take()))
      this.bestEnds[block] = best.length
    }
    this.starts[blocks] = start
    this.best = Uint32Array.from(best)
  }

  /** Approximate size in memory, in bytes. */
  get size(): number {
    return 14 * this.lasts.length + 4 * this.best.length + 200
  }
}

/** Writes the best pairs of a block, by ascending count and thus by ascending length. */
function putBest({ places, counts }: Postings, from: number, lengths: Uint32Array): void {
  shortest.fill(noLength)
  let highest = 0
  for (let i = from; i < from + blockSize; i++) {
    const count = counts[i]!
    if (count > highest) highest = count
    // Texts in which a term occurs `countsApart` times or more share one pair of count and length.
    // That pair has the highest count, so it can only overestimate a score.
    const place = count < countsApart ? count : countsApart
    const length = lengths[places[i]!]!
    if (length < shortest[place]!) shortest[place] = length
  }
  let pairs = 0
  let limit = noLength
  for (let count = countsApart; count > 0; count--) {
    const length = shortest[count]!
    if (length >= limit) continue
    limit = length
    pairCounts[pairs] = count === countsApart ? Math.max(highest, countsApart) : count
    pairLengths[pairs++] = length
  }
  skipWriter.put(pairs)
  let countBefore = 0
  let lengthBefore = 0
  for (let i = pairs - 1; i >= 0; i--) {
    skipWriter.put(pairCounts[i]! - countBefore)
    skipWriter.put(pairLengths[i]! - lengthBefore)
    countBefore = pairCounts[i]!
    lengthBefore = pairLengths[i]!
  }
}

/** Term counts that are at least this number share one pair of count and length. */
const countsApart = 64
const noLength = 2 ** 32 - 1

const bitWriter = new BitWriter()
const bitReader = new BitReader()
const skipWriter = new VarintWriter()
const packedPlaces = new Uint32Array(blockSize)
const packedCounts = new Uint32Array(blockSize)
const shortest = new Uint32Array(countsApart + 1)
const pairCounts = new Float64Array(countsApart + 1)
const pairLengths = new Float64Array(countsApart + 1)

let scratch = new Uint32Array(4096)

/** The scratch buffer, with `size` words from index `from` on set to 0. */
function clearedWords(from: number, size: number): Uint32Array {
  if (from + size > scratch.length) {
    const larger = new Uint32Array(scratch.length * 2)
    larger.set(scratch)
    scratch = larger
  }
  return scratch.fill(0, from, from + size)
}
