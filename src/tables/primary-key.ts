/** Primary keys: partition columns, then clustering columns. */
import type { Column } from '../engine/schema.ts'
import type { RowStore } from './row-store.ts'

/**
 * Why the given columns are not the whole partition key and a prefix of the clustering columns. If
 * they are, all lists are empty.
 */
export interface KeyGaps {
  /** Missing partition columns. */
  readonly missing: readonly Column[]
  /** The first missing clustering column that precedes a given clustering column. */
  readonly leftOut: readonly Column[]
  /** The given clustering columns that follow this missing column. */
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
