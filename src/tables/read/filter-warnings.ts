/** Warnings about filters that are executed without an index. */
import { isCollection } from '../../language/columns/collections.ts'
import type { ColumnType } from '../../language/columns/column-type.ts'
import type { Column } from '../../engine/schema.ts'
import { apiError, type ApiError } from '../../errors/api-error.ts'
import type { ConditionKind } from '../column-clause.ts'
import { labelsOf } from '../column-label.ts'
import { keyGaps } from '../primary-key.ts'
import type { RowStore } from '../row-store.ts'
import { indexedColumns, regularIndexOn } from './indexed-columns.ts'
import { isRange, type RowCondition } from '../../language/columns/row-filter.ts'
import { columnsOf } from './row-condition.ts'

type Store = Pick<RowStore, 'table' | 'columns' | 'key' | 'name'>

/**
 * Warnings about a filter, in the order of replies. A vector search needs no filter, so a missing
 * filter causes no warning.
 */
export function filterWarnings(
  conditions: readonly RowCondition[],
  store: Store,
  searchesByVector: boolean,
): readonly ApiError[] {
  if (conditions.length === 0) return searchesByVector ? [] : [unfiltered(store)]
  const filtered = columnsOf(conditions)
  if (filtered.every((column) => store.key.includes(column)))
    return [...slowOperators(conditions, store), ...incompleteKey(filtered, store)]
  const indexed = indexedColumns(store)
  const scalars = filtered.filter(
    (column) => !isCollection(column.type) && !indexed.includes(column),
  )
  const collections = columnsOf(
    conditions.filter(
      ({ column, part }) =>
        isCollection(column.type) && regularIndexOn(store, column, part) === undefined,
    ),
  )
  return [
    ...missingIndex(scalars, store),
    ...missingIndex(collections, store),
    ...slowOperators(conditions, store),
  ]
}

/** Warning for a read that was repeated because the store could not use an index. */
export function retryWarning({ name: table }: Pick<Store, 'name'>): ApiError {
  return apiError('QUERY_RETRIED_DUE_TO_INDEXING', { table })
}

function unfiltered(store: Store): ApiError {
  return apiError('ZERO_FILTER_OPERATIONS', namesOf(store))
}

function missingIndex(missing: readonly Column[], store: Store): ApiError[] {
  if (missing.length === 0) return []
  return [apiError('MISSING_INDEX', { ...namesOf(store), missing: labelsOf(missing) })]
}

function namesOf(store: Store) {
  return {
    table: store.name,
    key: labelsOf(store.key),
    indexed: labelsOf(indexedColumns(store)),
  }
}

type TypeName = ColumnType['type']

/** Types whose indexes support equality but no ranges. */
const unordered: readonly TypeName[] = ['ascii', 'boolean', 'text', 'uuid']
const unequal: readonly TypeName[] = [
  'ascii',
  'blob',
  'boolean',
  'duration',
  'text',
  'uuid',
]

/** Warns about operators that the existing indexes do not support. */
function slowOperators(conditions: readonly RowCondition[], store: Store): ApiError[] {
  const suspects = conditions.filter(({ kind }) => {
    return kind === 'ne' || kind === 'nin' || isRange(kind)
  })
  if (suspects.length === 0) return []
  const indexed = indexedColumns(store)
  const used = (isSlow: (kind: ConditionKind) => boolean, types: readonly TypeName[]) => {
    const columns = columnsOf(
      suspects.filter(
        ({ kind, column }) =>
          isSlow(kind) && types.includes(column.type.type) && indexed.includes(column),
      ),
    )
    return columns.length === 0 ? undefined : { types, columns: labelsOf(columns) }
  }
  const notEqual = used((kind) => kind === 'ne', unequal)
  const ranges = used(isRange, unordered)
  const notIn = used((kind) => kind === 'nin', unordered)
  return [
    ...(notEqual ? [apiError('NOT_EQUALS_UNSUPPORTED_BY_INDEXING', notEqual)] : []),
    ...(ranges ? [apiError('COMPARISON_FILTER_UNSUPPORTED_BY_INDEXING', ranges)] : []),
    ...(notIn ? [apiError('NOT_IN_FILTER_UNSUPPORTED_BY_INDEXING', notIn)] : []),
  ]
}

/** Warns about filters on key columns that skip a part of the key. */
function incompleteKey(filtered: readonly Column[], store: Store): ApiError[] {
  const { missing, leftOut, outOfOrder } = keyGaps(store, new Set(filtered))
  if (missing.length === 0 && outOfOrder.length === 0) return []
  return [
    apiError('INCOMPLETE_PRIMARY_KEY_FILTER', {
      table: store.name,
      key: labelsOf(store.key),
      missing: labelsOf([...missing, ...leftOut]),
      outOfOrder: labelsOf(outOfOrder),
    }),
  ]
}
