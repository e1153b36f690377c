/**
 * Reads the filter clause of a command that reads rows.
 *
 * What is wrong with a filter is found in this order: its form, the columns that it names,
 * what these can be asked for, and the values that they are compared with.
 */
import type { ColumnPart } from '../../columns/column-path.ts'
import type { Column } from '../../engine/schema.ts'
import { apiError } from '../../errors/api-error.ts'
import { extendedOf } from '../../json/extended.ts'
import { isObject, jsonTypeOf, type Value } from '../../json/value.ts'
import type { Limits } from '../../limits.ts'
import {
  checkConditionCount,
  comparisonKinds as kinds,
  conditionsOf,
  invalid,
  invalidArgument,
  isOperator,
  mapConditions,
  matchUnderNot,
  misplaced,
  operatorsOf,
  opposites,
  readAll,
  readChoices,
  readClause,
  shown,
} from '../../query/filter-clause.ts'
import { labelOf, labelsOf } from '../column-label.ts'
import type { RowStore } from '../row-store.ts'
import { indexedColumns } from './indexed-columns.ts'
import { readOperands } from './read-operands.ts'
import { columnsOf, isRange, type RowClause, type RowCondition } from './row-condition.ts'

export function parseRowFilter(value: Value | undefined, store: RowStore): RowClause {
  const unknown = new Set<string>()
  const written = readClause<RowCondition>(value, {
    read(name, operand) {
      const column = store.columns.get(name)
      if (column !== undefined) return readColumn(column, operand, store.limits)
      if (isOperator(name)) throw unknownOperator(name)
      unknown.add(name)
      return []
    },
    opposite,
  })
  const conditions = conditionsOf(written)
  checkConditionCount(conditions.length, store.limits)
  checkColumns(unknown, store)
  checkMatches(conditions, store)
  checkDurations(conditions, store)
  return mapConditions(written, (condition) => ({
    ...condition,
    operands: readOperands(condition, store),
  }))
}

/** What is said about one column; operands are still as they were written. */
function readColumn(
  column: Column,
  operand: Value,
  limits: Limits,
): readonly RowCondition[] {
  switch (column.type.type) {
    case 'list':
    case 'set':
      return readMembers(column, 'value', operand, limits)
    case 'map':
      return readMap(column, operand, limits)
    default:
      return operationsOf(column, operand).map(([operator, argument]) =>
        readComparison(column, operator, argument, limits),
      )
  }
}

function operationsOf(
  column: Column,
  operand: Value,
): readonly (readonly [string, Value])[] {
  if (Array.isArray(operand))
    throw invalid(
      `"${column.name}" cannot be compared with an Array; write {"$in": […]} for one of ` +
        'several values',
    )
  if (!isObject(operand) || extendedOf(operand) !== undefined) return [['$eq', operand]]
  const operators = operatorsOf(column.name, operand)
  if (operators === undefined) throw unsupportedValue(column, operand)
  return operators
}

function readComparison(
  column: Column,
  operator: string,
  argument: Value,
  limits: Limits,
): RowCondition {
  const { name } = column
  const scalar = { column, part: 'value' } as const
  switch (operator) {
    case '$eq':
    case '$ne':
      checkScalar(column, argument)
      return { ...scalar, kind: kinds[operator], operands: [argument] }
    case '$gt':
    case '$gte':
    case '$lt':
    case '$lte':
      if (argument === null || Array.isArray(argument) || isPlainObject(argument))
        throw invalidArgument(name, operator, 'a value of the type of its column', argument)
      return { ...scalar, kind: kinds[operator], operands: [argument] }
    case '$in':
    case '$nin': {
      const operands = readChoices(name, operator, argument, limits)
      for (const value of operands) checkScalar(column, value)
      return { ...scalar, kind: kinds[operator], operands }
    }
    case '$match':
      if (typeof argument !== 'string')
        throw invalidArgument(name, operator, 'a String of terms', argument)
      return { ...scalar, kind: 'match', operands: [argument] }
    case '$and':
    case '$or':
    case '$not':
      throw misplaced(name, operator)
    default:
      throw isKnown(operator)
        ? apiError('FILTER_UNSUPPORTED_OPERATOR', {
            operator,
            known: scalarOperators,
            column: labelOf(column),
          })
        : unknownOperator(operator)
  }
}

/** Null and objects are refused as such, before any column is asked. */
function checkScalar(column: Column, value: Value): void {
  if (value === null || isPlainObject(value)) throw unsupportedValue(column, value)
}

function isPlainObject(value: Value): boolean {
  return isObject(value) && extendedOf(value) === undefined
}

function readMap(column: Column, operand: Value, limits: Limits): RowCondition[] {
  return memberOperators(column, operand).flatMap(([operator, argument]) => {
    switch (operator) {
      case '$keys':
        return readMembers(column, 'keys', argument, limits, operator)
      case '$values':
        return readMembers(column, 'values', argument, limits, operator)
      default: {
        const condition = readMembership(column, 'value', operator, argument, limits)
        for (const entry of condition.operands)
          if (!Array.isArray(entry) || entry.length !== 2)
            throw badMembers(column, operator, `${shown(entry)} is no pair [key, value]`)
        return [condition]
      }
    }
  })
}

function readMembers(
  column: Column,
  part: ColumnPart,
  operand: Value,
  limits: Limits,
  within?: string,
): RowCondition[] {
  return memberOperators(column, operand, within).map(([operator, argument]) =>
    readMembership(column, part, operator, argument, limits),
  )
}

function memberOperators(
  column: Column,
  operand: Value,
  within = '$eq',
): readonly (readonly [string, Value])[] {
  const operators = isObject(operand) ? operatorsOf(column.name, operand) : undefined
  if (operators === undefined)
    throw badMembers(
      column,
      within,
      `it takes an Object of $in, $nin and $all, not ${shown(operand)}`,
    )
  return operators
}

function readMembership(
  column: Column,
  part: ColumnPart,
  operator: string,
  argument: Value,
  limits: Limits,
): RowCondition {
  switch (operator) {
    case '$in':
    case '$nin':
    case '$all': {
      if (!Array.isArray(argument))
        throw badMembers(column, operator, `it takes an Array, not ${shown(argument)}`)
      const operands =
        operator === '$all'
          ? readAll(column.name, argument)
          : readChoices(column.name, operator, argument, limits)
      const kind = operator === '$all' ? 'all' : kinds[operator]
      return { kind, column, part, operands }
    }
    case '$and':
    case '$or':
    case '$not':
      throw misplaced(column.name, operator)
    default:
      throw isKnown(operator)
        ? badMembers(column, operator, 'it is not for columns of this type')
        : unknownOperator(operator)
  }
}

function opposite(condition: RowCondition): RowCondition {
  if (condition.kind === 'match') throw matchUnderNot()
  return { ...condition, kind: opposites[condition.kind] }
}

function checkColumns(unknown: ReadonlySet<string>, store: RowStore): void {
  if (unknown.size > 0)
    throw apiError('UNKNOWN_TABLE_COLUMNS_IN_FILTER', {
      table: store.name,
      columns: labelsOf(store.columns.values()),
      unknown: [...unknown].toSorted(),
    })
}

function checkMatches(conditions: readonly RowCondition[], store: RowStore): void {
  const used = columnsOf(conditions.filter(({ kind }) => kind === 'match'))
  if (used.length === 0) return
  const indexed = indexedColumns(store, 'text')
  const others = used.filter((column) => !indexed.includes(column))
  if (others.length > 0)
    throw apiError('CANNOT_LEXICAL_FILTER_NON_INDEXED_COLUMNS', {
      table: store.name,
      indexed: labelsOf(indexed),
      used: labelsOf(others),
    })
}

function checkDurations(conditions: readonly RowCondition[], store: RowStore): void {
  const used = columnsOf(
    conditions.filter(({ kind, column }) => {
      return isRange(kind) && column.type.type === 'duration'
    }),
  )
  if (used.length > 0)
    throw apiError('UNSUPPORTED_COMPARISON_FILTER_AGAINST_DURATION', {
      table: store.name,
      columns: labelsOf(store.columns.values()),
      used: labelsOf(used),
    })
}

const scalarOperators = [...Object.keys(kinds), '$match']

const knownOperators = [
  ...scalarOperators,
  '$all',
  '$keys',
  '$values',
  '$and',
  '$or',
  '$not',
]

/** Those of collections are known as well, only not here. */
function isKnown(operator: string): boolean {
  return knownOperators.includes(operator) || operator === '$exists' || operator === '$size'
}

function unknownOperator(operator: string) {
  return apiError('FILTER_UNSUPPORTED_OPERATOR', { operator, known: knownOperators })
}

function unsupportedValue(column: Column, value: Value) {
  return apiError('FILTER_UNSUPPORTED_DATA_TYPE', {
    what: `The value that ${labelOf(column)} is compared with`,
    type: jsonTypeOf(value),
  })
}

function badMembers(column: Column, operator: string, problem: string) {
  return apiError('INVALID_MAP_SET_LIST_FILTER', {
    column: labelOf(column),
    operator,
    problem,
  })
}
