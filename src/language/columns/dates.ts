/** Dates without a time: a signed 32-bit number of days since 1970-01-01. */
import type { Value } from '../../json/value.ts'
import { printDay, readDay } from './calendar.ts'

const daysMin = -(2 ** 31)
const daysMax = 2 ** 31 - 1

export const dateFirst = printDay(daysMin)
export const dateLast = printDay(daysMax)

export function readDate(value: Value): string | undefined {
  if (typeof value !== 'string') return undefined
  const days = readDay(value, value.length)
  return days >= daysMin && days <= daysMax ? printDay(days) : undefined
}

/** Days since 1970-01-01. */
export function comparableDate(stored: Value): number {
  const text = stored as string
  return readDay(text, text.length)
}
