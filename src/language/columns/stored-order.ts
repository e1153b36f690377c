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

/** 1 or -1 if the sort is the storage order of a single partition, or its reverse. */
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
