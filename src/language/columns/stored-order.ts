/** The order in which rows are stored, and whether that is what a sort asks for. */
import type { Column } from './column.ts'
import type { UserTypes } from './column-type.ts'
import { keyConditionsIn } from './key-conditions.ts'
import type { RowFilter, RowSortKey } from './row-filter.ts'

/** A primary key, as tables declare it. */
export interface DeclaredKey {
  readonly partitionBy: readonly string[]
  readonly partitionSort: readonly {
    readonly column: string
    readonly direction: 1 | -1
  }[]
}

/** 1 or -1 where a sort is the order of one partition, as it is stored or backwards. */
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
