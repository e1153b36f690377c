/** Primary keys: partition columns, then clustering columns. */
import type { Column } from '../engine/schema.ts'
import type { RowStore } from './row-store.ts'

/**
 * Differences between the given columns and a valid key: the whole partition key with a prefix of
 * the clustering columns. All lists are empty if the columns are valid.
 */
export interface KeyGaps {
  /** Missing partition columns. */
  readonly missing: readonly Column[]
  /** The first missing clustering column, if a given clustering column follows it. */
  readonly leftOut: readonly Column[]
  /** The given clustering columns after `leftOut`. */
  readonly outOfOrder: readonly Column[]
}

export function keyGaps(
  { key, table }: Pick<RowStore, 'key' | 'table'>,
  given: ReadonlySet<Column>,
): KeyGaps {
  const partition = key.slice(0, table.definition.partitionBy.length)
  const sort = key.slice(partition.length)
  const gap = sort.findIndex((column) => !given.has(column))
  const outOfOrder = gap === -1 ? [] : sort.slice(gap).filter((column) => given.has(column))
  return {
    missing: partition.filter((column) => !given.has(column)),
    leftOut: outOfOrder.length === 0 ? [] : [sort[gap]!],
    outOfOrder,
  }
}
