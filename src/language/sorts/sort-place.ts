/** Values of sort keys in positions and page states. */
import { rank, rankOf } from '../values/order.ts'
import type { Value } from '../../json/value.ts'

/**
 * The shortest value that ties with `value` in the sort order. All objects tie, and so do all
 * arrays and all binary values, so a position does not need their content.
 */
export function shortestTied(value: Value | undefined): Value | undefined {
  switch (rankOf(value)) {
    case rank.object:
      return new Map()
    case rank.array:
      return []
    case rank.binary:
      return new Map([['$binary', '']])
    default:
      return value
  }
}

/**
 * Reads a value of a position or a page state of version 0.1, both of which are JSON. An empty list
 * represents an absent value. A list of one element contains the value. A non-finite number is a
 * list of its name and `true`. A forged list is read as an arbitrary value.
 */
export function decodeLegacyValue(held: readonly Value[]): Value | undefined {
  const [value, isNamed] = held
  return isNamed === true && isNotFinite(value) ? Number(value) : value
}

function isNotFinite(name: Value | undefined): boolean {
  return name === 'Infinity' || name === '-Infinity' || name === 'NaN'
}
