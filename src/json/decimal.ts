/**
 * Numbers that keep every digit.
 *
 * A double represents the decimal value of its shortest text, which String prints: 0.1 is one
 * tenth, not the nearest binary fraction. A numeral becomes a double if a double represents its
 * value, and a Decimal otherwise. So each value has exactly one form. Arithmetic is decimal, as
 * people expect: 0.1 + 0.2 is 0.3.
 *
 * Exponents are handled as numbers. Digits are expanded with zeros only if the result is short, so
 * 1e999999999 costs no more than 1.
 */
import assert from 'node:assert/strict'
import { fixedLimits } from '../limits.ts'
import type { Numeric } from './value.ts'

const { exponentMax } = fixedLimits

/** A value as sign × 0.DIGITS × 10^exponent. Zero has no digits and exponent 0. */
export interface DecimalParts {
  readonly sign: -1 | 0 | 1
  /** Significant digits, without zeros at either end. */
  readonly digits: string
  readonly exponent: number
}

/**
 * Reads a valid JSON numeral. Throws a RangeError when its exponent is beyond `exponentMax`.
 */
export function readNumeral(text: string): Numeric {
  const double = Number(text)
  if (String(double) === text) return double
  const parts = partsOfText(text)
  if (Math.abs(parts.exponent - 1) > exponentMax)
    throw new RangeError(`the exponent is beyond ±${exponentMax}`)
  return numericOfParts(parts)
}

/** The number as canonical JSON: equal numbers have equal texts. */
export function printNumeric(numeric: Numeric): string {
  return typeof numeric === 'number' ? String(numeric) : numeric.decimal
}

/** Negative, zero or positive, as `a` is less than, equal to or greater than `b`. */
export function compareNumeric(a: Numeric, b: Numeric): number {
  if (typeof a === 'number' && typeof b === 'number') return a < b ? -1 : a > b ? 1 : 0
  const left = decimalParts(a)
  const right = decimalParts(b)
  if (left.sign !== right.sign) return left.sign < right.sign ? -1 : 1
  if (left.exponent !== right.exponent)
    return left.exponent < right.exponent ? -left.sign : left.sign
  if (left.digits === right.digits) return 0
  return left.digits < right.digits ? -left.sign : left.sign
}

/** The exact sum, or undefined if its text would have more than `lengthMax` characters. */
export function addNumeric(a: Numeric, b: Numeric, lengthMax: number): Numeric | undefined {
  if (typeof a === 'number' && typeof b === 'number') {
    const sum = a + b
    if (areSafeIntegers(a, b, sum)) return withinLength(sum, lengthMax)
  }
  const left = decimalParts(a)
  const right = decimalParts(b)
  if (left.sign === 0) return withinLength(b, lengthMax)
  if (right.sign === 0) return withinLength(a, lengthMax)

  const unit = Math.min(unitOf(left), unitOf(right))
  const span = Math.max(left.exponent, right.exponent) - unit
  // If the exponents differ by two or more, at most one leading digit cancels, so the sum has about
  // `span` digits. With closer exponents, all leading digits may cancel; `span` is then at most
  // about the length of the longer number.
  const apart = Math.abs(left.exponent - right.exponent) >= 2
  if (apart && span - 1 > lengthMax) return undefined
  return numericOfUnits(inUnits(left, unit) + inUnits(right, unit), unit, lengthMax)
}

/** The exact product, or undefined if its text would have more than `lengthMax` characters. */
export function multiplyNumeric(
  a: Numeric,
  b: Numeric,
  lengthMax: number,
): Numeric | undefined {
  if (typeof a === 'number' && typeof b === 'number') {
    const product = a * b
    if (areSafeIntegers(a, b, product)) return withinLength(product, lengthMax)
  }
  const left = decimalParts(a)
  const right = decimalParts(b)
  const leftUnit = unitOf(left)
  const rightUnit = unitOf(right)
  const product = inUnits(left, leftUnit) * inUnits(right, rightUnit)
  return numericOfUnits(product, leftUnit + rightUnit, lengthMax)
}

export function decimalParts(numeric: Numeric): DecimalParts {
  assert(typeof numeric !== 'number' || Number.isFinite(numeric), 'JSON has no such number')
  return partsOfText(printNumeric(numeric))
}

const zero: DecimalParts = { sign: 0, digits: '', exponent: 0 }

function partsOfText(text: string): DecimalParts {
  const negative = text.startsWith('-')
  const exponentAt = text.search(/e/i)
  const mantissa = text.slice(negative ? 1 : 0, exponentAt < 0 ? undefined : exponentAt)
  const pointAt = mantissa.indexOf('.')
  const whole = pointAt < 0 ? mantissa : mantissa.slice(0, pointAt)
  const digits = pointAt < 0 ? whole : whole + mantissa.slice(pointAt + 1)

  const first = digits.search(/[1-9]/)
  if (first < 0) return zero
  const written = exponentAt < 0 ? 0 : Number(text.slice(exponentAt + 1))
  return {
    sign: negative ? -1 : 1,
    digits: digits.slice(first, endOfDigits(digits)),
    exponent: whole.length - first + written,
  }
}

/** Index of the first trailing zero; the length if the last digit is not zero. */
function endOfDigits(digits: string): number {
  let end = digits.length
  while (digits.charCodeAt(end - 1) === 0x30) end--
  return end
}

function numericOfParts(parts: DecimalParts): Numeric {
  if (parts.sign === 0) return 0
  const text = textOfParts(parts)
  const double = Number(text)
  if (!Number.isFinite(double)) return { decimal: text }
  const carried = decimalParts(double)
  return carried.exponent === parts.exponent && carried.digits === parts.digits
    ? double
    : { decimal: text }
}

/**
 * Prints a number with or without an exponent, whichever is shorter. If both have the same length,
 * prints it without an exponent.
 */
function textOfParts({ sign, digits, exponent }: DecimalParts): string {
  const minus = sign < 0 ? '-' : ''
  const power = exponent - 1
  const fraction = digits.length > 1 ? `.${digits.slice(1)}` : ''
  const scientific = `${digits[0]!}${fraction}e${power < 0 ? '' : '+'}${power}`

  if (exponent <= 0)
    return 2 - exponent + digits.length <= scientific.length
      ? `${minus}0.${'0'.repeat(-exponent)}${digits}`
      : minus + scientific
  if (exponent >= digits.length)
    return exponent <= scientific.length
      ? minus + digits.padEnd(exponent, '0')
      : minus + scientific
  return `${minus}${digits.slice(0, exponent)}.${digits.slice(exponent)}`
}

/** The exponent of the last digit. */
function unitOf(parts: DecimalParts): number {
  return parts.exponent - parts.digits.length
}

function inUnits(parts: DecimalParts, unit: number): bigint {
  if (parts.sign === 0) return 0n
  const magnitude = BigInt(parts.digits.padEnd(parts.exponent - unit, '0'))
  return parts.sign < 0 ? -magnitude : magnitude
}

function numericOfUnits(
  count: bigint,
  unit: number,
  lengthMax: number,
): Numeric | undefined {
  if (count === 0n) return withinLength(0, lengthMax)
  const digits = String(count < 0n ? -count : count)
  const exponent = digits.length + unit
  if (Math.abs(exponent - 1) > exponentMax) return undefined
  const parts: DecimalParts = {
    sign: count < 0n ? -1 : 1,
    digits: digits.slice(0, endOfDigits(digits)),
    exponent,
  }
  return withinLength(numericOfParts(parts), lengthMax)
}

function withinLength(numeric: Numeric, lengthMax: number): Numeric | undefined {
  return printNumeric(numeric).length <= lengthMax ? numeric : undefined
}

/**
 * Whether doubles compute the result exactly. False for a result of -0: the decimal path gives 0
 * instead.
 */
function areSafeIntegers(a: number, b: number, result: number): boolean {
  return (
    Number.isSafeInteger(a) &&
    Number.isSafeInteger(b) &&
    Number.isSafeInteger(result) &&
    !Object.is(result, -0)
  )
}
