/** Values of a sort as positions and page states hold them. */
import { rank, rankOf } from '../values/order.ts'
import type { Value } from '../../json/value.ts'

/**
 * The shortest value that stands where this one does: objects tie in a sort, and so do arrays
 * and binary values, so nothing of what is in them has to be held.
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
 * A value of a position or page state of version 0.1, which are JSON: an absent value is an
 * empty list, a present one a list of one; a number that is not finite is a list of two, its
 * name and true. Lists that were never made are read as some value or other.
 */
export function heldValue(held: readonly Value[]): Value | undefined {
  const [value, isNamed] = held
  return isNamed === true && isNotFinite(value) ? Number(value) : value
}

function isNotFinite(name: Value | undefined): boolean {
  return name === 'Infinity' || name === '-Infinity' || name === 'NaN'
}
