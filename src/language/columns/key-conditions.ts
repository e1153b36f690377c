/** Conditions on the columns of a primary key: equality and bounds. */
import type { Value } from '../../json/value.ts'
import { isLogical, requirementsOf } from '../filters/filter-clause.ts'
import { compareValues } from '../values/order.ts'
import type { Column, ColumnValue } from './column.ts'
import type { UserTypes } from './column-type.ts'
import { comparableScalar } from './comparable-values.ts'
import type { ComparisonKind, RowCondition, RowFilter } from './row-filter.ts'

export interface KeyCondition {
  /** The column equals one of these values. */
  readonly eq?: readonly ColumnValue[]
  readonly low?: KeyBound
  readonly high?: KeyBound
}

export interface KeyBound {
  readonly value: ColumnValue
  readonly inclusive: boolean
}

/** Conditions on key columns, by column name. */
export type KeyConditions = ReadonlyMap<string, KeyCondition>

/** Converts a comparison; undefined if it is neither equality nor a bound. */
export function keyCondition(
  kind: RowCondition['kind'],
  values: readonly ColumnValue[],
): KeyCondition | undefined {
  const value = values[0]!
  switch (kind) {
    case 'eq':
    case 'in':
      return { eq: values }
    case 'gt':
    case 'gte':
      return { low: { value, inclusive: kind === 'gte' } }
    case 'lt':
    case 'lte':
      return { high: { value, inclusive: kind === 'lte' } }
    case 'ne':
    case 'nin':
    case 'all':
    case 'notAll':
    case 'match':
      return undefined
  }
}

/** Conditions on key columns that every row must satisfy to match the filter. */
export function keyConditionsIn(
  filter: RowFilter,
  key: readonly Column[],
  types: UserTypes,
): KeyConditions {
  const conditions = new Map<string, KeyCondition>()
  for (const part of requirementsOf(filter)) {
    if (isLogical(part) || part.kind === 'match') continue
    const { column } = part
    if (!key.some(({ name }) => name === column.name)) continue
    const condition = keyCondition(part.kind, part.operands)
    if (condition !== undefined) addCondition(conditions, column, condition, types)
  }
  return conditions
}

/** The filter that matches the rows whose key satisfies the conditions. */
export function keyFilter(conditions: KeyConditions, key: readonly Column[]): RowFilter {
  const of = key.flatMap((column): RowCondition[] => {
    const { eq, low, high } = conditions.get(column.name) ?? {}
    const said = (kind: ComparisonKind, operands: readonly ColumnValue[]) =>
      ({ kind, column, part: 'value', operands: operands as Value[] }) as const
    return [
      ...(eq ? [said('in', eq)] : []),
      ...(low ? [said(low.inclusive ? 'gte' : 'gt', [low.value])] : []),
      ...(high ? [said(high.inclusive ? 'lte' : 'lt', [high.value])] : []),
    ]
  })
  return { kind: 'and', of }
}

/** Adds a condition on a column. If the column has a condition already, both must hold. */
export function addCondition(
  conditions: Map<string, KeyCondition>,
  column: Column,
  condition: KeyCondition,
  types: UserTypes,
): void {
  const before = conditions.get(column.name)
  const both =
    before === undefined ? condition : intersect(before, condition, column, types)
  conditions.set(column.name, both)
}

/**
 * Conjunction of two conditions. If one of them has `eq`, the result has only `eq`: the values that
 * satisfy both conditions.
 */
function intersect(
  a: KeyCondition,
  b: KeyCondition,
  column: Column,
  types: UserTypes,
): KeyCondition {
  const toComparable = comparableScalar(column, types)
  const compare = (one: ColumnValue, other: ColumnValue) =>
    compareValues(toComparable(one), toComparable(other))
  /** The tighter of two bounds. `side` is 1 for lower bounds, -1 for upper bounds. */
  const tighter = (
    one: KeyBound | undefined,
    other: KeyBound | undefined,
    side: 1 | -1,
  ) => {
    if (one === undefined || other === undefined) return one ?? other
    const order = compare(one.value, other.value) * side
    return order > 0 || (order === 0 && !one.inclusive) ? one : other
  }
  const isWithin = (value: ColumnValue, bound: KeyBound | undefined, side: 1 | -1) => {
    if (bound === undefined) return true
    const order = compare(value, bound.value) * side
    return order > 0 || (order === 0 && bound.inclusive)
  }
  const low = tighter(a.low, b.low, 1)
  const high = tighter(a.high, b.high, -1)
  if (a.eq === undefined && b.eq === undefined)
    return { ...(low && { low }), ...(high && { high }) }
  const others = b.eq ?? a.eq!
  const left = (a.eq ?? b.eq!).filter(
    (value) =>
      others.some((other) => compare(value, other) === 0) &&
      isWithin(value, low, 1) &&
      isWithin(value, high, -1),
  )
  return { eq: left }
}
