/**
 * Parses the structure of filters of updates and deletes: comparisons whose operands are
 * not converted yet. which-rows.ts converts them to keys.
 */
import type { Column } from '../../engine/schema.ts'
import type { Value } from '../../json/value.ts'
import { isLogical, type Clause } from '../../language/filters/filter-clause.ts'
import {
  checkScalar,
  comparedWithArray,
  comparisonOperators,
  readColumnClause,
  readComparisons,
  unknownOperator,
  type ColumnComparison,
} from '../column-clause.ts'
import type { RowStore } from '../row-store.ts'

export type KeyClause = Clause<ColumnComparison>

export function readKeyClause(store: RowStore, filter: Value | undefined): KeyClause {
  const { key, limits } = store
  const rules = {
    limits,
    checkValue,
    refuse: (_: Column, operator: string) => unknownOperator(operator, operators),
  }
  return readColumnClause<ColumnComparison>(filter, store, {
    operators,
    // Conditions on other columns are not parsed, because the caller rejects these columns.
    read: (column, operand) =>
      key.includes(column)
        ? readComparisons(column, operand, rules)
        : [{ kind: 'eq', column, operands: [operand] }],
  })
}

const operators = [...comparisonOperators, '$and', '$or', '$not']

/** Rejects a value that no key column can have. Only a vector column has arrays as values. */
function checkValue(column: Column, value: Value): void {
  checkScalar(column, value)
  if (Array.isArray(value) && column.type.type !== 'vector') throw comparedWithArray(column)
}

/** Whether the filter is empty, so that every row matches. */
export function isEverything(clause: KeyClause): boolean {
  return clause.kind === 'and' && isLogical(clause) && clause.of.every(isEverything)
}

/** Whether the filter contains an OR with several operands or with none. */
export function hasChoice(clause: KeyClause): boolean {
  if (!isLogical(clause)) return false
  return (clause.kind === 'or' && clause.of.length !== 1) || clause.of.some(hasChoice)
}
