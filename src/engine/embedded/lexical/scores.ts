/** Scores that a term contributes to BM25. */
import { termScore, termWeight, type Corpus } from '../../../search/lexical/bm25.ts'

/** Caches scores by term count and text length: few combinations cover nearly all texts. */
export class TermScores {
  /** Strict upper bound of the scores: the formula multiplies the weight by less than 1. */
  readonly weight: number
  /** Scores at the indexes of `knownPlace`; 0: not computed yet. */
  readonly known = spare.pop() ?? new Float64Array(countsKnown * lengthsKnown)
  /** Indexes of the computed scores. */
  readonly #places: number[] = []
  readonly #corpus: Corpus

  /** `documents`: number of documents that have the term. */
  constructor(corpus: Corpus, documents: number) {
    this.weight = termWeight(corpus, documents)
    this.#corpus = corpus
  }

  /** Returns the table to the pool. The object may not be used afterwards. */
  release(): void {
    if (spare.length >= spareMax) return
    for (const place of this.#places) this.known[place] = 0
    spare.push(this.known)
  }

  of(count: number, length: number): number {
    const place = knownPlace(count, length)
    // 0 means unknown: scores are positive, because a count is at least 1.
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

/** Index of a score in `known`; 0 when the score is not cached: no cached score has this index. */
export function knownPlace(count: number, length: number): number {
  return count < countsKnown && length < lengthsKnown ? count * lengthsKnown + length : 0
}

const countsKnown = 16
const lengthsKnown = 512

/**
 * Pool of unused tables, filled with 0. Each table takes 64 KiB, and a search needs one table per
 * term.
 */
const spare: Float64Array[] = []
const spareMax = 16

/** Maximum relative difference between sums of the same scores in different orders. */
const rounding = 1e-9

/** Minimum sum of a document that can reach `floor` if at most `added` is added. */
export function lowestSum(floor: number, added: number): number {
  return floor * (1 - rounding) - added
}

/** Whether a score of at most `reachable` is below `floor`. */
export function isTooLow(reachable: number, floor: number): boolean {
  return reachable * (1 + rounding) < floor
}
