/** What a term adds to the BM25 scores of the documents that have it. */
import { termScore, termWeight, type Corpus } from '../../../search/lexical/bm25.ts'

/** Documents and how well they fit, in no promised order. */
export interface Scored {
  readonly seqs: Float64Array
  readonly scores: Float64Array
}

/**
 * Few combinations of count and length make up nearly all texts, so what was worked out for
 * them is remembered.
 */
export class TermScores {
  /** No document gets as much: the formula multiplies it by less than 1. */
  readonly weight: number
  readonly #corpus: Corpus
  readonly #known = new Float64Array(countsKnown * lengthsKnown)

  /** Of a term that so many documents have. */
  constructor(corpus: Corpus, documents: number) {
    this.weight = termWeight(corpus, documents)
    this.#corpus = corpus
  }

  of(count: number, length: number): number {
    const isKept = count < countsKnown && length < lengthsKnown
    const place = isKept ? count * lengthsKnown + length : 0
    // No score is 0, and no term stands in a text 0 times.
    const known = this.#known[place]!
    if (known !== 0) return known
    const score = termScore(this.weight, count, length, this.#corpus)
    if (isKept) this.#known[place] = score
    return score
  }

  /** Adds to the scores of documents that stand together from a place on. */
  addTo(
    scores: Float64Array,
    start: number,
    size: number,
    counts: Uint32Array,
    lengths: Uint32Array,
  ): void {
    for (let i = 0; i < size; i++) scores[start + i]! += this.of(counts[i]!, lengths[i]!)
  }
}

const countsKnown = 8
const lengthsKnown = 512
