/**
 * Parses the structure of filters on columns: $and, $or and $not around comparisons whose
 * operands are not converted yet. Filters of reads (read/parse-row-filter.ts) and filters
 * by primary key (write/key-clause.ts) support different operators.
 */
import type { Column } from '../engine/schema.ts'
import { apiError, type ApiError } from '../errors/api-error.ts'
import { extendedOf } from '../json/extended.ts'
import { isObject, jsonTypeOf, type JsonObject, type Value } from '../json/value.ts'
import type { Limits } from '../limits.ts'
import {
  checkConditionCount,
  comparisonKinds,
  conditionsOf,
  invalid,
  invalidArgument,
  isOperator,
  matchUnderNot,
  misplaced,
  operatorsOf,
  opposites,
  readChoices,
  readClause,
  type Clause,
} from '../language/filters/filter-clause.ts'
import { quoteJson } from '../language/values/quote-json.ts'
import { labelOf, labelsOf, unsupportedLabels } from './column-label.ts'
import type { RowCondition, ScalarKind } from '../language/columns/row-filter.ts'
import type { RowStore } from './row-store.ts'

/** A condition on a column with a scalar type. */
export interface ColumnComparison {
  readonly kind: ScalarKind | 'match'
  readonly column: Column
  /** One value; several for `in` and `nin`. */
  readonly operands: readonly Value[]
}

export type ConditionKind = RowCondition['kind']

export const comparisonOperators: readonly string[] = [
  ...Object.keys(comparisonKinds),
  '$match',
]

export interface ColumnReader<Condition> {
  /** Operators that any column supports. */
  readonly operators: readonly string[]
  /** Conditions on one column, joined by AND. */
  read(column: Column, operand: Value): readonly Condition[]
}

/** Parses a filter. Checks the number of conditions first, then that the table has the columns. */
export function readColumnClause<Condition extends { readonly kind: ConditionKind }>(
  filter: Value | undefined,
  store: Pick<RowStore, 'columns' | 'limits' | 'name' | 'unsupported'>,
  reader: ColumnReader<Condition>,
): Clause<Condition> {
  const unknown = new Set<string>()
  const clause = readClause<Condition>(filter, {
    read(name, operand) {
      const column = store.columns.get(name)
      if (column !== undefined) return reader.read(column, operand)
      if (isOperator(name)) throw unknownOperator(name, reader.operators)
      checkForm(name, operand)
      unknown.add(name)
      return []
    },
    opposite(condition) {
      if (condition.kind === 'match') throw matchUnderNot()
      return { ...condition, kind: opposites[condition.kind] }
    },
  })
  checkConditionCount(conditionsOf(clause).length, store.limits)
  checkComparable(
    store,
    [...unknown].filter((name) => store.unsupported.has(name)),
  )
  if (unknown.size > 0)
    throw apiError('UNKNOWN_TABLE_COLUMNS_IN_FILTER', {
      table: store.name,
      columns: labelsOf(store.columns.values()),
      unknown: [...unknown].sort(),
    })
  return clause
}

/** Rejects columns of CQL-only types. */
export function checkComparable(
  store: Pick<RowStore, 'columns' | 'name' | 'unsupported'>,
  unsupported: readonly string[],
): void {
  if (unsupported.length > 0)
    throw apiError('UNSUPPORTED_COLUMN_TYPES_IN_FILTER', {
      table: store.name,
      columns: labelsOf(store.columns.values()),
      unsupported: unsupportedLabels(store, unsupported),
    })
}

/** Throws if an operand is a plain object, which no column accepts. */
function checkForm(name: string, operand: Value): void {
  if (!isPlainObject(operand)) return
  const operators = operatorsOf(name, operand)
  const value =
    operators === undefined ? operand : operators.flatMap(comparedWith).find(isPlainObject)
  if (value !== undefined) throw unsupportedValue(`"${name}"`, value)
}

/** The values of a comparison; empty for other operators. */
function comparedWith([operator, argument]: readonly [string, Value]): readonly Value[] {
  switch (operator) {
    case '$eq':
    case '$ne':
    case '$gt':
    case '$gte':
    case '$lt':
    case '$lte':
      return [argument]
    case '$in':
    case '$nin':
      return Array.isArray(argument) ? argument : []
    default:
      return []
  }
}

/** Rules that differ between commands. */
export interface ColumnRules {
  readonly limits: Limits
  /**
   * Rejects values that no value of the column can equal: `checkScalar`, or a stricter
   * check.
   */
  checkValue(column: Column, value: Value): void
  /** The error for an operator that is not a comparison. */
  refuse(column: Column, operator: string): ApiError
}

/** Reads comparisons of a column with a scalar type. */
export function readComparisons(
  column: Column,
  operand: Value,
  rules: ColumnRules,
): readonly ColumnComparison[] {
  if (!isPlainObject(operand)) return [readComparison(column, '$eq', operand, rules)]
  const operators = operatorsOf(column.name, operand)
  if (operators === undefined) throw unsupportedValue(labelOf(column), operand)
  return operators.map(([operator, argument]) =>
    readComparison(column, operator, argument, rules),
  )
}

function readComparison(
  column: Column,
  operator: string,
  argument: Value,
  rules: ColumnRules,
): ColumnComparison {
  const { name } = column
  switch (operator) {
    case '$eq':
    case '$ne':
      rules.checkValue(column, argument)
      return { kind: comparisonKinds[operator], column, operands: [argument] }
    case '$gt':
    case '$gte':
    case '$lt':
    case '$lte':
      if (isPlainObject(argument)) throw unsupportedValue(labelOf(column), argument)
      if (argument === null || Array.isArray(argument))
        throw invalidArgument(name, operator, 'a value of the type of its column', argument)
      return { kind: comparisonKinds[operator], column, operands: [argument] }
    case '$in':
    case '$nin': {
      const operands = readChoices(name, operator, argument, rules.limits)
      for (const value of operands) rules.checkValue(column, value)
      return { kind: comparisonKinds[operator], column, operands }
    }
    case '$match':
      if (typeof argument !== 'string')
        throw invalidArgument(name, operator, 'a String of terms', argument)
      return { kind: 'match', column, operands: [argument] }
    case '$and':
    case '$or':
    case '$not':
      throw misplaced(name, operator)
    default:
      throw rules.refuse(column, operator)
  }
}

/** Rejects null and plain objects, before the column's type is considered. */
export function checkScalar(column: Column, value: Value): void {
  if (value === null || isPlainObject(value)) throw unsupportedValue(labelOf(column), value)
}

/** Whether the value is an object other than a wrapper, such as {"$date": …}. */
function isPlainObject(value: Value): value is JsonObject {
  return isObject(value) && extendedOf(value) === undefined
}

export function unknownOperator(operator: string, known: readonly string[]): ApiError {
  return apiError('FILTER_UNSUPPORTED_OPERATOR', { operator, known })
}

export function comparedWithArray({ name }: Column): ApiError {
  return invalid({ reason: 'columnWithArray', column: name })
}

function unsupportedValue(column: string, value: Value): ApiError {
  return apiError('FILTER_UNSUPPORTED_DATA_TYPE', {
    what: `A value compared with ${column}`,
    type: jsonTypeOf(value),
  })
}

/** The error for a value that does not fit the type of its column. */
export function unfitValue(
  column: Column,
  value: Value,
  problem: string,
  store: Pick<RowStore, 'columns' | 'name'>,
): ApiError {
  return apiError('INVALID_FILTER_COLUMN_VALUES', {
    table: store.name,
    columns: labelsOf(store.columns.values()),
    column: labelOf(column),
    value: quoteJson(value),
    problem,
  })
}
