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
  readonly places = new Uint32Array(blockSize)
  readonly counts = new Uint32Array(blockSize)
  size = 0
  #lasts: Uint32Array
  #block = -1
  /** The last place of the block. */
  #last = -1
  /** Where the merge with a list of documents stands within the block. */
  #in = 0
  /** The best score of each block; 0 where it is not known yet. */
  #bounds: Float64Array | undefined
  #boundAt = 0

  constructor(segment: TextSegment, list: List) {
    this.segment = segment
    this.list = list
    this.blocks = Math.ceil(list.size / blockSize)
    this.#lasts = list.skips?.lasts ?? none
  }

  get last(): number {
    return this.#last
  }

  load(block: number): void {
    if (block === this.#block) return
    const { list, places, counts } = this
    this.segment.decodeBlock(list, block, places, counts)
    this.size = Math.min(blockSize, list.size - block * blockSize)
    this.#block = block
    this.#last = places[this.size - 1]!
    this.#in = 0
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
    const { places: wanted, slots, size } = found
    const { places, counts } = this
    let count = 0
    let at = 0
    while (at < size && this.next(wanted[at]!)) {
      const last = this.#last
      let own = this.#in
      for (; at < size; at++) {
        const place = wanted[at]!
        if (place > last) break
        while (places[own]! < place) own++
        if (places[own] !== place) continue
        kept[count] = counts[own]!
        wanted[count] = place
        slots[count++] = slots[at]!
      }
      this.#in = own
    }
    found.size = count
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
