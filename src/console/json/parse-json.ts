/** Parses JSON text without losing digits or keys. */
import { Numeral, type JsonObject, type Value } from './value.ts'

/** Thrown when the text is not JSON; `at` is the offset of the error. */
export class JsonError extends Error {
  override readonly name = 'JsonError'
  readonly at: number

  constructor(message: string, at: number) {
    super(message)
    this.at = at
  }
}

export function parseJson(text: string): Value {
  const reader = new Reader(text)
  const value = reader.readValue(0)
  reader.skipSpace()
  if (reader.at < text.length) throw reader.problem('Text follows the end of the value')
  return value
}

/** Maximum nesting. Documents nest less deeply, and a reply adds only a few levels. */
const depthMax = 200

const numeral = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y
const word = /true|false|null/y

const words: Readonly<Record<string, Value>> = { true: true, false: false, null: null }

class Reader {
  readonly text: string
  at = 0

  constructor(text: string) {
    this.text = text
  }

  problem(message: string, at = this.at): JsonError {
    return new JsonError(message, Math.min(at, this.text.length))
  }

  skipSpace(): void {
    for (;;) {
      const code = this.text.charCodeAt(this.at)
      if (code !== 0x20 && code !== 0x0a && code !== 0x0d && code !== 0x09) return
      this.at++
    }
  }

  readValue(depth: number): Value {
    if (depth > depthMax) throw this.problem('Too many levels of nesting')
    this.skipSpace()
    switch (this.text[this.at]) {
      case '{':
        return this.#readObject(depth)
      case '[':
        return this.#readArray(depth)
      case '"':
        return this.readString()
      case undefined:
        throw this.problem('A value is missing')
      default:
        return this.#readScalar()
    }
  }

  #readScalar(): Value {
    const number = this.#take(numeral)
    if (number !== undefined) return new Numeral(number)
    const literal = this.#take(word)
    if (literal !== undefined) return words[literal]!
    throw this.problem('This is not a JSON value')
  }

  #take(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.at
    if (!pattern.test(this.text)) return undefined
    const start = this.at
    this.at = pattern.lastIndex
    return this.text.slice(start, this.at)
  }

  #readObject(depth: number): JsonObject {
    const object: JsonObject = new Map()
    if (this.#isEmpty('}')) return object
    do {
      this.skipSpace()
      const start = this.at
      if (this.text[start] !== '"') throw this.problem('A name in quotes is missing')
      const name = this.readString()
      if (object.has(name)) throw this.problem(`Duplicate name "${name}"`, start)
      this.skipSpace()
      if (this.text[this.at] !== ':') throw this.problem('A colon is missing')
      this.at++
      object.set(name, this.readValue(depth + 1))
    } while (this.#goesOn('}'))
    return object
  }

  #readArray(depth: number): Value[] {
    const array: Value[] = []
    if (this.#isEmpty(']')) return array
    do array.push(this.readValue(depth + 1))
    while (this.#goesOn(']'))
    return array
  }

  /**
   * Consumes the opening bracket. If the closing bracket follows, consumes it as well and returns
   * true.
   */
  #isEmpty(end: string): boolean {
    this.at++
    this.skipSpace()
    if (this.text[this.at] !== end) return false
    this.at++
    return true
  }

  #goesOn(end: string): boolean {
    this.skipSpace()
    const found = this.text[this.at]
    if (found !== ',' && found !== end) throw this.problem(`A comma or ${end} is missing`)
    this.at++
    return found === ','
  }

  readString(): string {
    const start = this.at
    let end = this.text.indexOf('"', start + 1)
    while (end >= 0 && this.#isEscaped(end)) end = this.text.indexOf('"', end + 1)
    if (end < 0) throw this.problem('The string is not closed', start)
    this.at = end + 1
    const inside = this.text.slice(start + 1, end)
    if (isPlain(inside)) return inside
    try {
      return JSON.parse(this.text.slice(start, end + 1)) as string
    } catch {
      throw this.problem('The string has a character that must be escaped', start)
    }
  }

  #isEscaped(quote: number): boolean {
    let before = quote - 1
    while (this.text[before] === '\\') before--
    return (quote - before) % 2 === 0
  }
}

function isPlain(inside: string): boolean {
  return !/[\\\u0000-\u001f]/.test(inside)
}
