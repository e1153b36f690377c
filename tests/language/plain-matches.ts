/**
 * The meaning of filters, condition by condition and value by value, without regard to speed. Tests
 * and models use it as the oracle for `matches`.
 */
import { equalValues } from '../../src/json/equal.ts'
import type { JsonObject, Value } from '../../src/json/value.ts'
import type { Comparison, Filter } from '../../src/language/filters/filter.ts'
import type { HasTerms } from '../../src/language/filters/matches.ts'
import { compareValues, rank, rankOf, type Rank } from '../../src/language/values/order.ts'
import { valueAt } from '../../src/language/values/value-at.ts'

export function plainMatches(
  filter: Filter,
  document: JsonObject,
  hasTerms: HasTerms = cannotTell,
): boolean {
  switch (filter.kind) {
    case 'and':
      return filter.of.every((part) => plainMatches(part, document, hasTerms))
    case 'or':
      return filter.of.some((part) => plainMatches(part, document, hasTerms))
    case 'match':
      return hasTerms(filter.terms, filter.path.text)
    default:
      return holds(filter, document)
  }
}

function cannotTell(): never {
  throw new Error('a filter with $match needs the terms of a text')
}

function holds(
  filter: Exclude<Comparison, { kind: 'match' }>,
  document: JsonObject,
): boolean {
  const stored = valueAt(document, filter.path)
  switch (filter.kind) {
    case 'eq':
      return equals(stored, filter.value)
    case 'ne':
      return !equals(stored, filter.value)
    case 'gt':
      return areOrdered(stored, filter.value) && compareValues(stored, filter.value) > 0
    case 'gte':
      return areOrdered(stored, filter.value) && compareValues(stored, filter.value) >= 0
    case 'lt':
      return areOrdered(stored, filter.value) && compareValues(stored, filter.value) < 0
    case 'lte':
      return areOrdered(stored, filter.value) && compareValues(stored, filter.value) <= 0
    case 'in':
      return isAmong(stored, filter.values)
    case 'nin':
      return !isAmong(stored, filter.values)
    case 'all':
      return holdsAll(stored, filter.values)
    case 'notAll':
      return !holdsAll(stored, filter.values)
    case 'size':
      return Array.isArray(stored) && stored.length === filter.size
    case 'notSize':
      return !(Array.isArray(stored) && stored.length === filter.size)
    case 'exists':
      return (stored !== undefined) === filter.exists
  }
}

/**
 * Whether a stored value matches the operand of $eq. A stored array also matches if one of its
 * elements equals a scalar operand other than null.
 */
function equals(stored: Value | undefined, value: Value): boolean {
  if (stored === undefined) return false
  if (Array.isArray(stored) && value !== null && isScalar(rankOf(value)))
    return stored.some((element) => areSame(element, value))
  return areSame(stored, value)
}

/**
 * Whether a stored value matches one of the operands of $in. In contrast to `equals`, an array that
 * contains null matches null.
 */
function isAmong(stored: Value | undefined, values: readonly Value[]): boolean {
  const hasNull = Array.isArray(stored) && stored.includes(null)
  return values.some((value) => equals(stored, value) || (value === null && hasNull))
}

/**
 * Whether a stored value contains all operands of $all. A stored scalar counts as an array with one
 * element.
 */
function holdsAll(stored: Value | undefined, values: readonly Value[]): boolean {
  if (Array.isArray(stored))
    return values.every((value) => stored.some((element) => areSame(element, value)))
  if (stored === undefined || !isScalar(rankOf(stored))) return false
  return values.every((value) => areSame(stored, value))
}

/**
 * Whether two values are equal as a whole. A binary value never equals any value, not even itself.
 */
function areSame(a: Value, b: Value): boolean {
  const type = rankOf(a)
  if (type !== rankOf(b) || type === rank.binary) return false
  return isScalar(type) ? compareValues(a, b) === 0 : equalValues(a, b)
}

/** Whether one of two values can be less than the other: both must be of the same ordered type. */
function areOrdered(a: Value | undefined, b: Value): boolean {
  const type = rankOf(a)
  return type === rankOf(b) && type !== rank.null && isScalar(type)
}

function isScalar(type: Rank): boolean {
  return type >= rank.null && type <= rank.date
}
