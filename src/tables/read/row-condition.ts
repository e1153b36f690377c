/** Conditions on columns whose operands are not converted yet. */
import type { Column, ColumnPart } from '../../language/columns/column.ts'
import type { Value } from '../../json/value.ts'
import type { ConditionKind } from '../column-clause.ts'

export interface WrittenCondition {
  readonly kind: ConditionKind
  readonly column: Column
  readonly part: ColumnPart
  readonly operands: readonly Value[]
}

/** Distinct columns of the conditions. */
export function columnsOf(conditions: readonly { readonly column: Column }[]): Column[] {
  return [...new Set(conditions.map(({ column }) => column))]
}
