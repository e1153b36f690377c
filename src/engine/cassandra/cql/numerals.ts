/**
 * Numbers as other servers of the Data API store them.
 *
 * They store digits and a scale, which gives two forms of a whole number that ends in zeros: 100 if
 * it was sent as `100`, and 1E+2 if it was sent as `100.0` or `1e2`. Cassandra compares them as
 * equal, except within a key.
 */
import { decimalParts, type DecimalParts } from '../../../json/decimal.ts'
import type { Numeric } from '../../../json/value.ts'

/** A number as `unscaled` × 10^-scale. */
export interface ScaledNumber {
  readonly unscaled: bigint
  readonly scale: number
}

/**
 * The form in which this server writes a number. Whole numbers of up to `zerosMax` digits have no
 * exponent.
 */
export function scaledNumber(numeric: Numeric): ScaledNumber {
  const parts = decimalParts(numeric)
  const isWhole = parts.exponent > parts.digits.length
  return isWhole && parts.exponent <= zerosMax ? scaledTo(parts, 0) : shortest(parts)
}

/**
 * Prints a number. The numeral has no exponent if the decimal point is at most `zerosMax` places
 * from the start of the digits.
 */
export function plainNumeral(numeric: Numeric): string {
  const { sign, digits, exponent } = decimalParts(numeric)
  if (sign === 0) return '0'
  if (Math.abs(exponent) > zerosMax) return spell(shortest({ sign, digits, exponent }))
  const minus = sign < 0 ? '-' : ''
  if (exponent <= 0) return `${minus}0.${'0'.repeat(-exponent)}${digits}`
  if (exponent >= digits.length) return minus + digits.padEnd(exponent, '0')
  return `${minus}${digits.slice(0, exponent)}.${digits.slice(exponent)}`
}

/** Spellings of a number in a key; the first is the spelling that this server writes. */
export function keySpellings(numeric: Numeric): readonly string[] {
  const parts = decimalParts(numeric)
  const written = spell(scaledNumber(numeric))
  const short = spell(shortest(parts))
  return short === written ? [written] : [written, short]
}

/**
 * Maximum distance of the decimal point from the start of the digits in a numeral without an
 * exponent. Without a limit, a short numeral such as 1e999999999 could exhaust memory.
 */
const zerosMax = 1_000

function shortest(parts: DecimalParts): ScaledNumber {
  return scaledTo(parts, parts.digits.length - parts.exponent)
}

function scaledTo({ sign, digits, exponent }: DecimalParts, scale: number): ScaledNumber {
  if (sign === 0) return { unscaled: 0n, scale: 0 }
  const unscaled = BigInt(digits.padEnd(exponent + scale, '0'))
  return { unscaled: sign < 0 ? -unscaled : unscaled, scale }
}

/**
 * Prints a number like Java's BigDecimal: with an exponent when the scale is negative or the number
 * is small.
 */
function spell({ unscaled, scale }: ScaledNumber): string {
  const minus = unscaled < 0n ? '-' : ''
  const digits = (unscaled < 0n ? -unscaled : unscaled).toString()
  const exponent = digits.length - 1 - scale
  if (scale >= 0 && exponent >= -6) {
    if (scale === 0) return minus + digits
    const padded = digits.padStart(scale + 1, '0')
    return `${minus}${padded.slice(0, -scale)}.${padded.slice(-scale)}`
  }
  const rest = digits.slice(1)
  return `${minus}${digits[0]!}${rest && `.${rest}`}E${exponent < 0 ? '' : '+'}${exponent}`
}
