/** Timestamps: a signed 64-bit number of milliseconds since 1970-01-01T00:00:00Z. */
import { compareNumeric, readNumeral } from '../../json/decimal.ts'
import { extendedOf } from '../../json/extended.ts'
import type { Numeric, Value } from '../../json/value.ts'
import { printDay, readDay, readDigits, two } from './calendar.ts'
import { nanosOfDay } from './times.ts'

/** A point in time as two numbers, because a double cannot represent all 64-bit milliseconds. */
interface Instant {
  readonly days: number
  readonly msOfDay: number
}

const msPerDay = 86_400_000

const msMin = readNumeral(String(-(2n ** 63n)))
const msMax = readNumeral(String(2n ** 63n - 1n))

export function readTimestamp(value: Value): string | undefined {
  const instant = typeof value === 'string' ? instantOfText(value) : instantOfDate(value)
  if (instant === undefined) return undefined
  return isWithinRange(instant) ? printInstant(instant) : undefined
}

function isWithinRange(instant: Instant): boolean {
  // Fast path for nearly all timestamps, which are far within the range.
  if (Math.abs(instant.days) <= daysSafe) return true
  const ms = msOf(instant)
  return compareNumeric(ms, msMin) >= 0 && compareNumeric(ms, msMax) <= 0
}

/** Milliseconds since 1970-01-01T00:00:00Z. */
export function comparableTimestamp(stored: Value): Numeric {
  return msOf(instantOfText(stored as string)!)
}

/** The stored form of the timestamp at `ms` milliseconds since 1970-01-01T00:00:00Z. */
export function timestampAt(ms: bigint): string {
  const perDay = BigInt(msPerDay)
  const msOfDay = ((ms % perDay) + perDay) % perDay
  const days = (ms - msOfDay) / perDay
  return printInstant({ days: Number(days), msOfDay: Number(msOfDay) })
}

function instantOfDate(value: Value): Instant | undefined {
  const date = extendedOf(value)
  return date?.kind === 'date' ? instantAt(0, date.ms) : undefined
}

function instantOfText(text: string): Instant | undefined {
  const dayEnd = text.indexOf('T')
  if (dayEnd < 0) return undefined
  const timeEnd = endOfTime(text, dayEnd + 1)
  const days = readDay(text, dayEnd)
  const nanos = nanosOfDay(text, dayEnd + 1, timeEnd)
  const offset = readOffset(text, timeEnd)
  if (Number.isNaN(days + nanos + offset)) return undefined
  return instantAt(days, Math.floor(nanos / 1e6) - offset * 1000)
}

/** The position of the offset from UTC, or the end of the text. */
function endOfTime(text: string, from: number): number {
  let at = from
  while (at < text.length && text[at] !== 'Z' && text[at] !== '+' && text[at] !== '-') at++
  return at
}

/** Maximum offset from UTC in seconds, as in Java. */
const offsetMax = 18 * 3600

/**
 * Reads "Z", "+HH", "+HHMM", "+HH:MM" or "+HH:MM:SS", or the same with a minus sign, as seconds.
 */
function readOffset(text: string, from: number): number {
  const length = text.length - from
  if (text[from] === 'Z') return length === 1 ? 0 : NaN
  const colon = length === 6 || length === 9
  if (!colon && length !== 3 && length !== 5) return NaN
  if (colon && text[from + 3] !== ':') return NaN
  if (length === 9 && text[from + 6] !== ':') return NaN
  const minutesFrom = from + (colon ? 4 : 3)
  const hours = readDigits(text, from + 1, from + 3)
  const minutes = length === 3 ? 0 : readDigits(text, minutesFrom, minutesFrom + 2)
  const seconds = length === 9 ? readDigits(text, from + 7, from + 9) : 0
  const offset = hours * 3600 + minutes * 60 + seconds
  if (!(minutes <= 59 && seconds <= 59 && offset <= offsetMax)) return NaN
  return text[from] === '-' ? -offset : offset
}

/** The instant `ms` milliseconds after the start of the day; `ms` may be negative. */
function instantAt(days: number, ms: number): Instant {
  const rest = ms % msPerDay
  const msOfDay = rest < 0 ? rest + msPerDay : rest + 0
  return { days: days + (ms - msOfDay) / msPerDay, msOfDay }
}

/** Days up to which a double represents milliseconds exactly. */
const daysSafe = 100_000_000

function msOf({ days, msOfDay }: Instant): Numeric {
  if (Math.abs(days) <= daysSafe) return days * msPerDay + msOfDay
  return readNumeral(String(BigInt(days) * BigInt(msPerDay) + BigInt(msOfDay)))
}

function printInstant({ days, msOfDay }: Instant): string {
  const seconds = Math.floor(msOfDay / 1000)
  const minutes = Math.floor(seconds / 60)
  const ms = msOfDay % 1000
  const fraction = ms === 0 ? '' : `.${String(ms).padStart(3, '0')}`
  const hour = two(Math.floor(minutes / 60))
  return `${printDay(days)}T${hour}:${two(minutes % 60)}:${two(seconds % 60)}${fraction}Z`
}
