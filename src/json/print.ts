import { atOnce, InterruptibleWalk, type Steps } from '../runtime/steps.ts'
import { printNumeric } from './decimal.ts'
import { isObject } from './value.ts'
import type { Value } from './value.ts'

/**
 * Compact JSON text in key order. The text is well-formed Unicode: a lone surrogate is
 * written as an escape, so that it survives UTF-8.
 */
export function printJson(value: Value): string {
  if (value === null || typeof value !== 'object') return printScalar(value)
  const printed = printJsonInSteps(value)
  return typeof printed === 'string' ? printed : atOnce(printed)
}

/** Prints a value: returns the text of a small one, and steps for a large one. */
export function printJsonInSteps(value: Value): string | Steps<string> {
  const printer = new Printer()
  const isDone = printer.add(value)
  const text = printer.takeText()
  return isDone ? text : printer.rest(text)
}

/**
 * Buffer for printed text with one byte per character, shared by all printers. Appending to a
 * string would create a rope; flattening the rope takes longer than printing.
 */
const plain = Buffer.allocUnsafeSlow(16_384)

class Printer {
  readonly #walk = new InterruptibleWalk()
  #text = ''
  /** Number of characters in `plain` to append to `#text`. */
  #plainSize = 0

  /** Prints the value; returns false when it stopped before the end. */
  add(value: Value): boolean {
    if (typeof value === 'string') this.#addString(value)
    else if (value === null || typeof value !== 'object') this.#addPlain(String(value))
    else if (Array.isArray(value)) {
      this.#addPlain('[')
      return this.#addElements(value, 0)
    } else if (isObject(value)) {
      this.#addPlain('{')
      return this.#addMembers(value.entries(), true)
    } else this.#addPlain(printNumeric(value))
    return true
  }

  #addElements(array: readonly Value[], from: number): boolean {
    for (let i = from; i < array.length; i++) {
      if (i > 0) this.#addPlain(',')
      const isDone = this.add(array[i]!)
      if (this.#walk.isDue() || !isDone) {
        const next = i + 1
        return this.#walk.stop(() => this.#addElements(array, next))
      }
    }
    this.#addPlain(']')
    return true
  }

  #addMembers(members: MapIterator<[string, Value]>, areFirst: boolean): boolean {
    let isFirst = areFirst
    for (const [key, member] of members) {
      if (!isFirst) this.#addPlain(',')
      isFirst = false
      this.#addString(key)
      this.#addPlain(':')
      const isDone = this.add(member)
      if (this.#walk.isDue() || !isDone)
        return this.#walk.stop(() => this.#addMembers(members, false))
    }
    this.#addPlain('}')
    return true
  }

  #addString(string: string): void {
    const { length } = string
    if (length > plainLengthMax) {
      this.#addOther(JSON.stringify(string))
      return
    }
    this.#makeRoom(length + 2)
    let at = this.#plainSize
    plain[at++] = quote
    for (let i = 0; i < length; i++) {
      const code = string.charCodeAt(i)
      if (!isPlain(code) || code > 0xff) {
        this.#addOther(JSON.stringify(string))
        return
      }
      plain[at++] = code
    }
    plain[at++] = quote
    this.#plainSize = at
  }

  /** Appends Latin-1 text. */
  #addPlain(text: string): void {
    const { length } = text
    if (length > plainLengthMax) {
      this.#addOther(text)
      return
    }
    this.#makeRoom(length)
    for (let i = 0; i < length; i++) plain[this.#plainSize++] = text.charCodeAt(i)
  }

  #addOther(text: string): void {
    this.#endPlain()
    this.#text += text
  }

  #makeRoom(size: number): void {
    if (this.#plainSize + size > plain.length) this.#endPlain()
  }

  #endPlain(): void {
    if (this.#plainSize === 0) return
    this.#text += plain.toString('latin1', 0, this.#plainSize)
    this.#plainSize = 0
  }

  /** Returns the text printed since the last call. */
  takeText(): string {
    this.#endPlain()
    const text = this.#text
    this.#text = ''
    return text
  }

  /** Continues in steps after `add` stopped. `start` is the text that was printed before. */
  *rest(start: string): Steps<string> {
    // Parts are joined at the end: appending to one long string is slow.
    const parts = [start]
    for (const pause of this.#walk.rest()) {
      parts.push(this.takeText())
      yield pause
    }
    return parts.join('') + this.takeText()
  }
}

function printScalar(value: string | number | boolean | null): string {
  if (typeof value === 'string') return printString(value)
  return String(value)
}

/**
 * Maximum length of a string that this module prints itself. JSON.stringify is faster for longer
 * strings.
 */
const plainLengthMax = 40

const quote = 0x22

/** Whether a string can contain the character without an escape. */
function isPlain(code: number): boolean {
  return code >= 0x20 && code !== quote && code !== 0x5c && (code < 0xd800 || code > 0xdfff)
}

function printString(string: string): string {
  if (string.length > plainLengthMax) return JSON.stringify(string)
  for (let at = 0; at < string.length; at++)
    if (!isPlain(string.charCodeAt(at))) return JSON.stringify(string)
  return `"${string}"`
}
