/** Parsed filters and sorts of rows, with operands in the stored form of their types. */
import type { Value } from '../../json/value.ts'
import type { Clause, comparisonKinds } from '../filters/filter-clause.ts'
import type { Column, ColumnPart } from './column.ts'

/**
 * A filter on rows. It contains no negation: the parser pushes negations down to the conditions.
 */
export type RowFilter = Clause<RowCondition>

export type RowCondition = RowComparison | RowMatch

export interface RowComparison {
  readonly kind: ComparisonKind
  readonly column: Column
  readonly part: ColumnPart
  /**
   * One operand; `in`, `nin`, `all` and `notAll` have any number of operands. For a list or set,
   * operands are elements; for a map they are keys, values, or pairs of both.
   */
  readonly operands: readonly Value[]
}

/**
 * Condition that the text of a column contains all terms. The column's analyzer produced the terms
 * from `text`.
 */
export interface RowMatch {
  readonly kind: 'match'
  readonly column: Column
  readonly part: 'value'
  readonly text: string
  readonly terms: readonly string[]
}

export type ScalarKind = (typeof comparisonKinds)[keyof typeof comparisonKinds]

/** `all` and `notAll` apply to collections only. */
export type ComparisonKind = ScalarKind | 'all' | 'notAll'

export type RangeKind = 'gt' | 'gte' | 'lt' | 'lte'

export function isRange(kind: RowCondition['kind']): kind is RangeKind {
  return kind === 'gt' || kind === 'gte' || kind === 'lt' || kind === 'lte'
}

export interface RowSortKey {
  readonly column: Column
  readonly direction: 1 | -1
}
