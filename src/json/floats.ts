/**
 * Floats as people and clients expect to read them. Widened to a double, a float of 0.1 would
 * be shown as 0.10000000149011612: digits that say nothing. And clients tell integers from
 * floating-point numbers by their spelling: 1 is an int to them, 1.0 is not.
 */
import type { Numeric, Value } from './value.ts'

/** Digits that any decimal survives in a float, and digits that tell all floats apart. */
const digitsMin = 6
const digitsMax = 9

/** A double with few digits that is nearer to this float than to any other. */
export function shortestFloat(float: number): number {
  for (let digits = digitsMin; digits < digitsMax; digits++) {
    const short = Number(float.toPrecision(digits))
    if (Math.fround(short) === float) return short
  }
  return Number(float.toPrecision(digitsMax))
}

/** From here on String writes an exponent, which only floating-point numbers have. */
const exponentFrom = 1e21

/**
 * A finite double that prints as a floating-point number also if it is whole. Only good for
 * printing: it is not the canonical form of its value.
 */
export function asFloating(double: number): Numeric {
  if (!Number.isInteger(double) || Math.abs(double) >= exponentFrom) return double
  return { decimal: `${double}.0` }
}

/** Components of a vector for printing; NaN and infinities, which JSON lacks, as strings. */
export function asFloats(floats: Float32Array): Value[] {
  return mapFloats(floats, (float) =>
    Number.isFinite(float) ? asFloating(shortestFloat(float)) : String(float),
  )
}

/** As Array.from does it, which takes several times as long. */
export function mapFloats<T>(
  floats: Float32Array | Float64Array,
  make: (float: number) => T,
): T[] {
  const made = new Array<T>(floats.length)
  for (let i = 0; i < floats.length; i++) made[i] = make(floats[i]!)
  return made
}
