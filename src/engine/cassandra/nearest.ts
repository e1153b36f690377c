/** How the cluster is asked for what is nearest to a vector, of documents or of rows. */
import type { Hit } from '../contract.ts'

/** As many as the cluster gives at most. */
export const nearestMax = 1_000

/** How many more are asked for at least: some are as near as others, or nearer than thought. */
const besideMin = 20

/** So many are asked for, one number after the other until enough of them match. */
export function* countsFor(limit: number): Generator<number> {
  const first = Math.max(2 * limit, limit + besideMin)
  if (first < nearestMax) yield first
  yield nearestMax
}

/** Up to the one by which there are more characters than enough. */
export function upToSize<Item>(
  hits: readonly Hit<Item>[],
  sizeOf: (record: Item) => number,
  sizeMax = Infinity,
): readonly Hit<Item>[] {
  let size = 0
  const last = hits.findIndex(({ record }) => (size += sizeOf(record)) > sizeMax)
  return last < 0 ? hits : hits.slice(0, last + 1)
}
