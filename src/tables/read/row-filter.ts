/**
 * Filters on rows as filters on records: columns are fields by their paths, and what is said
 * about the start of the primary key is said about _id.
 */
import { isCollection } from '../../language/columns/collections.ts'
import { columnPath } from '../../language/columns/column-path.ts'
import { foldText } from '../../language/columns/fold-text.ts'
import type { Column } from '../../engine/schema.ts'
import type { Value } from '../../json/value.ts'
import {
  isJoint,
  mapConditions,
  requirementsOf,
} from '../../language/filters/filter-clause.ts'
import { everything, type Comparison, type Filter } from '../../language/filters/filter.ts'
import type { Path } from '../../language/values/path.ts'
import {
  bothConditions,
  idFilter,
  keyCondition,
  keyPrefix,
  type KeyCondition,
  type KeyConditions,
} from '../key-filter.ts'
import type { RowStore } from '../row-store.ts'
import { regularIndexOn } from './indexed-columns.ts'
import {
  isRange,
  type RangeKind,
  type RowClause,
  type RowCondition,
} from './row-condition.ts'

export function filterOfRows(clause: RowClause, store: RowStore): Filter {
  const required = requirementsOf(clause)
  const served = servedByKey(required, store)
  const parts = required
    .filter(
      (part) => isJoint(part) || !served?.columns.has(part.column.name) || !isOnKey(part),
    )
    .map((part) => mapConditions(part, (condition) => filterOfColumn(condition, store)))
  if (served !== undefined) parts.unshift(served.filter)
  if (parts.length === 0) return everything
  return parts.length === 1 ? parts[0]! : { kind: 'and', of: parts }
}

/** What a filter on _id can say of what is required, and the columns that this is about. */
function servedByKey(
  required: readonly RowClause[],
  store: RowStore,
): { readonly filter: Filter; readonly columns: KeyConditions } | undefined {
  const prefix = keyPrefix(store, keyConditions(required, store))
  if (prefix === undefined) return undefined
  const columns = new Map(prefix)
  // With fewer columns there are fewer ways to take a value of each.
  while (columns.size >= store.table.definition.partitionBy.length) {
    const filter = idFilter(store, columns)
    if (filter !== undefined) return { filter, columns }
    columns.delete([...columns.keys()].at(-1)!)
  }
  return undefined
}

/** What is required of the columns of the primary key, by their names. */
export function keyConditions(
  required: readonly RowClause[],
  { key }: Pick<RowStore, 'key'>,
): KeyConditions {
  const conditions = new Map<string, KeyCondition>()
  for (const part of required) {
    if (isJoint(part) || !key.includes(part.column)) continue
    const condition = keyCondition(part.kind, part.operands)
    if (condition === undefined) continue
    const { name } = part.column
    const known = conditions.get(name)
    conditions.set(name, known === undefined ? condition : bothConditions(known, condition))
  }
  return conditions
}

/** Whether it can be said of an id, if the column is of the key. */
function isOnKey({ kind, operands }: RowCondition): boolean {
  return keyCondition(kind, operands) !== undefined
}

/** Only what rows have can be less, greater or other than something. */
function filterOfColumn(condition: RowCondition, store: RowStore): Filter {
  const { kind, column, operands } = condition
  if (kind === 'match')
    return { kind, path: columnPath(column.id), terms: operands as readonly string[] }
  if (isRange(kind)) return rangeOf(kind, column, operands[0]!)
  const { path, values } = equalityOf(condition, store)
  switch (kind) {
    case 'eq':
      return { kind, path, value: values[0]! }
    case 'ne':
      return present(path, { kind, path, value: values[0]! })
    case 'nin':
      return isCollection(column.type)
        ? { kind, path, values }
        : present(path, { kind, path, values })
    case 'in':
    case 'all':
    case 'notAll':
      return { kind, path, values }
  }
}

/** An index may take different texts for equal. */
function equalityOf({ column, part, operands }: RowCondition, store: RowStore) {
  const folding = regularIndexOn(store, column, part)?.folding
  return folding === undefined
    ? { path: columnPath(column.id, part), values: operands }
    : {
        path: columnPath(column.id, part, true),
        values: operands.map((text) => foldText(text as string, folding)),
      }
}

/** What floating point columns compare by where they hold no number. */
const notANumber = 'NaN'

/**
 * NaN is greater than all numbers and equal to itself. Numbers and texts are neither less nor
 * greater than each other, so it has to be named.
 */
function rangeOf(kind: RangeKind, { id, type }: Column, value: Value): Filter {
  const path = columnPath(id)
  const range: Filter = { kind, path, value }
  if (type.type !== 'float' && type.type !== 'double') return range
  const isNotANumber: Filter = { kind: 'eq', path, value: notANumber }
  if (value !== notANumber)
    return kind === 'gt' || kind === 'gte'
      ? { kind: 'or', of: [range, isNotANumber] }
      : range
  switch (kind) {
    case 'gt':
      return { kind: 'or', of: [] }
    case 'gte':
      return isNotANumber
    case 'lt':
      return present(path, { kind: 'ne', path, value: notANumber })
    case 'lte':
      return { kind: 'exists', path, exists: true }
  }
}

function present(path: Path, comparison: Comparison): Filter {
  return { kind: 'and', of: [{ kind: 'exists', path, exists: true }, comparison] }
}
