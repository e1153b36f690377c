/**
 * Expected search results, computed by brute force. Documents are plain objects as requests contain
 * them, with $vector and $lexical among the fields.
 */
import {
  similarity,
  similarityTo,
  type Metric,
} from '../../src/search/vector/similarity.ts'
import type { LexicalOperator } from '../../src/language/sorts/sort.ts'
import { analyzerFor } from '../../src/search/lexical/analyzer.ts'
import { termScore, termWeight } from '../../src/search/lexical/bm25.ts'

export interface SearchedDocument {
  readonly _id: string | number
  readonly $vector?: WireVector | null
  readonly $lexical?: string | null
}

export type WireVector = readonly number[] | { readonly $binary: string }

export interface Scored<Document> {
  readonly document: Document
  readonly score: number
}

/** Documents with a vector, the most similar first. */
export function bySimilarity<Document extends SearchedDocument>(
  documents: Iterable<Document>,
  metric: Metric,
  query: readonly number[],
): Scored<Document>[] {
  const scoreOf = similarityTo(metric, Float32Array.from(query))
  const found: Scored<Document>[] = []
  for (const document of documents)
    if (document.$vector)
      found.push({ document, score: scoreOf(numbersOf(document.$vector)) })
  return found.sort(bestFirst)
}

/** Documents in the order of maximal marginal relevance; `nearest` has the most similar first. */
export function byDiversity<Document extends SearchedDocument>(
  nearest: readonly Scored<Document>[],
  {
    metric,
    diversity,
    count,
  }: { readonly metric: Metric; readonly diversity: number; readonly count: number },
): Scored<Document>[] {
  const vectors = new Map(nearest.map((one) => [one, numbersOf(one.document.$vector!)]))
  const left = [...nearest]
  const chosen: Scored<Document>[] = []
  while (chosen.length < count && left.length > 0) {
    const values = left.map((one) => {
      const toChosen = chosen.map((other) =>
        similarity(metric, vectors.get(one)!, vectors.get(other)!),
      )
      const most = toChosen.length === 0 ? 0 : Math.max(...toChosen)
      return (1 - diversity) * one.score - diversity * most
    })
    chosen.push(...left.splice(values.indexOf(Math.max(...values)), 1))
  }
  return chosen
}

/**
 * Documents with every term of a text, or with any term, by descending BM25 score. With the
 * operator `any`, documents with every term come first, so their score is increased by 1 000. Uses
 * the standard analyzer.
 */
export function byTerms<Document extends SearchedDocument>(
  documents: Iterable<Document>,
  text: string,
  operator: LexicalOperator = 'any',
): Scored<Document>[] {
  const counted = [...documents]
    .filter(({ $lexical }) => $lexical)
    .map((document) => ({ document, own: termsOf(document.$lexical!) }))
  const tokens = counted.reduce((sum, { own }) => sum + own.length, 0)
  const corpus = { documents: counted.length, tokens }
  const weights = [...termsOf(text).counts.keys()].map((term) => {
    const having = counted.filter(({ own }) => own.counts.has(term))
    return { term, weight: termWeight(corpus, having.length) }
  })
  return counted
    .filter(({ document }) => (operator === 'all' ? hasTerms : hasAnyTerm)(document, text))
    .map(({ document, own }) => {
      let score = operator === 'any' && hasTerms(document, text) ? 1000 : 0
      for (const { term, weight } of weights)
        score += termScore(weight, own.counts.get(term) ?? 0, own.length, corpus)
      return { document, score }
    })
    .sort(bestFirst)
}

/** Whether the text of a document has every term of `text`. */
export function hasTerms({ $lexical }: SearchedDocument, text: string): boolean {
  const { counts } = termsOf($lexical ?? '')
  return [...termsOf(text).counts.keys()].every((term) => counts.has(term))
}

/** Whether the text of a document has any term of `text`. */
export function hasAnyTerm({ $lexical }: SearchedDocument, text: string): boolean {
  const { counts } = termsOf($lexical ?? '')
  return [...termsOf(text).counts.keys()].some((term) => counts.has(term))
}

interface CountedTerms {
  readonly counts: ReadonlyMap<string, number>
  readonly length: number
}

/** Caches analyzed texts, because the same texts occur repeatedly. */
const known = new Map<string, CountedTerms>()

function termsOf(text: string): CountedTerms {
  let found = known.get(text)
  if (found === undefined) {
    const counts = new Map<string, number>()
    const terms = analyzerFor('standard').terms(text)
    for (const term of terms) counts.set(term, (counts.get(term) ?? 0) + 1)
    known.set(text, (found = { counts, length: terms.length }))
  }
  return found
}

export function numbersOf(vector: WireVector): Float32Array {
  if (!('$binary' in vector)) return Float32Array.from(vector)
  const bytes = Buffer.from(vector.$binary, 'base64')
  return Float32Array.from({ length: bytes.length / 4 }, (_, i) => bytes.readFloatBE(i * 4))
}

/** A vector as Base64 of its numbers. */
export function binaryOf(numbers: readonly number[]): { readonly $binary: string } {
  const bytes = Buffer.alloc(numbers.length * 4)
  for (const [i, number] of numbers.entries()) bytes.writeFloatBE(number, i * 4)
  return { $binary: bytes.toString('base64') }
}

function bestFirst(a: Scored<SearchedDocument>, b: Scored<SearchedDocument>): number {
  return b.score - a.score || (a.document._id < b.document._id ? -1 : 1)
}
