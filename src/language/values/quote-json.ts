import { printJson } from '../../json/print.ts'
import { jsonTypeOf, type Value } from '../../json/value.ts'
import { fixedLimits } from '../../limits.ts'

const lengthMax = fixedLimits.echoValueLengthMax

/** A value as a message shows it: its JSON, cut where a reader would stop anyway. */
export function quoteJson(value: Value): string {
  const text = printJson(value)
  return text.length <= lengthMax ? text : `${text.slice(0, lengthMax)}…`
}

/** The same with its type: 1 (Number). */
export function quoteWithType(value: Value): string {
  return `${quoteJson(value)} (${jsonTypeOf(value)})`
}
