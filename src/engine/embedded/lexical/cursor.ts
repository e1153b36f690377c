/** Cursor over the postings of a term in a segment; it only moves forwards, block by block. */
import { blockSize } from './blocks.ts'
import type { TermScores } from './scores.ts'
import type { List, TextSegment } from './segment.ts'

export class PostingCursor {
  readonly segment: TextSegment
  readonly list: List
  /** Number of blocks, including an incomplete last block. */
  readonly blocks: number
  /** Places of the block that was loaded last. */
  readonly places: Uint32Array
  size = 0
  readonly #buffers: BlockBuffers
  #areCountsLoaded = false
  #lasts: Uint32Array
  #block = -1
  /** Last place of the loaded block. */
  #last = -1
  /** Index in the block at which `#keepMerged` continues. */
  #in = 0
  /** Whether `noted` has the places of the loaded block. */
  #isNoted = false
  /** Highest score of each block; 0: not computed yet. */
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

  /** Returns the buffers to the pool. The cursor may not be used afterwards. */
  release(): void {
    if (spare.length < spareMax) spare.push(this.#buffers)
  }

  get last(): number {
    return this.#last
  }

  /**
   * Counts of the term in the documents of the block, decoded on demand: most blocks do not need
   * them.
   */
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

  /**
   * Last place of a block, without loading the block. The last place of an incomplete last block is
   * unknown, so `placeMax` is returned for it.
   */
  lastOf(block: number): number {
    return block < this.#lasts.length ? this.#lasts[block]! : placeMax
  }

  /**
   * Loads the first block with a place of at least `from`; false at the end of the list. `from`
   * must not decrease between calls.
   */
  next(from: number): boolean {
    if (from <= this.#last) return true
    const block = firstReaching(this.#lasts, from, Math.max(0, this.#block))
    if (block >= this.blocks) return false
    this.load(block)
    return from <= this.#last
  }

  /**
   * Keeps the candidates that have the term, and writes the counts of the term in these documents
   * to `kept`.
   */
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
   * Keeps the candidates that are in the block, and writes their index in the block to `kept`. The
   * loop is branchless, because the processor cannot predict which documents are found.
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

  /** Like `#keepNoted`, but merges the candidates with the block: cheaper for few candidates. */
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

  /** Upper bound of the scores in a block. */
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

  /** Upper bound of the scores between two places, which must not decrease between calls. */
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

/** Remaining candidates by ascending place. */
export interface FoundPlaces {
  readonly places: Uint32Array
  /** Per document, the index at which the caller keeps its data about the document. */
  readonly slots: Uint32Array
  size: number
}

export function emptyPlaces(size: number): FoundPlaces {
  return { places: new Uint32Array(size), slots: new Uint32Array(size), size: 0 }
}

/** Buffers for the postings of one block. */
interface BlockBuffers {
  readonly places: Uint32Array
  readonly counts: Uint32Array
  /** Index in the block by the low bits of the place; arbitrary for places outside of the block. */
  readonly noted: Uint8Array
}

function newBuffers(): BlockBuffers {
  return {
    places: new Uint32Array(blockSize),
    counts: new Uint32Array(blockSize),
    noted: new Uint8Array(notedSpan),
  }
}

/** Number of consecutive places that have distinct low bits. */
const notedSpan = 4096
const notedMask = notedSpan - 1
/** Minimum candidates for lookups by index; fewer candidates are merged with the block. */
const fewPlaces = 8

/** Pool of unused buffers: a search needs one set of buffers for each term. */
const spare: BlockBuffers[] = []
const spareMax = 64

const placeMax = 2 ** 32 - 1
const none = new Uint32Array(0)

/**
 * The first block, at index `start` or later, whose last place is at least `from`. The search is
 * exponential, because this block is usually near `start`.
 */
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
