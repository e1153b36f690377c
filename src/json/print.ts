import { printNumeric } from './decimal.ts'
import { isObject } from './value.ts'
import type { Value } from './value.ts'

/**
 * Compact JSON text in key order. The text is well-formed Unicode: a surrogate without its
 * partner is written as an escape, so it survives being stored or sent as UTF-8.
 */
export function printJson(value: Value): string {
  if (value === null) return 'null'
  switch (typeof value) {
    case 'string':
      return printString(value)
    case 'number':
      return String(value)
    case 'boolean':
      return value ? 'true' : 'false'
    default:
      if (Array.isArray(value)) return printArray(value)
      return isObject(value) ? printObject(value) : printNumeric(value)
  }
}

function printArray(array: readonly Value[]): string {
  let text = '['
  let separator = ''
  for (const element of array) {
    text += separator + printJson(element)
    separator = ','
  }
  return text + ']'
}

function printObject(object: ReadonlyMap<string, Value>): string {
  let text = '{'
  let separator = ''
  for (const [key, value] of object) {
    text += separator + printString(key) + ':' + printJson(value)
    separator = ','
  }
  return text + '}'
}

/** Beyond this many characters the platform's printer is the faster one. */
const plainLengthMax = 40

function printString(string: string): string {
  if (string.length > plainLengthMax) return JSON.stringify(string)
  for (let at = 0; at < string.length; at++) {
    const code = string.charCodeAt(at)
    const plain =
      code >= 0x20 && code !== 0x22 && code !== 0x5c && (code < 0xd800 || code > 0xdfff)
    if (!plain) return JSON.stringify(string)
  }
  return `"${string}"`
}
