/** Reference semantics of filters on rows. Engines must return the same results. */
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

/** Properties of the table on which the meaning of a filter depends. */
export interface RowRules extends Pick<ComparableFields, 'types' | 'folding'> {
  /** The terms of a text according to the column's analyzer. */
  terms(column: Column, text: string): readonly string[]
}

type ValueOf = (column: Column) => ColumnValue | undefined

/** Tests whether a row matches. Returns steps if the row has long collections. */
export type RowMatcher = (valueOf: ValueOf) => boolean | Steps<boolean>

export function matchesRow(filter: RowFilter, valueOf: ValueOf, rules: RowRules): boolean {
  const answer = rowMatcher(filter, rules)(valueOf)
  return typeof answer === 'boolean' ? answer : atOnce(answer)
}

/** A part of a column that the filter compares. */
interface AskedPart {
  readonly column: Column
  /** Undefined for user-defined values, which filters cannot compare. */
  readonly toComparable: ToComparable | undefined
}

/**
 * Compiles the filter once for all rows. The compiled filter compares fields that contain the
 * comparable forms of column parts.
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

/** Maximum elements or entries of a collection that is converted in one step. */
const shortSize = 500

/** Elements of a list or set, entries of a map; 0 for other values. */
function sizeOf(value: ColumnValue): number {
  if (Array.isArray(value)) return value.length
  return value instanceof Map ? value.size : 0
}

/**
 * Converts a collection in slices. A slice of a map is a list of pairs, which is the other form of
 * a map.
 */
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
