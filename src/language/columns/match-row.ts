/** What filters of rows mean: engines may answer them in any way that agrees with this. */
import { isObject, type JsonObject, type Value } from '../../json/value.ts'
import { hasTermsIn, matchesInSteps } from '../filters/matches.ts'
import { atOnce, type Steps } from '../../runtime/steps.ts'
import { entriesOf } from './collections.ts'
import { comparableFilter, type ComparableFields } from './comparable-filter.ts'
import {
  comparableParts,
  foldedComparable,
  type ToComparable,
} from './comparable-values.ts'
import type { Column, ColumnPart, ColumnValue } from './column.ts'
import type { RowFilter } from './row-filter.ts'

/** What a filter depends on besides the row. */
export interface RowRules extends Pick<ComparableFields, 'types' | 'folding'> {
  /** The terms of a text, as the column's analyzer makes them. */
  terms(column: Column, text: string): readonly string[]
}

type ValueOf = (column: Column) => ColumnValue | undefined

/** Whether a row matches; the steps to that, where it has long lists, sets or maps. */
export type RowMatcher = (valueOf: ValueOf) => boolean | Steps<boolean>

export function matchesRow(filter: RowFilter, valueOf: ValueOf, rules: RowRules): boolean {
  const answer = rowMatcher(filter, rules)(valueOf)
  return typeof answer === 'boolean' ? answer : atOnce(answer)
}

/** A part of a column that a filter asks about. */
interface AskedPart {
  readonly column: Column
  /** Undefined for a user-defined value, of which nothing can be asked. */
  readonly toComparable: ToComparable | undefined
}

/**
 * Columns are compared by their comparables, under names that tell their parts apart. What
 * the filter asks for is worked out once, for all rows.
 */
export function rowMatcher(filter: RowFilter, rules: RowRules): RowMatcher {
  const asked = new Map<string, AskedPart>()
  const comparables = comparableFilter(filter, {
    types: rules.types,
    folding: (column, part) => rules.folding(column, part),
    path(column, part, folded) {
      const text = fieldOf(column, part, folded)
      if (!asked.has(text)) {
        const toComparable = toComparableOf(column, part, folded, rules)
        asked.set(text, { column, toComparable })
      }
      return { text, segments: [text] }
    },
  })
  const match = (seen: JsonObject, valueOf: ValueOf) => {
    const termsAt = (field: string) => {
      const { column } = asked.get(field)!
      const text = valueOf(column)
      return typeof text === 'string' && text !== '' ? rules.terms(column, text) : undefined
    }
    return matchesInSteps(comparables, seen, hasTermsIn(termsAt))
  }
  return (valueOf) => {
    const seen: JsonObject = new Map()
    let isLong = false
    for (const [field, { column, toComparable }] of asked) {
      const value = valueOf(column)
      if (value === undefined || toComparable === undefined) continue
      if (sizeOf(value) > shortSize) isLong = true
      else seen.set(field, toComparable(value))
    }
    return isLong ? matchLong(seen, valueOf) : match(seen, valueOf)
  }

  function* matchLong(seen: JsonObject, valueOf: ValueOf): Steps<boolean> {
    for (const [field, { column, toComparable }] of asked) {
      const value = valueOf(column)
      if (value === undefined || toComparable === undefined) continue
      if (sizeOf(value) > shortSize)
        seen.set(field, yield* comparableInSteps(value as Value, toComparable))
    }
    const answer = match(seen, valueOf)
    return typeof answer === 'boolean' ? answer : yield* answer
  }
}

/** Elements and entries that are made comparable in one go. */
const shortSize = 500

/** Elements of a list or set, entries of a map. */
function sizeOf(value: ColumnValue): number {
  if (Array.isArray(value)) return value.length
  return value instanceof Map ? value.size : 0
}

/** A part of a list is a list; a part of a map's entries is a map of another form. */
function* comparableInSteps(value: Value, toComparable: ToComparable): Steps<Value> {
  const elements = isObject(value) ? entriesOf(value) : (value as Value[])
  const made: Value[] = []
  for (let from = 0; from < elements.length; from += shortSize) {
    const some = elements.slice(from, from + shortSize) as Value[]
    for (const one of toComparable(some) as Value[]) made.push(one)
    yield
  }
  return made
}

function toComparableOf(
  column: Column,
  part: ColumnPart,
  folded: boolean,
  { types, folding }: RowRules,
): ToComparable | undefined {
  const toComparable = comparableParts(column, types).get(part)
  if (toComparable === undefined || !folded) return toComparable
  return foldedComparable(toComparable, folding(column, part)!)
}

function fieldOf({ name }: Column, part: ColumnPart, folded: boolean): string {
  return `${name} ${part}${folded ? ' folded' : ''}`
}
