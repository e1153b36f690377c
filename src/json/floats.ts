/**
 * Readable floats. Converted to a double, the 32-bit float 0.1 would print as 0.10000000149011612.
 * Clients also infer types from the notation: 1 is an int, 1.0 is a floating-point number.
 */
import type { Numeric, Value } from './value.ts'

/**
 * Number of decimal digits that every 32-bit float preserves, and number of digits that identify
 * any 32-bit float.
 */
const digitsMin = 6
const digitsMax = 9

/** The double with the fewest digits that is nearer to this float than to any other float. */
export function shortestFloat(float: number): number {
  for (let digits = digitsMin; digits < digitsMax; digits++) {
    const short = Number(float.toPrecision(digits))
    if (Math.fround(short) === float) return short
  }
  return Number(float.toPrecision(digitsMax))
}

/** The least float that `shortestFloat` shows as this number or more; for numbers from 0 to 1. */
export function leastFloatShownAs(number: number): number {
  const float = Math.fround(number)
  return shortestFloat(float) < number ? nextFloat(float) : float
}

/** The next greater float. From 0 upwards, the bits of floats have the order of the floats. */
function nextFloat(float: number): number {
  const floats = Float32Array.of(float)
  const bits = new Uint32Array(floats.buffer)
  bits[0]! += 1
  return floats[0]!
}

/** Least number that String prints with an exponent, so that it is recognized as floating-point. */
const exponentFrom = 1e21

/**
 * A finite double that prints as a floating-point number even when it is whole. Use it for printing
 * only: it is not the canonical form of its value.
 */
export function asFloating(double: number): Numeric {
  if (!Number.isInteger(double) || Math.abs(double) >= exponentFrom) return double
  return { decimal: `${double}.0` }
}

/**
 * Components of a vector for printing. NaN and infinities become strings, because JSON has no
 * notation for them.
 */
export function asFloats(floats: Float32Array): Value[] {
  return mapFloats(floats, (float) =>
    Number.isFinite(float) ? asFloating(shortestFloat(float)) : String(float),
  )
}

/** A faster Array.from with a mapping function. */
export function mapFloats<T>(
  floats: Float32Array | Float64Array,
  make: (float: number) => T,
): T[] {
  const made = new Array<T>(floats.length)
  for (let i = 0; i < floats.length; i++) made[i] = make(floats[i]!)
  return made
}
