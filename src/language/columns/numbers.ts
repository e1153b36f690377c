/** Integers, decimals and floating-point numbers. */
import {
  compareNumeric,
  decimalParts,
  printNumeric,
  readNumeral,
} from '../../json/decimal.ts'
import { shortestFloat } from '../../json/floats.ts'
import { isDecimal, type Numeric, type Value } from '../../json/value.ts'
import { fixedLimits } from '../../limits.ts'

const { varintDigitsMax } = fixedLimits

interface WholeNumbers {
  readonly takes: string
  readonly read: (value: Value) => Numeric | undefined
}

/** Signed integers of `bits` bits. */
export function wholeNumbers(bits: bigint): WholeNumbers {
  const least = -(2n ** (bits - 1n))
  const greatest = 2n ** (bits - 1n) - 1n
  const min = readNumeral(String(least))
  const max = readNumeral(String(greatest))
  return {
    takes: `a whole number from ${least} to ${greatest}`,
    read: (value) => {
      const whole = readWhole(value)
      if (whole === undefined) return undefined
      const fits = compareNumeric(whole, min) >= 0 && compareNumeric(whole, max) <= 0
      return fits ? whole : undefined
    },
  }
}

/** Integers of arbitrary size. */
export const largeWholeNumbers: WholeNumbers = {
  takes: `a whole number of at most ${varintDigitsMax} digits`,
  read: (value) => {
    const whole = readWhole(value)
    if (whole === undefined || decimalParts(whole).exponent > varintDigitsMax)
      return undefined
    return whole
  },
}

function readWhole(value: Value): Numeric | undefined {
  // Adding 0 turns -0 into 0, also in the functions below.
  if (typeof value === 'number') return Number.isInteger(value) ? value + 0 : undefined
  if (!isDecimal(value)) return undefined
  const { digits, exponent } = decimalParts(value)
  return exponent >= digits.length ? value : undefined
}

/** An integer with all of its digits instead of an exponent, for printing only. */
export function writeOut(whole: Numeric): Numeric {
  if (!printNumeric(whole).includes('e')) return whole
  const { sign, digits, exponent } = decimalParts(whole)
  return { decimal: (sign < 0 ? '-' : '') + digits.padEnd(exponent, '0') }
}

export function readDecimal(value: Value): Numeric | undefined {
  if (typeof value === 'number') return value + 0
  return isDecimal(value) ? value : undefined
}

/** Infinities: JSON cannot represent them, so rows store their names. */
const namedDoubles: ReadonlyMap<Value, number> = new Map([
  ['Infinity', Infinity],
  ['-Infinity', -Infinity],
])

const notANumber = 'NaN'

export function readDouble(value: Value): number | string | undefined {
  if (typeof value === 'string')
    return value === notANumber || namedDoubles.has(value) ? value : undefined
  if (typeof value === 'number') return storedDouble(value)
  return isDecimal(value) ? storedDouble(Number(value.decimal)) : undefined
}

export function readFloat(value: Value): number | string | undefined {
  const double = readDouble(value)
  if (typeof double !== 'number') return double
  const float = Math.fround(double)
  return storedDouble(Number.isFinite(float) ? shortestFloat(float) : float)
}

function storedDouble(double: number): number | string {
  return Number.isFinite(double) ? double + 0 : String(double)
}

/**
 * Comparable form of a floating-point number. NaN stays a string, so it equals itself and sorts
 * after all numbers.
 */
export function comparableDouble(stored: Value): Value {
  return namedDoubles.get(stored) ?? stored
}
