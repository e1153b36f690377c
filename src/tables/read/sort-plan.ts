/**
 * How a sort by values is made: rows of one partition are stored in the order of its sort,
 * and in no other. Every other order has to be made, and a warning says why. So does one for
 * rows that are skipped: they come in the order that they have without skipping.
 */
import { columnPath } from '../../language/columns/column-path.ts'
import type { Column } from '../../engine/schema.ts'
import { apiError, type ApiError } from '../../errors/api-error.ts'
import { requirementsOf } from '../../language/filters/filter-clause.ts'
import type { SortKey } from '../../language/sorts/sort.ts'
import { idPath } from '../../paging/record-id.ts'
import { labelsOf } from '../column-label.ts'
import type { RowStore } from '../row-store.ts'
import type { RowClause } from './row-condition.ts'
import { keyConditions } from './row-filter.ts'
import type { RowSortKey } from './row-sort.ts'

export interface SortPlan {
  readonly keys: readonly SortKey[]
  /** Why rows are not simply read as they are stored; absent where they are. */
  readonly warning?: ApiError
}

export function planSort(
  keys: readonly RowSortKey[],
  filter: RowClause,
  skip: number,
  store: RowStore,
): SortPlan {
  if (keys.length === 0) return stored(1)
  const plan = planOrder(keys, filter, store)
  if (skip === 0) return plan
  const warning = apiError('IN_MEMORY_SORTING_DUE_SKIP_OPTIONS', sortNames(keys, store))
  return { ...plan, warning }
}

function planOrder(
  keys: readonly RowSortKey[],
  filter: RowClause,
  store: RowStore,
): SortPlan {
  const { partitionBy, partitionSort } = store.table.definition
  const inMemory = (warning: ApiError): SortPlan => ({
    keys: keys.map(({ column, direction }) => {
      return { path: columnPath(column.id), direction }
    }),
    warning,
  })
  const names = sortNames(keys, store)
  if (!keys.every(({ column }) => isSortedBy(column, store)))
    return inMemory(apiError('IN_MEMORY_SORTING_DUE_TO_NON_PARTITION_SORTING', names))
  const turns = keys.map(({ column, direction }, position) => {
    const declared = partitionSort[position]!
    return declared.column === column.name ? direction * declared.direction : 0
  })
  const [turn] = turns
  if ((turn !== 1 && turn !== -1) || turns.some((other) => other !== turn))
    return inMemory(
      apiError('IN_MEMORY_SORTING_DUE_TO_OUT_OF_ORDER_PARTITION_SORTING', names),
    )
  const required = keyConditions(requirementsOf(filter), store)
  if (!partitionBy.every((column) => required.get(column)?.eq?.length === 1))
    return inMemory(
      apiError('IN_MEMORY_SORTING_DUE_TO_PARTITION_KEY_NOT_RESTRICTED', {
        ...names,
        partitionBy: labelsOf(store.key.slice(0, partitionBy.length)),
      }),
    )
  return stored(turn)
}

/** What messages say about a sort. */
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

function stored(direction: 1 | -1): SortPlan {
  return { keys: [{ path: idPath, direction }] }
}
