/** Filters on rows, parsed: what is said about columns, in comparables. */
import type { ColumnPart } from '../../language/columns/column-path.ts'
import type { Column } from '../../engine/schema.ts'
import type { Value } from '../../json/value.ts'
import type { Clause } from '../../language/filters/filter-clause.ts'
import type { ConditionKind } from '../column-clause.ts'

export interface RowCondition {
  readonly kind: ConditionKind
  readonly column: Column
  /** Of a map its entries (`value`), keys or values; of anything else its value. */
  readonly part: ColumnPart
  /** One, or several for in, nin, all and notAll: comparables; of match its terms. */
  readonly operands: readonly Value[]
}

export type RangeKind = 'gt' | 'gte' | 'lt' | 'lte'

export type RowClause = Clause<RowCondition>

export function isRange(kind: ConditionKind): kind is RangeKind {
  return kind === 'gt' || kind === 'gte' || kind === 'lt' || kind === 'lte'
}

/** The columns that conditions are about, each once. */
export function columnsOf(conditions: readonly RowCondition[]): Column[] {
  return [...new Set(conditions.map(({ column }) => column))]
}
