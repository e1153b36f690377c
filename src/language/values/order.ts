/**
 * The order of values: by type, then within the type.
 *
 * A UUID or ObjectId sorts among strings by its lower-case text. All objects tie, and so do all
 * arrays and all binary values; the _id then decides.
 */
import { compareNumeric } from '../../json/decimal.ts'
import { extendedOf } from '../../json/extended.ts'
import { isObject, type JsonObject, type Numeric, type Value } from '../../json/value.ts'
import type { Pace } from '../../runtime/steps.ts'
import type { SortKey } from './sort-key.ts'
import { valueAt } from './value-at.ts'

/** Compares documents by the sort keys, then by _id. */
export function compareBy(
  keys: readonly SortKey[],
): (a: JsonObject, b: JsonObject) => number {
  return (a, b) => {
    for (const { path, direction } of keys) {
      const order = compareValues(valueAt(a, path), valueAt(b, path))
      if (order !== 0) return order * direction
    }
    return compareValues(a.get('_id'), b.get('_id'))
  }
}

/**
 * Compares two lists value by value, each position in its direction. Adds the cost to `pace`,
 * because lists and texts may be long.
 */
export function compareLists(
  a: readonly (Value | undefined)[],
  b: readonly (Value | undefined)[],
  directions: readonly (1 | -1)[],
  pace: Pace,
): number {
  let order = 0
  let at = 0
  for (; order === 0 && at < directions.length; at++) {
    const value = a[at]
    order = compareValues(value, b[at]) * directions[at]!
    if (typeof value === 'string') pace.spend(value.length / charactersPerValue)
  }
  pace.spend(at)
  return order
}

/** Characters that can be compared in the time of comparing two numbers. */
const charactersPerValue = 1_000

/** Negative, zero or positive if `a` sorts before, with or after `b`. */
export function compareValues(a: Value | undefined, b: Value | undefined): number {
  const type = rankOf(a)
  const order = type - rankOf(b)
  if (order !== 0) return order
  switch (type) {
    case rank.number:
      return compareNumeric(a as Numeric, b as Numeric)
    case rank.string:
      return compareNatively(textOf(a!), textOf(b!))
    case rank.boolean:
      return Number(a) - Number(b)
    case rank.date:
      return compareNatively(dateOf(a!), dateOf(b!))
    case rank.missing:
    case rank.null:
    case rank.object:
    case rank.array:
    case rank.binary:
      return 0
  }
}

/** Types in ascending order. */
export const rank = {
  missing: 0,
  null: 1,
  number: 2,
  string: 3,
  boolean: 4,
  date: 5,
  object: 6,
  array: 7,
  binary: 8,
} as const

export type Rank = (typeof rank)[keyof typeof rank]

export function rankOf(value: Value | undefined): Rank {
  if (value === undefined) return rank.missing
  if (value === null) return rank.null
  switch (typeof value) {
    case 'number':
      return rank.number
    case 'string':
      return rank.string
    case 'boolean':
      return rank.boolean
    default:
      if (Array.isArray(value)) return rank.array
      return isObject(value) ? rankOfObject(value) : rank.number
  }
}

function rankOfObject(value: JsonObject): Rank {
  const extended = extendedOf(value)
  switch (extended?.kind) {
    case 'date':
      return rank.date
    case 'uuid':
    case 'objectId':
      return rank.string
    case 'binary':
      return rank.binary
    case 'malformed':
    case undefined:
      return rank.object
  }
}

function textOf(value: Value): string {
  if (typeof value === 'string') return value
  return (extendedOf(value) as { text: string }).text
}

function dateOf(value: Value): number {
  return (extendedOf(value) as { ms: number }).ms
}

/** Compares two strings by UTF-16 code units, or two numbers by value. */
function compareNatively<T extends string | number>(a: T, b: T): number {
  return a < b ? -1 : a > b ? 1 : 0
}
