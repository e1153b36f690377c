/**
 * Scores a passage for a query by late interaction: both are encoded separately, and only their
 * token vectors are compared. Each query token is matched with the most similar passage token
 * (Khattab and Zaharia, ColBERT, 2020). Rare tokens have a greater weight. The model was trained
 * for whole texts, so the cosine of the two text vectors counts as much as the token scores.
 *
 *   score = (weighted mean over query tokens of max cosine + cosine of the texts) / 2
 *
 * A score depends on the query and the passage only. Greater is more relevant: unrelated texts
 * score near 0.1, a passage that contains the query verbatim near 1.
 */
import type { EncodedText } from './token-model.ts'
import { dot, scaleToUnit, wholeVector } from './whole-vector.ts'

/** An encoded text, ready for comparison. */
export interface ComparedText {
  readonly ids: readonly number[]
  /** Token vectors, concatenated, each of length 1. */
  readonly tokens: Float32Array
  /** Vector of the whole text, of length 1. */
  readonly whole: Float32Array
}

export function score(query: ComparedText, passage: ComparedText): number {
  const dimension = query.whole.length
  const together = dot(query.whole, 0, passage.whole, 0, dimension)
  let sum = 0
  let weights = 0
  // The first and the last token are markers without content.
  for (let i = 1; i < query.ids.length - 1; i++) {
    const weight = tokenWeight(query.ids[i]!)
    sum += weight * nearest(query.tokens, i * dimension, passage.tokens, dimension)
    weights += weight
  }
  return weights === 0 ? together : (sum / weights + together) / 2
}

/**
 * Prepares an encoded text for comparisons. Copies the input, so the caller may reuse its buffers.
 */
export function toCompare(text: EncodedText): ComparedText {
  const { ids, numbers, dimension } = text
  const tokens = Float32Array.from(numbers)
  for (let start = 0; start < tokens.length; start += dimension)
    scaleToUnit(tokens.subarray(start, start + dimension))
  return { ids, tokens, whole: wholeVector(text, 'mean') }
}

/**
 * Weight of a token by its id. The vocabulary is sorted by frequency, and by Zipf's law the word of
 * rank r is about 1/r as frequent as the most frequent word. So log r approximates the inverse
 * document frequency. Its square gave the best results on the Cranfield collection.
 */
function tokenWeight(id: number): number {
  const rank = Math.max(1, id - idBeforeFirstWord)
  return Math.log(1 + rank) ** 2
}

/**
 * Id that precedes the id of the first word, "the". Lower ids are markers and single characters.
 */
const idBeforeFirstWord = 1_995

function nearest(
  query: Float32Array,
  at: number,
  tokens: Float32Array,
  dimension: number,
): number {
  let best = -1
  for (let start = 0; start < tokens.length; start += dimension)
    best = Math.max(best, dot(query, at, tokens, start, dimension))
  return best
}
