/** What filters of rows mean: engines may answer them in any way that agrees with this. */
import type { Value } from '../../json/value.ts'
import { conditionsOf } from '../filters/filter-clause.ts'
import { matches } from '../filters/matches.ts'
import { comparableFilter, type ComparableFields } from './comparable-filter.ts'
import { comparableParts, foldedComparable } from './comparable-values.ts'
import type { Column, ColumnPart, ColumnValue } from './column.ts'
import type { RowFilter } from './row-filter.ts'

/** What a filter depends on besides the row. */
export interface RowRules extends Pick<ComparableFields, 'types' | 'folding'> {
  /** The terms of a text, as the column's analyzer makes them. */
  terms(column: Column, text: string): readonly string[]
}

/** Columns are compared by their comparables, under names that tell their parts apart. */
export function matchesRow(
  filter: RowFilter,
  valueOf: (column: Column) => ColumnValue | undefined,
  rules: RowRules,
): boolean {
  const fields: ComparableFields = {
    types: rules.types,
    folding: (column, part) => rules.folding(column, part),
    path(column, part, folded) {
      const text = fieldOf(column, part, folded)
      return { text, segments: [text] }
    },
  }
  const columns = new Map<string, Column>()
  const seen = new Map<string, Value>()
  for (const { column } of conditionsOf(filter)) {
    columns.set(fieldOf(column, 'value', false), column)
    const value = valueOf(column)
    if (value === undefined) continue
    for (const [part, toComparable] of comparableParts(column, rules.types)) {
      seen.set(fieldOf(column, part, false), toComparable(value))
      const folding = rules.folding(column, part)
      if (folding === undefined) continue
      const folded = foldedComparable(toComparable, folding)
      seen.set(fieldOf(column, part, true), folded(value))
    }
  }
  return matches(comparableFilter(filter, fields), seen, (terms, field) => {
    const column = columns.get(field)!
    const text = valueOf(column)
    if (typeof text !== 'string' || text === '') return false
    const own = new Set(rules.terms(column, text))
    return terms.every((term) => own.has(term))
  })
}

function fieldOf({ name }: Column, part: ColumnPart, folded: boolean): string {
  return `${name} ${part}${folded ? ' folded' : ''}`
}
