/** What a term adds to the BM25 scores of the documents that have it. */
import { termScore, termWeight, type Corpus } from '../../../search/lexical/bm25.ts'

/**
 * Few combinations of count and length make up nearly all texts, so what was worked out for
 * them is remembered.
 */
export class TermScores {
  /** No document gets as much: the formula multiplies it by less than 1. */
  readonly weight: number
  /** Scores by count and length, as `knownPlace` puts them; 0 where none is known yet. */
  readonly known = spare.pop() ?? new Float64Array(countsKnown * lengthsKnown)
  /** The places of those that are known. */
  readonly #places: number[] = []
  readonly #corpus: Corpus

  /** Of a term that so many documents have. */
  constructor(corpus: Corpus, documents: number) {
    this.weight = termWeight(corpus, documents)
    this.#corpus = corpus
  }

  /** Lets others have what it remembers scores in. It is not to be used after that. */
  release(): void {
    if (spare.length >= spareMax) return
    for (const place of this.#places) this.known[place] = 0
    spare.push(this.known)
  }

  of(count: number, length: number): number {
    const place = knownPlace(count, length)
    // No score is 0, and no term stands in a text 0 times.
    const known = this.known[place]!
    if (known !== 0) return known
    const score = termScore(this.weight, count, length, this.#corpus)
    if (place > 0) {
      this.known[place] = score
      this.#places.push(place)
    }
    return score
  }
}

/** Where a score is remembered; 0, where there never is one, if it is not. */
export function knownPlace(count: number, length: number): number {
  return count < countsKnown && length < lengthsKnown ? count * lengthsKnown + length : 0
}

const countsKnown = 16
const lengthsKnown = 512

/** Tables of scores that nobody uses, all 0: each has 64 KiB, and a search needs one for each term. */
const spare: Float64Array[] = []
const spareMax = 16

/** What sums may be off by, as a part of them, when added in another order. */
const rounding = 1e-9

/** Sums below this are not enough, with what others can add at most. */
export function lowestSum(floor: number, added: number): number {
  return floor * (1 - rounding) - added
}

/** Whether what can be reached is not enough. */
export function isTooLow(reachable: number, floor: number): boolean {
  return reachable * (1 + rounding) < floor
}
