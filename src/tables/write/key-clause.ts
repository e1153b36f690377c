/**
 * The form of filters of updates and deletes: comparisons of columns with values, as they
 * were written. What they mean is in which-rows.ts.
 */
import type { Column } from '../../engine/schema.ts'
import { apiError } from '../../errors/api-error.ts'
import { extendedOf } from '../../json/extended.ts'
import { isObject, jsonTypeOf, type Value } from '../../json/value.ts'
import type { Limits } from '../../limits.ts'
import {
  checkConditionCount,
  comparisonKinds,
  conditionsOf,
  invalid,
  invalidArgument,
  isJoint,
  isOperator,
  matchUnderNot,
  misplaced,
  operatorsOf,
  opposites,
  readChoices,
  readClause,
  type Clause,
} from '../../query/filter-clause.ts'
import { labelOf, labelsOf } from '../column-label.ts'
import type { RowStore } from '../row-store.ts'

export interface KeyComparison {
  readonly kind: Kind
  readonly column: Column
  readonly operands: readonly Value[]
}

type Kind = (typeof comparisonKinds)[keyof typeof comparisonKinds] | 'match'

export type KeyClause = Clause<KeyComparison>

export function readKeyClause(store: RowStore, filter: Value | undefined): KeyClause {
  const unknown = new Set<string>()
  const clause = readClause<KeyComparison>(filter, {
    read(name, operand) {
      const column = store.columns.get(name)
      if (column !== undefined) return readColumn(store, column, operand)
      if (isOperator(name)) throw unknownOperator(name)
      unknown.add(name)
      return []
    },
    opposite(comparison) {
      if (comparison.kind === 'match') throw matchUnderNot()
      return { ...comparison, kind: opposites[comparison.kind] }
    },
  })
  checkConditionCount(conditionsOf(clause).length, store.limits)
  if (unknown.size > 0)
    throw apiError('UNKNOWN_TABLE_COLUMNS_IN_FILTER', {
      table: store.name,
      columns: labelsOf(store.columns.values()),
      unknown: [...unknown].sort(),
    })
  return clause
}

/** What is said about a column outside of the key does not matter: it is refused. */
function readColumn(
  { key, limits }: RowStore,
  column: Column,
  operand: Value,
): readonly KeyComparison[] {
  if (!key.includes(column)) return [{ kind: 'eq', column, operands: [operand] }]
  const operations =
    isObject(operand) && extendedOf(operand) === undefined
      ? operatorsOf(column.name, operand)
      : ([['$eq', operand]] as const)
  if (operations === undefined) throw unsupportedValue(column, operand)
  return operations.map(([operator, argument]) =>
    readComparison(column, operator, argument, limits),
  )
}

function readComparison(
  column: Column,
  operator: string,
  argument: Value,
  limits: Limits,
): KeyComparison {
  const { name } = column
  switch (operator) {
    case '$eq':
    case '$ne':
      checkScalar(column, argument)
      return { kind: comparisonKinds[operator], column, operands: [argument] }
    case '$gt':
    case '$gte':
    case '$lt':
    case '$lte':
      if (argument === null || Array.isArray(argument) || isPlainObject(argument))
        throw invalidArgument(name, operator, 'a value of the type of its column', argument)
      return { kind: comparisonKinds[operator], column, operands: [argument] }
    case '$in':
    case '$nin': {
      const operands = readChoices(name, operator, argument, limits)
      for (const value of operands) checkScalar(column, value)
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
      throw unknownOperator(operator)
  }
}

/** An array is a value of a vector column only. */
function checkScalar(column: Column, value: Value): void {
  if (value === null || isPlainObject(value)) throw unsupportedValue(column, value)
  if (Array.isArray(value) && column.type.type !== 'vector')
    throw invalid(
      `"${column.name}" cannot be compared with an Array; write {"$in": […]} for one of ` +
        'several values',
    )
}

function isPlainObject(value: Value): boolean {
  return isObject(value) && extendedOf(value) === undefined
}

/** Whether nothing is said, so that every row matches. */
export function isEverything(clause: KeyClause): boolean {
  return clause.kind === 'and' && isJoint(clause) && clause.of.every(isEverything)
}

/** Whether rows can match in more than one way. */
export function hasChoice(clause: KeyClause): boolean {
  if (!isJoint(clause)) return false
  return (clause.kind === 'or' && clause.of.length !== 1) || clause.of.some(hasChoice)
}

function unknownOperator(operator: string) {
  const known = [...Object.keys(comparisonKinds), '$match', '$and', '$or', '$not']
  return apiError('FILTER_UNSUPPORTED_OPERATOR', { operator, known })
}

function unsupportedValue(column: Column, value: Value) {
  return apiError('FILTER_UNSUPPORTED_DATA_TYPE', {
    what: `The value that ${labelOf(column)} is compared with`,
    type: jsonTypeOf(value),
  })
}
