import { printJson } from '../../json/print.ts'
import { jsonTypeOf, type Value } from '../../json/value.ts'
import { fixedLimits } from '../../limits.ts'

const lengthMax = fixedLimits.echoValueLengthMax

/** Prints a value for a message: its JSON, truncated. */
export function quoteJson(value: Value): string {
  const text = printJson(value)
  return text.length <= lengthMax ? text : `${text.slice(0, lengthMax)}…`
}

/** Prints a value with its type: 1 (Number). */
export function quoteWithType(value: Value): string {
  return `${quoteJson(value)} (${jsonTypeOf(value)})`
}
