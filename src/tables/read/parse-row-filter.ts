/**
 * Parses the filter of a command that reads rows.
 *
 * Errors are reported in this order: the structure of the filter, its columns, their
 * operators, and the compared values.
 */
import type { Caller } from '../../caller/caller.ts'
import type { Column, ColumnPart } from '../../language/columns/column.ts'
import { apiError } from '../../errors/api-error.ts'
import { isObject, type Value } from '../../json/value.ts'
import type { Limits } from '../../limits.ts'
import {
  comparisonKinds,
  conditionsOf,
  mapConditions,
  misplaced,
  operatorsOf,
  readAll,
  readChoices,
} from '../../language/filters/filter-clause.ts'
import { quoteWithType } from '../../language/values/quote-json.ts'
import {
  checkScalar,
  comparedWithArray,
  comparisonOperators,
  readColumnClause,
  readComparisons,
  unknownOperator,
} from '../column-clause.ts'
import { labelOf, labelsOf } from '../column-label.ts'
import type { RowStore } from '../row-store.ts'
import { indexedColumns } from './indexed-columns.ts'
import { readCondition } from './read-operands.ts'
import { isRange, type RowFilter } from '../../language/columns/row-filter.ts'
import { columnsOf, type WrittenCondition } from './row-condition.ts'

export function parseRowFilter(
  value: Value | undefined,
  store: RowStore,
  caller: Caller,
): RowFilter {
  const written = readColumnClause<WrittenCondition>(value, store, {
    operators: knownOperators,
    read: (column, operand) => readColumn(column, operand, store.limits),
  })
  const conditions = conditionsOf(written)
  checkMatches(conditions, store)
  checkDurations(conditions, store)
  return mapConditions(written, (condition) => readCondition(condition, store, caller))
}

/** Conditions on one column; operands are not converted yet. */
function readColumn(
  column: Column,
  operand: Value,
  limits: Limits,
): readonly WrittenCondition[] {
  switch (column.type.type) {
    case 'list':
    case 'set':
      return readMembers(column, 'value', operand, limits)
    case 'map':
      return readMap(column, operand, limits)
    default:
      if (Array.isArray(operand)) throw comparedWithArray(column)
      return readComparisons(column, operand, {
        limits,
        checkValue: checkScalar,
        refuse: notComparable,
      }).map((comparison) => ({ ...comparison, part: 'value' }))
  }
}

function readMap(column: Column, operand: Value, limits: Limits): WrittenCondition[] {
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
            throw badMembers(
              column,
              operator,
              `${quoteWithType(entry)} is not a pair [key, value]`,
            )
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
): WrittenCondition[] {
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
      `send an Object with $in, $nin or $all, not ${quoteWithType(operand)}`,
    )
  return operators
}

function readMembership(
  column: Column,
  part: ColumnPart,
  operator: string,
  argument: Value,
  limits: Limits,
): WrittenCondition {
  switch (operator) {
    case '$in':
    case '$nin':
    case '$all': {
      if (!Array.isArray(argument))
        throw badMembers(column, operator, `send an Array, not ${quoteWithType(argument)}`)
      const operands =
        operator === '$all'
          ? readAll(column.name, argument)
          : readChoices(column.name, operator, argument, limits)
      const kind = operator === '$all' ? 'all' : comparisonKinds[operator]
      return { kind, column, part, operands }
    }
    case '$and':
    case '$or':
    case '$not':
      throw misplaced(column.name, operator)
    default:
      throw isKnown(operator)
        ? badMembers(column, operator, 'columns of this type do not support it')
        : unknownOperator(operator, knownOperators)
  }
}

function checkMatches(conditions: readonly WrittenCondition[], store: RowStore): void {
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

function checkDurations(conditions: readonly WrittenCondition[], store: RowStore): void {
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

/** The error for an operator that scalar columns do not support. */
function notComparable(column: Column, operator: string) {
  return isKnown(operator)
    ? apiError('FILTER_UNSUPPORTED_OPERATOR', {
        operator,
        known: comparisonOperators,
        column: labelOf(column),
      })
    : unknownOperator(operator, knownOperators)
}

const knownOperators = [
  ...comparisonOperators,
  '$all',
  '$keys',
  '$values',
  '$and',
  '$or',
  '$not',
]

/** Whether the API has the operator. Some operators are not supported for rows. */
function isKnown(operator: string): boolean {
  return knownOperators.includes(operator) || operator === '$exists' || operator === '$size'
}

function badMembers(column: Column, operator: string, problem: string) {
  return apiError('INVALID_MAP_SET_LIST_FILTER', {
    column: labelOf(column),
    operator,
    problem,
  })
}
