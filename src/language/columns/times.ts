/** Times of day in nanoseconds. */
import type { Value } from '../../json/value.ts'
import { readDigits, two } from './calendar.ts'

export function readTime(value: Value): string | undefined {
  if (typeof value !== 'string') return undefined
  const nanos = nanosOfDay(value, 0, value.length)
  return Number.isNaN(nanos) ? undefined : printTime(nanos)
}

/** Nanoseconds since midnight. */
export function comparableTime(stored: Value): number {
  const text = stored as string
  return nanosOfDay(text, 0, text.length)
}

/** Reads "HH:mm", "HH:mm:ss" or "HH:mm:ss.fraction" in a part of a text; NaN if invalid. */
export function nanosOfDay(text: string, from: number, to: number): number {
  const length = to - from
  const hours = readDigits(text, from, from + 2)
  const minutes = readDigits(text, from + 3, from + 5)
  if (length < 5 || text[from + 2] !== ':' || !(hours <= 23 && minutes <= 59)) return NaN
  const wholeMinutes = (hours * 60 + minutes) * 60e9
  if (length === 5) return wholeMinutes

  const seconds = readDigits(text, from + 6, from + 8)
  if (length < 8 || text[from + 5] !== ':' || !(seconds <= 59)) return NaN
  const wholeSeconds = wholeMinutes + seconds * 1e9
  if (length === 8) return wholeSeconds

  const digits = length - 9
  if (text[from + 8] !== '.' || digits > 9) return NaN
  // Like Java and the reference server, accepts a point without digits after it.
  if (digits === 0) return wholeSeconds
  return wholeSeconds + readDigits(text, from + 9, to) * 10 ** (9 - digits)
}

/** The shortest form: without seconds if they are zero, and with 0, 3, 6 or 9 decimals. */
function printTime(nanos: number): string {
  const seconds = Math.floor(nanos / 1e9)
  const minutes = Math.floor(seconds / 60)
  const text = `${two(Math.floor(minutes / 60))}:${two(minutes % 60)}`
  if (nanos % 60e9 === 0) return text
  return `${text}:${two(seconds % 60)}${printFraction(nanos % 1e9)}`
}

function printFraction(nanos: number): string {
  if (nanos === 0) return ''
  const digits = String(nanos).padStart(9, '0')
  if (nanos % 1e6 === 0) return `.${digits.slice(0, 3)}`
  return nanos % 1e3 === 0 ? `.${digits.slice(0, 6)}` : `.${digits}`
}
