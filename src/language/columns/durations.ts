/**
 * Durations: months, days and nanoseconds. They are separate because a month is not a fixed
 * number of days, nor a day a fixed number of hours. Requests use three notations. Rows store the
 * canonical one: ISO 8601 with years, months, days, hours, minutes and seconds.
 */
import type { Value } from '../../json/value.ts'

/** All parts have the same sign. */
export interface DurationParts {
  readonly months: bigint
  readonly days: bigint
  readonly nanos: bigint
}

export function readDuration(value: Value): string | undefined {
  const parts = typeof value === 'string' ? durationParts(value) : undefined
  return parts && printDuration(parts)
}

/** Parses a duration; undefined if the text is invalid or exceeds the limits. */
export function durationParts(value: string): DurationParts | undefined {
  const negative = value.startsWith('-')
  const text = negative ? value.slice(1) : value
  const amounts = (compact.exec(text) ?? designators.exec(text) ?? fields.exec(text))
    ?.groups
  if (amounts === undefined) return undefined

  const of = (unit: string) => BigInt(amounts[unit] ?? 0)
  const months = of('y') * 12n + of('mo')
  const days = of('w') * 7n + of('d')
  const seconds = (of('h') * 60n + of('m')) * 60n + of('s')
  const micros = (seconds * 1000n + of('ms')) * 1000n + of('us')
  const fraction = BigInt((amounts['fraction'] ?? '').padEnd(9, '0'))
  const nanos = micros * 1000n + of('ns') + fraction
  if (months > partMax || days > partMax || nanos > nanosMax) return undefined
  const sign = negative ? -1n : 1n
  return { months: sign * months, days: sign * days, nanos: sign * nanos }
}

/**
 * Maximum of a signed 32-bit integer for months and days, and of a signed 64-bit integer for
 * nanoseconds.
 */
const partMax = 2n ** 31n - 1n
const nanosMax = 2n ** 63n - 1n

/** The notation "1y2mo3w4d5h6m7s8ms9us10ns". */
const compact = new RegExp(
  `^(?=.)${['y', 'mo', 'w', 'd', 'h', 'm', 's', 'ms', 'us', 'ns'].map(amountIn).join('')}$`,
  'i',
)

/**
 * Pattern of an optional amount with its unit. Amounts within the limits have at most 19 digits.
 */
function amountIn(unit: string): string {
  const written = unit === 'us' ? '[uµμ]s' : unit
  return `(?:(?<${unit}>\\d{1,19})${written})?`
}

/** The notations "P1Y2M3DT4H5M6.7S" and "P2W". */
const designators = new RegExp(
  '^P(?:(?<w>\\d{1,19})W|(?=.)(?:(?<y>\\d{1,19})Y)?(?:(?<mo>\\d{1,19})M)?' +
    '(?:(?<d>\\d{1,19})D)?(?:T(?=.)(?:(?<h>\\d{1,19})H)?(?:(?<m>\\d{1,19})M)?' +
    '(?:(?<s>\\d{1,19})(?:\\.(?<fraction>\\d{1,9}))?S)?)?)$',
)

/** The notation "P0001-02-03T04:05:06". */
const fields = /^P(?<y>\d{4})-(?<mo>\d{2})-(?<d>\d{2})T(?<h>\d{2}):(?<m>\d{2}):(?<s>\d{2})$/

export function printDuration(parts: DurationParts): string {
  const months = magnitude(parts.months)
  const days = magnitude(parts.days)
  const nanos = magnitude(parts.nanos)
  const negative = parts.months < 0n || parts.days < 0n || parts.nanos < 0n
  const seconds = nanos / 1_000_000_000n
  const date = part(months / 12n, 'Y') + part(months % 12n, 'M') + part(days, 'D')
  const fraction = String(nanos % 1_000_000_000n)
    .padStart(9, '0')
    .replace(/0+$/, '')
  const time =
    part(seconds / 3600n, 'H') +
    part((seconds / 60n) % 60n, 'M') +
    (fraction === '' ? part(seconds % 60n, 'S') : `${seconds % 60n}.${fraction}S`)
  if (date === '' && time === '') return 'PT0S'
  return `${negative ? '-' : ''}P${date}${time === '' ? '' : `T${time}`}`
}

function magnitude(amount: bigint): bigint {
  return amount < 0n ? -amount : amount
}

function part(amount: bigint, designator: string): string {
  return amount === 0n ? '' : `${amount}${designator}`
}
