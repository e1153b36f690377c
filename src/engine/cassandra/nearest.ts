/** How the cluster is asked for what is nearest to a vector, of documents or of rows. */
import { fixedLimits } from '../../limits.ts'

const { clusterNearestMax } = fixedLimits

/** How many more are asked for at least: some are as near as others, or nearer than thought. */
const besideMin = 20

/** So many are asked for, one number after the other until enough of them match. */
export function* countsFor(limit: number): Generator<number> {
  const first = Math.max(2 * limit, limit + besideMin)
  if (first < clusterNearestMax) yield first
  yield clusterNearestMax
}
