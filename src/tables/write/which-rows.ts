/**
 * Determines the rows of an update or a delete by their primary keys.
 *
 * Errors are reported in this order: the structure of the filter, its columns, whether they
 * are key columns, the operators, and the values.
 */
import type { ElementType, PrimitiveName } from '../../language/columns/column-type.ts'
import { BadValue, readElement } from '../../language/columns/values.ts'
import type { Column } from '../../engine/schema.ts'
import { apiError } from '../../errors/api-error.ts'
import { list } from '../../errors/catalog-entry.ts'
import { isObject, type Value } from '../../json/value.ts'
import { conditionsOf, invalid } from '../../language/filters/filter-clause.ts'
import { checkComparable, unfitValue } from '../column-clause.ts'
import { labelOf, labelsOf } from '../column-label.ts'
import {
  addCondition,
  keyCondition,
  type KeyCondition,
  type KeyConditions,
} from '../../language/columns/key-conditions.ts'
import { keyGaps } from '../primary-key.ts'
import type { RowStore } from '../row-store.ts'
import { readVector, type Contents } from './column-content.ts'
import { keyColumns, listColumns } from './column-lists.ts'
import { hasChoice, isEverything, readKeyClause, type KeyClause } from './key-clause.ts'

/** The full key in the filter of updateOne or deleteOne. */
export function readWholeKey(store: RowStore, filter: Value | undefined): Contents {
  const { key, name: target } = store
  const clause = readKeyClause(store, filter)
  if (isEverything(clause))
    throw apiError('MISSING_FILTER_FOR_UPDATE_DELETE', { target, key: keyColumns(store) })
  checkColumns(store, clause)
  const conditions = conditionsOf(clause)
  const columns = conditions.map(({ column }) => column)
  const unfit = hasChoice(clause)
    ? columns
    : columns.filter((column, at) => {
        return conditions[at]!.kind !== 'eq' || columns.indexOf(column) !== at
      })
  if (unfit.length > 0 || hasChoice(clause))
    throw apiError('UNSUPPORTED_FILTER_FOR_UPDATE_ONE_DELETE_ONE', {
      columns: listColumns(unfit),
    })
  const missing = key.filter((column) => !columns.includes(column))
  if (missing.length > 0)
    throw apiError('MISSING_FULL_PRIMARY_KEY_FOR_UPDATE_DELETE', {
      target,
      key: keyColumns(store),
      missing: listColumns(missing),
    })
  return new Map(
    conditions.map(({ column, operands }) => [
      column,
      readOperand(store, column, operands[0]!),
    ]),
  )
}

/**
 * The key conditions of a deleteMany: all partition columns, then a prefix of the clustering
 * columns, of which the last may have a range. Undefined: all rows.
 */
export function readKeyConditions(
  store: RowStore,
  filter: Value | undefined,
): KeyConditions | undefined {
  const clause = readKeyClause(store, filter)
  if (isEverything(clause)) return undefined
  checkColumns(store, clause)
  const conditions = conditionsOf(clause)
  checkPrefix(store, new Set(conditions.map(({ column }) => column)))
  // Invalid values take precedence over unsupported operations.
  const readable = conditions.map(({ kind, column, operands }) => ({
    kind,
    column,
    values: operands.map((operand) => readOperand(store, column, operand)),
  }))
  if (hasChoice(clause)) throw invalid({ reason: 'deletedByLogic', table: store.name })
  const said = new Map<string, KeyCondition>()
  for (const { kind, column, values } of readable) {
    const condition = keyCondition(kind, values)
    if (condition === undefined)
      throw invalid({
        reason: 'deletedByOperator',
        table: store.name,
        operator: `$${kind}`,
      })
    addCondition(said, column, condition, store.table.types)
  }
  checkRanges(store, said)
  return said
}

/** Whether the request has a sort. A sort is useless when the key identifies the row. */
export function hasSort(sort: Value | undefined): boolean {
  return sort !== undefined && !(isObject(sort) && sort.size === 0)
}

function checkColumns(store: RowStore, clause: KeyClause): void {
  const { key, name: target } = store
  checkComparable(store, store.unsupportedKey)
  const columns = conditionsOf(clause).map(({ column }) => column)
  const others = columns.filter((column) => !key.includes(column))
  if (others.length > 0)
    throw apiError('UNSUPPORTED_NON_PRIMARY_KEY_FILTER_FOR_UPDATE_DELETE', {
      target,
      key: keyColumns(store),
      columns: listColumns(others),
    })
}

function checkPrefix(store: RowStore, given: ReadonlySet<Column>): void {
  const { missing, outOfOrder } = keyGaps(store, given)
  if (missing.length > 0 || outOfOrder.length > 0)
    throw apiError('INVALID_PRIMARY_KEY_FILTER', {
      target: store.name,
      key: keyColumns(store),
      missing: listColumns(missing),
      skipped: list(labelsOf(outOfOrder)),
    })
}

/** Checks that only the last given column has a range, and that it is a clustering column. */
function checkRanges(store: RowStore, conditions: KeyConditions): void {
  const { key, table } = store
  const last = key.findLast(({ name }) => conditions.has(name))
  for (const column of key) {
    const condition = conditions.get(column.name)
    if (condition === undefined || condition.eq !== undefined) continue
    if (table.definition.partitionBy.includes(column.name) || column !== last)
      throw invalid({
        reason: 'deletedByRange',
        table: store.name,
        column: labelOf(column),
      })
  }
}

/** Converts an operand to the stored form. */
function readOperand(
  store: RowStore,
  column: Column,
  operand: Value,
): Value | Float32Array {
  const { type } = column
  const stored =
    type.type === 'vector'
      ? readVector(operand, type.dimension)
      : readElement(elementOf(column), operand, store.table.types, true)
  if (!(stored instanceof BadValue)) return stored
  throw unfitValue(column, operand, stored.problem, store)
}

/** The type of a key column, which is never a list, set or map. */
function elementOf({ type }: Column): ElementType {
  return type.type === 'userDefined' ? type : (type.type as PrimitiveName)
}
