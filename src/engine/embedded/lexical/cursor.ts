/** Walks through the postings of a term in a segment, forwards only, block by block. */
import { blockSize } from './blocks.ts'
import type { TermScores } from './scores.ts'
import type { List, TextSegment } from './segment.ts'

export class PostingCursor {
  readonly segment: TextSegment
  readonly list: List
  /** Blocks of the list, the rest after the whole ones among them. */
  readonly blocks: number
  /** The block that was loaded last. */
  readonly places: Uint32Array
  size = 0
  readonly #buffers: BlockBuffers
  #areCountsLoaded = false
  #lasts: Uint32Array
  #block = -1
  /** The last place of the block. */
  #last = -1
  /** Where the merge with a list of documents stands within the block. */
  #in = 0
  /** Whether it is noted where in the block each place stands. */
  #isNoted = false
  /** The best score of each block; 0 where it is not known yet. */
  #bounds: Float64Array | undefined
  #boundAt = 0

  constructor(segment: TextSegment, list: List) {
    this.segment = segment
    this.list = list
    this.blocks = Math.ceil(list.size / blockSize)
    this.#lasts = list.skips?.lasts ?? none
    this.#buffers = spare.pop() ?? newBuffers()
    this.places = this.#buffers.places
  }

  /** Lets others have its arrays. It is not to be used after that. */
  release(): void {
    if (spare.length < spareMax) spare.push(this.#buffers)
  }

  get last(): number {
    return this.#last
  }

  /** How often each document of the block has the term. Many blocks are never asked. */
  get counts(): Uint32Array {
    const { counts } = this.#buffers
    if (!this.#areCountsLoaded) {
      this.segment.decodeCounts(this.list, this.list.skips!, this.#block, counts)
      this.#areCountsLoaded = true
    }
    return counts
  }

  load(block: number): void {
    if (block === this.#block) return
    const { list, places, segment } = this
    if (block < this.#lasts.length) {
      segment.decodePlaces(list, list.skips!, block, places)
      this.#areCountsLoaded = false
      this.size = blockSize
    } else {
      segment.decodeBlock(list, block, places, this.#buffers.counts)
      this.#areCountsLoaded = true
      this.size = list.size - block * blockSize
      places.fill(placeMax, this.size)
    }
    this.#block = block
    this.#last = places[this.size - 1]!
    this.#in = 0
    this.#isNoted = false
  }

  /** The last place of a block, without loading it; that of the rest is not known. */
  lastOf(block: number): number {
    return block < this.#lasts.length ? this.#lasts[block]! : placeMax
  }

  /**
   * Loads the first block that has a document from this place on; false when none has. Places
   * must not fall from call to call.
   */
  next(from: number): boolean {
    if (from <= this.#last) return true
    const block = firstReaching(this.#lasts, from, Math.max(0, this.#block))
    if (block >= this.blocks) return false
    this.load(block)
    return from <= this.#last
  }

  /** Keeps those documents that have the term, and notes how often. */
  keep(found: FoundPlaces, kept: Uint32Array): void {
    const { places: wanted, size } = found
    let count = 0
    let at = 0
    while (at < size && this.next(wanted[at]!)) {
      let end = at
      while (end < size && wanted[end]! <= this.#last) end++
      const before = count
      count =
        end - at >= fewPlaces && this.#last - this.places[0]! < notedSpan
          ? this.#keepNoted(found, at, end, count, kept)
          : this.#keepMerged(found, at, end, count, kept)
      if (count > before) {
        const { counts } = this
        for (let i = before; i < count; i++) kept[i] = counts[kept[i]!]!
      }
      at = end
    }
    found.size = count
  }

  /**
   * Keeps those of some documents that are in the block, and notes where they stand in it. No
   * step depends on whether the one before has found something, which nobody can guess.
   */
  #keepNoted(
    { places: wanted, slots }: FoundPlaces,
    from: number,
    to: number,
    before: number,
    kept: Uint32Array,
  ): number {
    const { places, size } = this
    const { noted } = this.#buffers
    if (!this.#isNoted) {
      for (let i = 0; i < size; i++) noted[places[i]! & notedMask] = i
      this.#isNoted = true
    }
    let count = before
    for (let at = from; at < to; at++) {
      const place = wanted[at]!
      const own = noted[place & notedMask]!
      wanted[count] = place
      slots[count] = slots[at]!
      kept[count] = own
      count = (count + Number(places[own] === place)) | 0
    }
    return count
  }

  /** The same where it is less work to go through the block. */
  #keepMerged(
    { places: wanted, slots }: FoundPlaces,
    from: number,
    to: number,
    before: number,
    kept: Uint32Array,
  ): number {
    const { places } = this
    let count = before
    let own = this.#in
    for (let at = from; at < to; at++) {
      const place = wanted[at]!
      while (places[own]! < place) own++
      if (places[own] !== place) continue
      kept[count] = own
      wanted[count] = place
      slots[count++] = slots[at]!
    }
    this.#in = own
    return count
  }

  /** A score that no document of a block exceeds. */
  bound(block: number, scores: TermScores): number {
    const { skips } = this.list
    if (skips === undefined || block >= skips.lasts.length) return scores.weight
    const bounds = (this.#bounds ??= new Float64Array(skips.lasts.length))
    if (bounds[block] !== 0) return bounds[block]!
    const { best, bestEnds } = skips
    let bound = 0
    for (let i = block === 0 ? 0 : bestEnds[block - 1]!; i < bestEnds[block]!; i += 2)
      bound = Math.max(bound, scores.of(best[i]!, best[i + 1]!))
    return (bounds[block] = bound)
  }

  /** The same of all documents between two places. Neither may fall from call to call. */
  boundBetween(from: number, to: number, scores: TermScores): number {
    let block = firstReaching(this.#lasts, from, this.#boundAt)
    this.#boundAt = block
    let bound = 0
    for (; block < this.blocks; block++) {
      bound = Math.max(bound, this.bound(block, scores))
      if (this.lastOf(block) >= to) break
    }
    return bound
  }
}

/** Documents that have been found so far, by ascending place. */
export interface FoundPlaces {
  readonly places: Uint32Array
  /** Where it is noted what is known of each. */
  readonly slots: Uint32Array
  size: number
}

export function emptyPlaces(size: number): FoundPlaces {
  return { places: new Uint32Array(size), slots: new Uint32Array(size), size: 0 }
}

/** Where the postings of a block are put. */
interface BlockBuffers {
  readonly places: Uint32Array
  readonly counts: Uint32Array
  /** Where a place stands in the block, by its last bits; anything where it does not. */
  readonly noted: Uint8Array
}

function newBuffers(): BlockBuffers {
  return {
    places: new Uint32Array(blockSize),
    counts: new Uint32Array(blockSize),
    noted: new Uint8Array(notedSpan),
  }
}

/** Places that are told apart by their last bits. */
const notedSpan = 4096
const notedMask = notedSpan - 1
/** So few documents are looked for by going through a block. */
const fewPlaces = 8

/** Buffers that nobody uses: a search needs some for each term. */
const spare: BlockBuffers[] = []
const spareMax = 64

const placeMax = 2 ** 32 - 1
const none = new Uint32Array(0)

/** The first block from one on whose last place is not before this: near ones are tried first. */
function firstReaching(lasts: Uint32Array, from: number, start: number): number {
  let step = 1
  let low = start
  let high = start
  while (high < lasts.length && lasts[high]! < from) {
    low = high + 1
    high += step
    step *= 2
  }
  if (high > lasts.length) high = lasts.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (lasts[middle]! < from) low = middle + 1
    else high = middle
  }
  return low
}
