/**
 * What is said about single columns, in CQL. A term may say less than the condition that it
 * stands for, but never more: all rows that match the condition are found by it.
 *
 * Where the cluster compares otherwise than match-row.ts does, there is no term: addresses in
 * the order of an index, texts with characters that UTF-16 and UTF-8 put in other orders,
 * user-defined values in an index, which tells a missing field from one that is null.
 */
import type { Value } from '../../../json/value.ts'
import { isCollection } from '../../../language/columns/collections.ts'
import type { Column, ColumnValue } from '../../../language/columns/column.ts'
import {
  keyCondition,
  type KeyBound,
  type KeyCondition,
} from '../../../language/columns/key-conditions.ts'
import type { RowComparison, RowCondition } from '../../../language/columns/row-filter.ts'
import { quoteName, type Statement } from '../cluster/statement.ts'
import { bindValue, withoutSign } from '../cql/cql-values.ts'
import { elementTerms } from './element-terms.ts'
import { indexOn, isFloating, isLong, type RowTerm, type TermContext } from './term.ts'

/** Terms that all must hold; undefined: the cluster cannot be asked. */
export function termsOf(
  condition: RowCondition,
  context: TermContext,
): readonly RowTerm[] | undefined {
  const { kind, column } = condition
  if (kind === 'match') return matchTerm(column, condition.text, context)
  if (isCollection(column.type)) return elementTerms(condition, context)
  switch (kind) {
    case 'ne':
    case 'nin':
      return negatedTerms(condition, context)
    case 'all':
    case 'notAll':
      return undefined
    default:
      return valueTerms(column, keyCondition(kind, condition.operands)!, context)
  }
}

/** What is said about a column with a single value that is not found by the key. */
export function valueTerms(
  column: Column,
  { eq, low, high }: KeyCondition,
  context: TermContext,
): readonly RowTerm[] | undefined {
  const index = indexOn(context.table, column, 'value')
  const hasTerms = isAnalyzed(column, context)
  if (hasTerms && index === undefined) return undefined
  if (eq === undefined) return rangeTerms(column, low, high, index !== undefined, context)
  const spelled = eq.flatMap((value) => spellings(column, value))
  if (eq.length === 1 && spelled.length > 1) {
    const bound = { value: eq[0]!, inclusive: true }
    return rangeTerms(column, bound, bound, index !== undefined, context)
  }
  if (index !== undefined && eq.some((value) => isLong(value as Value))) return undefined
  // Only looking up one value takes texts for equal that the index does.
  if (index?.folding !== undefined && eq.length !== 1) return undefined
  const isIndexed = index !== undefined && (eq.length === 1 || context.can.indexedIn)
  const isExact = isExactly(column) && index?.folding === undefined && !hasTerms
  return [{ ...equality(column, spelled, context), isIndexed, isExact }]
}

/** `c = ?`, or `c IN ?` with several values. */
export function equality(
  column: Column,
  values: readonly ColumnValue[],
  { table }: Pick<TermContext, 'table'>,
): Statement {
  const bound = values.map((value) => bindValue(column, value, table.types))
  return bound.length === 1
    ? { text: `${quoteName(column.name)} = ?`, values: bound }
    : { text: `${quoteName(column.name)} IN ?`, values: [bound] }
}

/** Undefined where the cluster has another order. */
export function range(
  column: Column,
  { low, high }: Pick<KeyCondition, 'low' | 'high'>,
  { table }: Pick<TermContext, 'table'>,
): readonly Statement[] | undefined {
  const bounds = [low, high].flatMap((bound) => bound ?? [])
  if (!bounds.every(({ value }) => isInOneOrder(value))) return undefined
  const term = (operator: string, value: ColumnValue) => ({
    text: `${quoteName(column.name)} ${operator} ?`,
    values: [bindValue(column, value, table.types)],
  })
  return [
    // To the cluster -0 is less than 0.
    ...(low
      ? [
          term(
            low.inclusive ? '>=' : '>',
            spellings(column, low.value).at(low.inclusive ? 0 : -1)!,
          ),
        ]
      : []),
    ...(high
      ? [
          term(
            high.inclusive ? '<=' : '<',
            spellings(column, high.value).at(high.inclusive ? -1 : 0)!,
          ),
        ]
      : []),
  ]
}

/**
 * All values that are this one here, in the order in which the cluster tells them apart. None is
 * a text with half of a character, which UTF-8 does not have.
 */
export function spellings({ type }: Column, value: ColumnValue): readonly ColumnValue[] {
  if (typeof value === 'string' && !value.isWellFormed()) return []
  if (type.type === 'vector') return [withoutSign(value)]
  return value === 0 && isFloating(type.type) ? [-0, 0] : [value]
}

/** No row has one, and a cluster does not take the question. */
export function isEmptyKey(value: ColumnValue, columns: number): boolean {
  const isEmpty = value === '' || (value instanceof Map && value.get('$binary') === '')
  return columns === 1 && isEmpty
}

/** Whether a term and match-row.ts always agree on columns of the type. */
export function isExactly({ type }: Column): boolean {
  return !['decimal', 'inet', 'vector', 'userDefined'].includes(type.type)
}

/** Types whose indexes look values up and know no order. */
const unordered: readonly string[] = ['ascii', 'boolean', 'text', 'uuid']

function rangeTerms(
  column: Column,
  low: KeyBound | undefined,
  high: KeyBound | undefined,
  hasIndex: boolean,
  context: TermContext,
): readonly RowTerm[] | undefined {
  if (column.type.type === 'inet') return undefined
  const isIndexed = hasIndex && !unordered.includes(column.type.type)
  return range(column, { ...(low && { low }), ...(high && { high }) }, context)?.map(
    (term) => ({ ...term, isIndexed, isExact: isExactly(column) }),
  )
}

/** Rows of which the column has nothing are found by none of these. */
function negatedTerms(
  { kind, column, operands }: RowComparison,
  context: TermContext,
): readonly RowTerm[] | undefined {
  const { table, can } = context
  if (!can.notEquals || operands.length === 0 || isAnalyzed(column, context))
    return undefined
  const index = indexOn(table, column, 'value')
  const possible = operands.filter((value) => spellings(column, value).length > 0)
  if (possible.length === 0) return undefined
  const bound = possible.map((value) => bindValue(column, value, table.types))
  const isSingle = kind === 'ne'
  return [
    {
      text: `${quoteName(column.name)} ${isSingle ? '!= ?' : 'NOT IN ?'}`,
      values: isSingle ? bound : [bound],
      isIndexed: index !== undefined && !unordered.includes(column.type.type),
      isExact:
        isExactly(column) && !isFloating(column.type.type) && index?.folding === undefined,
    },
  ]
}

function matchTerm(column: Column, text: string, { can }: TermContext) {
  if (!can.indexAnalyzer) return undefined
  const term = `${quoteName(column.name)} : ?`
  return [{ text: term, values: [text], isIndexed: true, isExact: true }]
}

/** Whether an index makes terms of the column's texts, which equality then means. */
function isAnalyzed({ name }: Column, { table, can }: TermContext): boolean {
  const { indexes } = table.definition
  return (
    can.indexAnalyzer &&
    indexes.some(({ kind, column }) => kind === 'text' && column === name)
  )
}

/** From here on UTF-16 has another order than UTF-8. */
const surrogatesFrom = /[\uD800-\uFFFF]/

function isInOneOrder(value: ColumnValue): boolean {
  return typeof value !== 'string' || !surrogatesFrom.test(value)
}
