/**
 * Values of a sort as JSON, for positions and page states: columns hold numbers that JSON has
 * no numerals for. An absent value is an empty list, a present one a list of one; a number
 * that is not finite is a list of two, its name and true.
 */
import type { Value } from '../../json/value.ts'

export function holdValue(value: Value | undefined): Value[] {
  if (value === undefined) return []
  return typeof value === 'number' && !Number.isFinite(value)
    ? [String(value), true]
    : [value]
}

/** What was held. Lists that were never made here are read as some value or other. */
export function heldValue(held: readonly Value[]): Value | undefined {
  const [value, isNamed] = held
  return isNamed === true && isNotFinite(value) ? Number(value) : value
}

function isNotFinite(name: Value | undefined): boolean {
  return name === 'Infinity' || name === '-Infinity' || name === 'NaN'
}
