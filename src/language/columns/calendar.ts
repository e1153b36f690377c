/**
 * Days of the proleptic Gregorian calendar, counted from 1970-01-01 without a limit: JavaScript's
 * Date ends in the year 275760, but CQL types have later dates. Years begin in March here. A leap
 * day is then the last day of its year, so the days before a month or a year do not depend on leap
 * years.
 */

/** Reads "YYYY-MM-DD" from the start of the text up to `end`; NaN if it is invalid. */
export function readDay(text: string, end: number): number {
  const yearEnd = end - 6
  if (text[yearEnd] !== '-' || text[yearEnd + 3] !== '-') return NaN
  const year = readYear(text, yearEnd)
  const month = readDigits(text, yearEnd + 1, yearEnd + 3)
  const day = readDigits(text, yearEnd + 4, end)
  if (!(month >= 1 && month <= 12 && day >= 1 && day <= daysIn(month, year))) return NaN
  return dayNumber(year, month, day)
}

export function printDay(days: number): string {
  const sinceYearZero = days - yearZero
  // The estimate from the average length of a year is off by at most one year.
  let year = Math.floor(sinceYearZero / 365.2425)
  if (daysBefore(year) > sinceYearZero) year--
  else if (daysBefore(year + 1) <= sinceYearZero) year++
  const dayOfYear = sinceYearZero - daysBefore(year)
  const month = Math.floor((5 * dayOfYear + 2) / 153)
  const day = dayOfYear - daysBeforeMonth(month) + 1
  return month < 10
    ? `${printYear(year)}-${two(month + 3)}-${two(day)}`
    : `${printYear(year + 1)}-${two(month - 9)}-${two(day)}`
}

/**
 * Reads the digits in a range of the text as a number; NaN if the range is empty or contains
 * another character.
 */
export function readDigits(text: string, from: number, to: number): number {
  if (from >= to) return NaN
  let number = 0
  for (let at = from; at < to; at++) {
    const digit = text.charCodeAt(at) - 0x30
    if (!(digit >= 0 && digit <= 9)) return NaN
    number = number * 10 + digit
  }
  return number
}

/** Prints a number with at least two digits. */
export function two(number: number): string {
  return number < 10 ? `0${number}` : String(number)
}

/** Maximum digits of a year in dates and timestamps. */
const yearDigitsMax = 10

/**
 * Reads a year of four digits, or a sign with four or more digits. A plus sign requires more than
 * four digits.
 */
function readYear(text: string, end: number): number {
  if (text.startsWith('+'))
    return end > 5 && end <= 1 + yearDigitsMax ? readDigits(text, 1, end) : NaN
  if (!text.startsWith('-')) return end === 4 ? readDigits(text, 0, end) : NaN
  const year = end > 4 && end <= 1 + yearDigitsMax ? readDigits(text, 1, end) : NaN
  return year === 0 ? NaN : -year
}

function printYear(year: number): string {
  if (year < 0) return `-${String(-year).padStart(4, '0')}`
  return year > 9999 ? `+${year}` : String(year).padStart(4, '0')
}

const monthLengths = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]

function daysIn(month: number, year: number): number {
  return month === 2 && isLeap(year) ? 29 : monthLengths[month - 1]!
}

function isLeap(year: number): boolean {
  return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0)
}

/** 0000-03-01 in days since 1970-01-01. */
const yearZero = -719_468

function dayNumber(year: number, month: number, day: number): number {
  return month > 2
    ? yearZero + daysBefore(year) + daysBeforeMonth(month - 3) + day - 1
    : yearZero + daysBefore(year - 1) + daysBeforeMonth(month + 9) + day - 1
}

function daysBefore(year: number): number {
  return 365 * year + Math.floor(year / 4) - Math.floor(year / 100) + Math.floor(year / 400)
}

/**
 * Days from the first of March to the start of a month. From March on, each group of five months
 * has 153 days: 31, 30, 31, 30 and 31.
 */
function daysBeforeMonth(month: number): number {
  return Math.floor((153 * month + 2) / 5)
}
