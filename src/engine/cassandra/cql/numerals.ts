/**
 * Numbers as other servers of the Data API store them.
 *
 * They keep a number as digits and a scale, and there are two for a whole number that ends in
 * zeros: 100 was sent as `100`, and 1E+2 as `100.0` or `1e2`. Both are equal where the cluster
 * compares, but not as parts of a key.
 */
import { decimalParts, type DecimalParts } from '../../../json/decimal.ts'
import type { Numeric } from '../../../json/value.ts'

/** A number as `unscaled` × 10^-scale. */
export interface ScaledNumber {
  readonly unscaled: bigint
  readonly scale: number
}

/** With whole numbers written out, as long as that is harmless. */
export function scaledNumber(numeric: Numeric): ScaledNumber {
  const parts = decimalParts(numeric)
  const isWhole = parts.exponent > parts.digits.length
  return isWhole && parts.exponent <= zerosMax ? scaledTo(parts, 0) : shortest(parts)
}

/** Without an exponent, unless that would take very many zeros. */
export function plainNumeral(numeric: Numeric): string {
  const { sign, digits, exponent } = decimalParts(numeric)
  if (sign === 0) return '0'
  if (Math.abs(exponent) > zerosMax) return spell(shortest({ sign, digits, exponent }))
  const minus = sign < 0 ? '-' : ''
  if (exponent <= 0) return `${minus}0.${'0'.repeat(-exponent)}${digits}`
  if (exponent >= digits.length) return minus + digits.padEnd(exponent, '0')
  return `${minus}${digits.slice(0, exponent)}.${digits.slice(exponent)}`
}

/** How a number may be spelled in a key, the one that is written first. */
export function keySpellings(numeric: Numeric): readonly string[] {
  const parts = decimalParts(numeric)
  const written = spell(scaledNumber(numeric))
  const short = spell(shortest(parts))
  return short === written ? [written] : [written, short]
}

/** A numeral of a few characters may stand for more zeros than there is memory. */
const zerosMax = 1_000

function shortest(parts: DecimalParts): ScaledNumber {
  return scaledTo(parts, parts.digits.length - parts.exponent)
}

function scaledTo({ sign, digits, exponent }: DecimalParts, scale: number): ScaledNumber {
  if (sign === 0) return { unscaled: 0n, scale: 0 }
  const unscaled = BigInt(digits.padEnd(exponent + scale, '0'))
  return { unscaled: sign < 0 ? -unscaled : unscaled, scale }
}

/** As the reference's platform prints it: with an exponent where the scale is below 0. */
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
