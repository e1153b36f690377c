/**
 * BM25 as in Lucene: without the factor (k1 + 1), and with an inverse document frequency that is
 * never negative. Statistics cover the whole index, independent of filters.
 */
export interface Corpus {
  /** Number of documents with a text. */
  readonly documents: number
  /** Total tokens of all texts. */
  readonly tokens: number
}

/** Statistics of an index that its scores depend on. They change with every write. */
export interface TermStatistics extends Corpus {
  /** For each query term, the number of documents that contain it. */
  readonly documentFrequencies: readonly number[]
}

/** k1: saturation of term frequency; b: normalization by length. */
const k1 = 1.2
const b = 0.75

/** Inverse document frequency of a term. */
export function termWeight(corpus: Corpus, documentsWithTerm: number): number {
  const without = corpus.documents - documentsWithTerm
  return Math.log(1 + (without + 0.5) / (documentsWithTerm + 0.5))
}

/** Score of a term for a document that contains it `count` times. */
export function termScore(
  weight: number,
  count: number,
  documentTokens: number,
  corpus: Corpus,
): number {
  const average = corpus.tokens / corpus.documents
  return (weight * count) / (count + k1 * (1 - b + (b * documentTokens) / average))
}
