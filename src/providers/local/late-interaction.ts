/**
 * How well a passage fits a query, by late interaction: both are encoded by themselves, and
 * only their token vectors meet. Each token of the query looks for the token of the passage
 * that is nearest to it (Khattab and Zaharia, ColBERT, 2020); rare tokens count for more.
 * The model was trained for whole texts, so the cosine of those has an equal say.
 *
 *   score = (weighted mean over query tokens of max cosine + cosine of the texts) / 2
 *
 * A score depends on the query and the passage only, whatever else is scored. Greater fits
 * better; unrelated texts are near 0.1, a passage that says the query word for word near 1.
 */
import type { EncodedText } from './token-model.ts'
import { dot, scaleToUnit, wholeVector } from './whole-vector.ts'

/** A text ready to be compared. */
export interface ComparedText {
  readonly ids: readonly number[]
  /** The vectors of its tokens, one after the other, each of length 1. */
  readonly tokens: Float32Array
  /** The vector of the whole text, of length 1. */
  readonly whole: Float32Array
}

export function score(query: ComparedText, passage: ComparedText): number {
  const dimension = query.whole.length
  const together = dot(query.whole, 0, passage.whole, 0, dimension)
  let sum = 0
  let weights = 0
  // The first and the last token are marks and say nothing of their own.
  for (let i = 1; i < query.ids.length - 1; i++) {
    const weight = tokenWeight(query.ids[i]!)
    sum += weight * nearest(query.tokens, i * dimension, passage.tokens, dimension)
    weights += weight
  }
  return weights === 0 ? together : (sum / weights + together) / 2
}

/** Keeps nothing of what it is given. */
export function toCompare(text: EncodedText): ComparedText {
  const { ids, numbers, dimension } = text
  const tokens = Float32Array.from(numbers)
  for (let start = 0; start < tokens.length; start += dimension)
    scaleToUnit(tokens.subarray(start, start + dimension))
  return { ids, tokens, whole: wholeVector(text, 'mean') }
}

/**
 * How much a token tells, from its number alone: the vocabulary lists its words by how often
 * they occur, and by Zipf's law the word of rank r occurs about 1/r as often as the first,
 * so log r stands in for its inverse document frequency. Squared, as tried on Cranfield.
 */
function tokenWeight(id: number): number {
  const rank = Math.max(1, id - idBeforeFirstWord)
  return Math.log(1 + rank) ** 2
}

/** Before it come marks and single characters; "the" is the first word. */
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
