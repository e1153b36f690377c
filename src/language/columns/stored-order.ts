/** Determines whether the storage order of rows is the order that a sort requests. */
import type { Column } from './column.ts'
import type { UserTypes } from './column-type.ts'
import { keyConditionsIn } from './key-conditions.ts'
import type { RowFilter, RowSortKey } from './row-filter.ts'

/** A primary key as the table declares it. */
export interface DeclaredKey {
  readonly partitionBy: readonly string[]
  readonly partitionSort: readonly {
    readonly column: string
    readonly direction: 1 | -1
  }[]
}

/**
 * Direction in which to read a single partition for the sort: 1 is the storage order, -1 its
 * reverse. Undefined: the sort is neither, or the filter does not select a single partition.
 */
export function storedDirection(
  { sort, filter }: { readonly sort: readonly RowSortKey[]; readonly filter: RowFilter },
  { partitionBy, partitionSort }: DeclaredKey,
  key: readonly Column[],
  types: UserTypes,
): 1 | -1 | undefined {
  const directions = sort.map(({ column, direction }, position) => {
    const declared = partitionSort[position]
    return declared?.column === column.name ? direction * declared.direction : 0
  })
  const [first] = directions
  if ((first !== 1 && first !== -1) || directions.some((other) => other !== first))
    return undefined
  const required = keyConditionsIn(filter, key, types)
  const isOnePartition = partitionBy.every((name) => required.get(name)?.eq?.length === 1)
  return isOnePartition ? first : undefined
}
