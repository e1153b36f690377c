/**
 * BM25, as Lucene counts it: no (k1 + 1) factor, and a weight that is never negative. The
 * counts are those of the whole index, whatever a filter leaves of it.
 */
export interface Corpus {
  /** Documents that have a text. */
  readonly documents: number
  /** Tokens of all texts together. */
  readonly tokens: number
}

/** All that a score depends on besides the document. It changes with every write. */
export interface TermStatistics extends Corpus {
  /** Of each term of a query: the documents that have it. */
  readonly documentFrequencies: readonly number[]
}

/** How fast repetition stops to count, and how much long texts are held back. */
const k1 = 1.2
const b = 0.75

/** How much a term says: the fewer documents have it, the more. */
export function termWeight(corpus: Corpus, documentsWithTerm: number): number {
  const without = corpus.documents - documentsWithTerm
  return Math.log(1 + (without + 0.5) / (documentsWithTerm + 0.5))
}

/** What a term adds to the score of a document that has it `count` times. */
export function termScore(
  weight: number,
  count: number,
  documentTokens: number,
  corpus: Corpus,
): number {
  const average = corpus.tokens / corpus.documents
  return (weight * count) / (count + k1 * (1 - b + (b * documentTokens) / average))
}
