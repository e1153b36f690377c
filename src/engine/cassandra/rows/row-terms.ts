/**
 * Terms in CQL for conditions on single columns. A condition implies its terms, so they find every
 * row that matches; they may also find other rows.
 *
 * No term exists where the cluster compares differently from match-row.ts: ranges of IP addresses,
 * ranges of texts that UTF-16 and UTF-8 order differently, and user-defined values in an index,
 * where a missing field differs from null.
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

/** Terms that must all hold; undefined: the cluster cannot serve the condition. */
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

/** Terms for a single-valued column that the key terms do not include. */
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
  // Cassandra applies the index's folding only to an equality with one value.
  if (index?.folding !== undefined && eq.length !== 1) return undefined
  const isIndexed = index !== undefined && (eq.length === 1 || context.can.indexedIn)
  const isExact = isExactly(column) && index?.folding === undefined && !hasTerms
  return [{ ...equality(column, spelled, context), isIndexed, isExact }]
}

/** Term for equality with one of the values: `c = ?`, or `c IN ?` for several values. */
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

/** Terms for a range; undefined where the cluster orders the bounds differently. */
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
    // The first or last spelling is the bound: in Cassandra, -0 is less than 0.
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
 * All stored values that count as equal to the value, in Cassandra's order. Empty for a text with a
 * lone surrogate, which UTF-8 cannot encode.
 */
export function spellings({ type }: Column, value: ColumnValue): readonly ColumnValue[] {
  if (typeof value === 'string' && !value.isWellFormed()) return []
  if (type.type === 'vector') return [withoutSign(value)]
  return value === 0 && isFloating(type.type) ? [-0, 0] : [value]
}

/** Whether a partition key is empty: no row has such a key, and Cassandra rejects the query. */
export function isEmptyKey(value: ColumnValue, columns: number): boolean {
  const isEmpty = value === '' || (value instanceof Map && value.get('$binary') === '')
  return columns === 1 && isEmpty
}

/** Whether terms and match-row.ts always agree for the column's type. */
export function isExactly({ type }: Column): boolean {
  return !['decimal', 'inet', 'vector', 'userDefined'].includes(type.type)
}

/** Types whose indexes serve equality only. */
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

/** Terms for a negated condition. They do not find rows without a value in the column. */
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

/** Whether the cluster analyzes texts of the column, so that equality compares terms. */
function isAnalyzed({ name }: Column, { table, can }: TermContext): boolean {
  const { indexes } = table.definition
  return (
    can.indexAnalyzer &&
    indexes.some(({ kind, column }) => kind === 'text' && column === name)
  )
}

/**
 * Code units from the first surrogate on. UTF-16 and UTF-8 can order texts with such code units
 * differently.
 */
const surrogatesFrom = /[\uD800-\uFFFF]/

function isInOneOrder(value: ColumnValue): boolean {
  return typeof value !== 'string' || !surrogatesFrom.test(value)
}
