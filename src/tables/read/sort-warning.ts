/**
 * Warns about in-memory sorts. Each partition stores its rows in clustering order. For any other
 * order, for rows of several partitions, or with `skip`, the server sorts the rows in memory.
 */
import type { Column } from '../../engine/schema.ts'
import { apiError, type ApiError } from '../../errors/api-error.ts'
import { keyConditionsIn } from '../../language/columns/key-conditions.ts'
import type { RowFilter, RowSortKey } from '../../language/columns/row-filter.ts'
import { labelsOf } from '../column-label.ts'
import type { RowStore } from '../row-store.ts'

/** The warning about an in-memory sort, with its reason; undefined if no such sort is needed. */
export function sortWarning(
  keys: readonly RowSortKey[],
  filter: RowFilter,
  skip: number,
  store: RowStore,
): ApiError | undefined {
  if (keys.length === 0) return undefined
  return skip === 0
    ? orderWarning(keys, filter, store)
    : apiError('IN_MEMORY_SORTING_DUE_SKIP_OPTIONS', sortNames(keys, store))
}

function orderWarning(
  keys: readonly RowSortKey[],
  filter: RowFilter,
  store: RowStore,
): ApiError | undefined {
  const { definition, types } = store.table
  const { partitionBy, partitionSort } = definition
  const names = sortNames(keys, store)
  if (!keys.every(({ column }) => isSortedBy(column, store)))
    return apiError('IN_MEMORY_SORTING_DUE_TO_NON_PARTITION_SORTING', names)
  const directions = keys.map(({ column, direction }, position) => {
    const declared = partitionSort[position]!
    return declared.column === column.name ? direction * declared.direction : 0
  })
  const [first] = directions
  if (first === 0 || directions.some((other) => other !== first))
    return apiError('IN_MEMORY_SORTING_DUE_TO_OUT_OF_ORDER_PARTITION_SORTING', names)
  const required = keyConditionsIn(filter, store.key, types)
  if (!partitionBy.every((column) => required.get(column)?.eq?.length === 1))
    return apiError('IN_MEMORY_SORTING_DUE_TO_PARTITION_KEY_NOT_RESTRICTED', {
      ...names,
      partitionBy: labelsOf(store.key.slice(0, partitionBy.length)),
    })
  return undefined
}

/** Column names for messages about a sort. */
function sortNames(keys: readonly RowSortKey[], store: RowStore) {
  const { partitionBy } = store.table.definition
  return {
    table: store.name,
    partitionSort: labelsOf(store.key.slice(partitionBy.length)),
    sorted: labelsOf(keys.map(({ column }) => column)),
  }
}

function isSortedBy({ name }: Column, { table }: RowStore): boolean {
  return table.definition.partitionSort.some(({ column }) => column === name)
}
