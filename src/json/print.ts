import { atOnce, InterruptibleWalk, type Steps } from '../steps.ts'
import { printNumeric } from './decimal.ts'
import { isObject } from './value.ts'
import type { Value } from './value.ts'

/**
 * Compact JSON text in key order. The text is well-formed Unicode: a surrogate without its
 * partner is written as an escape, so it survives being stored or sent as UTF-8.
 */
export function printJson(value: Value): string {
  if (value === null || typeof value !== 'object') return printScalar(value)
  const printed = printJsonInSteps(value)
  return typeof printed === 'string' ? printed : atOnce(printed)
}

/** The same in steps, unless it takes but one. */
export function printJsonInSteps(value: Value): string | Steps<string> {
  const printer = new Printer()
  return printer.add(value) ? printer.text : printer.rest()
}

class Printer {
  readonly #walk = new InterruptibleWalk()
  text = ''

  /** Prints the value, or stops in it. */
  add(value: Value): boolean {
    if (value === null || typeof value !== 'object') this.text += printScalar(value)
    else if (Array.isArray(value)) {
      this.text += '['
      return this.#addElements(value, 0)
    } else if (isObject(value)) {
      this.text += '{'
      return this.#addMembers(value.entries(), '')
    } else this.text += printNumeric(value)
    return true
  }

  #addElements(array: readonly Value[], from: number): boolean {
    for (let i = from; i < array.length; i++) {
      if (i > 0) this.text += ','
      const isDone = this.add(array[i]!)
      if (this.#walk.isDue() || !isDone) {
        const next = i + 1
        return this.#walk.stop(() => this.#addElements(array, next))
      }
    }
    this.text += ']'
    return true
  }

  #addMembers(members: MapIterator<[string, Value]>, before: string): boolean {
    let separator = before
    for (const [key, member] of members) {
      this.text += separator + printString(key) + ':'
      separator = ','
      const isDone = this.add(member)
      if (this.#walk.isDue() || !isDone)
        return this.#walk.stop(() => this.#addMembers(members, ','))
    }
    this.text += '}'
    return true
  }

  /** All of the text, once the walk that stopped has come to its end. */
  *rest(): Steps<string> {
    // One string that grows for long is slow to copy.
    const parts: string[] = []
    for (const pause of this.#walk.rest()) {
      parts.push(this.text)
      this.text = ''
      yield pause
    }
    return parts.join('') + this.text
  }
}

function printScalar(value: string | number | boolean | null): string {
  if (typeof value === 'string') return printString(value)
  return String(value)
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
