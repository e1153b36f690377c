/**
 * Chooses the limits of successive vector searches for documents or rows, until enough results
 * match a filter.
 */
import { fixedLimits } from '../../../limits.ts'

const { clusterNearestMax } = fixedLimits

/**
 * Minimum number of results requested beyond the limit: scores may be tied, and the cluster's
 * scores are approximate.
 */
const besideMin = 20

/** Limits to request, one after the other, until enough results match. */
export function* countsFor(limit: number): Generator<number> {
  const first = Math.max(2 * limit, limit + besideMin)
  if (first < clusterNearestMax) yield first
  yield clusterNearestMax
}

/** Results of a search with limit `asked`. */
export interface NearestFound {
  readonly asked: number
  readonly count: number
  /** Scores of the results that match. */
  readonly scores: readonly number[]
  /** The lowest score of all results. */
  readonly farthest: number
}

/**
 * Whether the top `limit` matches with a score of at least `scoreMin` are known. If the last match
 * ties with the farthest result, the search may have cut off records with the same score, which
 * could precede this match. At the maximum limit, such a tie is accepted.
 */
export function isEnough(
  found: NearestFound,
  { limit, scoreMin }: { readonly limit: number; readonly scoreMin: number },
): boolean {
  const { asked, count, scores, farthest } = found
  if (count < asked || farthest < scoreMin) return true
  if (scores.length < limit) return false
  const last = scores.toSorted((a, b) => b - a)[limit - 1]!
  return last > farthest || asked === clusterNearestMax
}
