import { Pace, type Steps } from '../steps.ts'
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

/** The same in steps. */
export function printJsonInSteps(value: Value): Steps<string> {
  return new Printer().print(value)
}

class Printer {
  readonly #pace = new Pace()
  /** What was printed before `#text`. One string that grows for long is slow to copy. */
  readonly #parts: string[] = []
  #text = ''

  #endPart(): void {
    this.#parts.push(this.#text)
    this.#text = ''
  }

  *print(value: Value): Steps<string> {
    yield* this.#add(value)
    if (this.#parts.length === 0) return this.#text
    this.#parts.push(this.#text)
    return this.#parts.join('')
  }

  *#add(value: Value): Steps<void> {
    if (Array.isArray(value)) {
      let separator = '['
      for (const element of value) {
        if (this.#pace.isDue()) {
          this.#endPart()
          yield
        }
        this.#text += separator
        if (isContainer(element)) yield* this.#add(element)
        else this.#text += printJson(element)
        separator = ','
      }
      this.#text += value.length === 0 ? '[]' : ']'
    } else if (isObject(value)) {
      let separator = '{'
      for (const [key, member] of value) {
        if (this.#pace.isDue()) {
          this.#endPart()
          yield
        }
        this.#text += `${separator}${printString(key)}:`
        if (isContainer(member)) yield* this.#add(member)
        else this.#text += printJson(member)
        separator = ','
      }
      this.#text += value.size === 0 ? '{}' : '}'
    } else this.#text += printJson(value)
  }
}

function isContainer(value: Value): boolean {
  return typeof value === 'object' && value !== null
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
