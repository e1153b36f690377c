/** Filters and sorts of rows, parsed: what is said about columns, in values of their types. */
import type { Value } from '../../json/value.ts'
import type { Clause, comparisonKinds } from '../filters/filter-clause.ts'
import type { Column, ColumnPart } from './column.ts'

/** There is no "not": parsing pushes it down to the conditions. */
export type RowFilter = Clause<RowCondition>

export type RowCondition = RowComparison | RowMatch

export interface RowComparison {
  readonly kind: ComparisonKind
  readonly column: Column
  readonly part: ColumnPart
  /**
   * One, or several for in, nin, all and notAll. Of a list or set they are elements, of a map
   * keys, values, or pairs of both.
   */
  readonly operands: readonly Value[]
}

/** Has a text with all of these terms, which the column's analyzer made of `text`. */
export interface RowMatch {
  readonly kind: 'match'
  readonly column: Column
  readonly part: 'value'
  readonly text: string
  readonly terms: readonly string[]
}

export type ScalarKind = (typeof comparisonKinds)[keyof typeof comparisonKinds]

/** The last two are for columns that hold several values. */
export type ComparisonKind = ScalarKind | 'all' | 'notAll'

export type RangeKind = 'gt' | 'gte' | 'lt' | 'lte'

export function isRange(kind: RowCondition['kind']): kind is RangeKind {
  return kind === 'gt' || kind === 'gte' || kind === 'lt' || kind === 'lte'
}

export interface RowSortKey {
  readonly column: Column
  readonly direction: 1 | -1
}
