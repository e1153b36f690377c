/**
 * Reads some fields of a stored object without parsing the others.
 *
 * Without this module, reading one or two fields of many documents would spend most of the time on
 * building unused values. The text must be from printJson: compact and valid.
 */
import {
  BACKSLASH,
  CLOSE_BRACE,
  CLOSE_BRACKET,
  COMMA,
  OPEN_BRACE,
  OPEN_BRACKET,
  QUOTE,
  SPACE,
} from './char-codes.ts'
import { JsonProblem, parseStored } from './parse.ts'
import type { JsonObject } from './value.ts'

/** The fields of the object with these names, in the order of the object. */
export function storedFields(text: string, names: ReadonlySet<string>): JsonObject {
  const fields: JsonObject = new Map()
  let at = 1
  while (fields.size < names.size && text.charCodeAt(at) === QUOTE) {
    const nameEnd = endOfString(text, at)
    const name = nameIn(text.slice(at + 1, nameEnd - 1))
    const valueEnd = endOfValue(text, nameEnd + 1)
    if (names.has(name)) fields.set(name, parseStored(text.slice(nameEnd + 1, valueEnd)))
    at = valueEnd + 1
  }
  return fields
}

/** The object without these fields; undefined when the text is not compact. */
export function withoutFields(
  text: string,
  names: ReadonlySet<string>,
): string | undefined {
  const kept: string[] = []
  let from = 1
  let at = 1
  while (text.charCodeAt(at) === QUOTE) {
    const nameEnd = endOfString(text, at)
    if (text.charCodeAt(nameEnd + 1) <= SPACE) return undefined
    const valueEnd = endOfValue(text, nameEnd + 1)
    if (names.has(nameIn(text.slice(at + 1, nameEnd - 1)))) {
      if (from < at) kept.push(text.slice(from, at - 1))
      from = valueEnd + 1
    }
    at = valueEnd + 1
  }
  if (at < text.length && text !== '{}') return undefined
  if (from < at) kept.push(text.slice(from, -1))
  return `{${kept.join(',')}}`
}

function nameIn(written: string): string {
  return written.includes('\\') ? (JSON.parse(`"${written}"`) as string) : written
}

/** The offset after the closing quote of the string that starts here. */
function endOfString(text: string, start: number): number {
  const quote = text.indexOf('"', start + 1)
  // A native search comes first: most strings have no escapes, and some strings are long.
  if (quote > start && text.charCodeAt(quote - 1) !== BACKSLASH) return quote + 1
  for (let at = start + 1; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === QUOTE) return at + 1
    if (code === BACKSLASH) at++
  }
  throw cutOff(text)
}

function endOfValue(text: string, start: number): number {
  const first = text.charCodeAt(start)
  if (first === QUOTE) return endOfString(text, start)
  if (first === OPEN_BRACE || first === OPEN_BRACKET) return endOfContainer(text, start)
  for (let at = start; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === COMMA || code === CLOSE_BRACE) return at
  }
  throw cutOff(text)
}

function endOfContainer(text: string, start: number): number {
  let depth = 0
  for (let at = start; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === QUOTE) at = endOfString(text, at) - 1
    else if (code === OPEN_BRACE || code === OPEN_BRACKET) depth++
    else if (code === CLOSE_BRACE || code === CLOSE_BRACKET) {
      depth--
      if (depth === 0) return at + 1
    }
  }
  throw cutOff(text)
}

function cutOff(text: string): JsonProblem {
  const details = { kind: 'syntax', offset: text.length } as const
  return new JsonProblem('the text ends before the object does', details)
}
