/** Values of a sort in positions and page states. */
import { rank, rankOf } from '../values/order.ts'
import type { Value } from '../../json/value.ts'

/**
 * The shortest value with the same place in the sort order. Objects tie with each other, and so do
 * arrays and binary values, so a position does not need their content.
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
 * Reads a value of a position or page state of version 0.1, which are JSON. An absent value is an
 * empty list, and a present value is a list of one. A non-finite number is a list of its name and
 * true. A forged list is read as an arbitrary value.
 */
export function decodeLegacyValue(held: readonly Value[]): Value | undefined {
  const [value, isNamed] = held
  return isNamed === true && isNotFinite(value) ? Number(value) : value
}

function isNotFinite(name: Value | undefined): boolean {
  return name === 'Infinity' || name === '-Infinity' || name === 'NaN'
}
