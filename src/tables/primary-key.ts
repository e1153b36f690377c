/** Primary keys: the columns that rows are partitioned by, then those of the sort. */
import type { Column } from '../engine/schema.ts'
import type { RowStore } from './row-store.ts'

/** What keeps columns from being a start of the key; all empty where they are one. */
export interface KeyGaps {
  /** Partition columns that are not given. */
  readonly missing: readonly Column[]
  /** The first column of the sort that is not given although some behind it are. */
  readonly leftOut: readonly Column[]
  /** The columns behind it that are given. */
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
