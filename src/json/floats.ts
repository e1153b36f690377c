/**
 * Floats of 32 bits as people expect to read them. Widened to a double, 0.1 would be shown as
 * 0.10000000149011612: digits that say nothing.
 */

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
