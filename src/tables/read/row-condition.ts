/** Conditions on columns whose operands are as they were written. */
import type { Column, ColumnPart } from '../../language/columns/column.ts'
import type { Value } from '../../json/value.ts'
import type { ConditionKind } from '../column-clause.ts'

export interface WrittenCondition {
  readonly kind: ConditionKind
  readonly column: Column
  readonly part: ColumnPart
  readonly operands: readonly Value[]
}

/** The columns that conditions are about, each once. */
export function columnsOf(conditions: readonly { readonly column: Column }[]): Column[] {
  return [...new Set(conditions.map(({ column }) => column))]
}
