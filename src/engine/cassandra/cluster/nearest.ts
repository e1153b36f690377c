/** How the cluster is asked for what is nearest to a vector, of documents or of rows. */
import { fixedLimits } from '../../../limits.ts'

const { clusterNearestMax } = fixedLimits

/** How many more are asked for at least: some are as near as others, or nearer than thought. */
const besideMin = 20

/** So many are asked for, one number after the other until enough of them match. */
export function* countsFor(limit: number): Generator<number> {
  const first = Math.max(2 * limit, limit + besideMin)
  if (first < clusterNearestMax) yield first
  yield clusterNearestMax
}

/** What came when so many were asked for. */
export interface NearestFound {
  readonly asked: number
  readonly count: number
  /** Of those that match. */
  readonly scores: readonly number[]
  /** The least score of all. */
  readonly farthest: number
}

/**
 * Whether the best of what matches, up to the limit, are known. Where the last of them is as far
 * as the farthest that came, others may be as near, and come before it in the order of ties.
 */
export function isEnough(found: NearestFound, limit: number): boolean {
  const { asked, count, scores, farthest } = found
  if (count < asked) return true
  if (scores.length < limit) return false
  const last = scores.toSorted((a, b) => b - a)[limit - 1]!
  return last > farthest || asked === clusterNearestMax
}
