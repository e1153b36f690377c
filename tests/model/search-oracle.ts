/**
 * What searches should find among some documents, by looking at each of them: plain
 * documents as they are on the wire, with $vector and $lexical among their fields.
 */
import { similarityTo, type Metric } from '../../src/search/vector/similarity.ts'
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

/** All that have a vector, the most similar first. */
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

/** All that have every term of a text, the most relevant first, by the standard analyzer. */
export function byTerms<Document extends SearchedDocument>(
  documents: Iterable<Document>,
  text: string,
): Scored<Document>[] {
  const terms = new Set(termsOf(text))
  const counted = [...documents]
    .filter(({ $lexical }) => $lexical)
    .map((document) => ({ document, terms: termsOf(document.$lexical!) }))
  const tokens = counted.reduce((sum, { terms: { length } }) => sum + length, 0)
  const corpus = { documents: counted.length, tokens }
  const weights = new Map(
    [...terms].map((term) => {
      const having = counted.filter((one) => one.terms.includes(term))
      return [term, termWeight(corpus, having.length)]
    }),
  )
  return counted
    .filter((one) => [...terms].every((term) => one.terms.includes(term)))
    .map(({ document, terms: { length }, terms: own }) => {
      let score = 0
      for (const [term, weight] of weights) {
        const count = own.filter((other) => other === term).length
        score += termScore(weight, count, length, corpus)
      }
      return { document, score }
    })
    .sort(bestFirst)
}

/** Whether a text has every term of another. */
export function hasTerms({ $lexical }: SearchedDocument, text: string): boolean {
  const terms = new Set(termsOf($lexical ?? ''))
  return termsOf(text).every((term) => terms.has(term))
}

function termsOf(text: string): readonly string[] {
  return analyzerFor('standard').terms(text)
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
