/**
 * JSON text to values, after RFC 8259 to the letter, in one pass.
 *
 * The platform's parser would fold numerals into doubles, take the last of two equal keys
 * and lose the order of keys such as "10"; this one refuses or keeps them. It is on the path
 * of every request, hence the character codes: strings without escapes are cut out of the
 * text whole, and most numerals are computed without being cut out at all.
 */
import { readNumeral } from './decimal.ts'
import { digitsMax, doubleOf, highDigitsMax } from './short-numeral.ts'
import type { JsonObject, Numeric, Value } from './value.ts'

export interface ParseLimits {
  /** Objects and arrays within each other; a value outside of any is at depth 0. */
  readonly depthMax: number
  /** Characters of one numeral. */
  readonly numeralLengthMax: number
}

/** Throws a JsonProblem when the text is not JSON or goes beyond a limit. */
export function parseJson(text: string, limits: ParseLimits): Value {
  return new Reader(text, limits).readText()
}

/** Reads text that printJson wrote, and so held to the limits when it came in. */
export function parseStored(text: string): Value {
  return new Reader(text, unlimited).readText()
}

/**
 * Reads text that is to be printed again: numbers keep the spelling that they came in, 1.0 or
 * 1e3. Only good for printing: such numbers are not canonical.
 */
export function parseAsWritten(text: string): Value {
  return new Reader(text, unlimited, true).readText()
}

export type JsonProblemKind = 'syntax' | 'depth' | 'numeral'

interface JsonProblemDetails {
  readonly kind: JsonProblemKind
  readonly offset: number
  readonly depthMax?: number
  readonly numeralLength?: number
}

/** Why a text was refused. The message is fit to be shown to whoever sent the text. */
export class JsonProblem extends Error {
  readonly kind: JsonProblemKind
  /** In UTF-16 units from the start of the text. */
  readonly offset: number
  /** The depth that the text exceeded, when kind is 'depth'. */
  readonly depthMax: number | undefined
  /** The length of the offending numeral, when kind is 'numeral'. */
  readonly numeralLength: number | undefined

  constructor(what: string, details: JsonProblemDetails) {
    super(`${what}, at offset ${details.offset}`)
    this.name = 'JsonProblem'
    this.kind = details.kind
    this.offset = details.offset
    this.depthMax = details.depthMax
    this.numeralLength = details.numeralLength
  }
}

const unlimited: ParseLimits = { depthMax: Infinity, numeralLengthMax: Infinity }

const TAB = 0x09
const LINE_FEED = 0x0a
const CARRIAGE_RETURN = 0x0d
const SPACE = 0x20
const QUOTE = 0x22
const PLUS = 0x2b
const COMMA = 0x2c
const MINUS = 0x2d
const POINT = 0x2e
const ZERO = 0x30
const NINE = 0x39
const COLON = 0x3a
const UPPER_E = 0x45
const OPEN_BRACKET = 0x5b
const BACKSLASH = 0x5c
const CLOSE_BRACKET = 0x5d
const LOWER_E = 0x65
const LOWER_F = 0x66
const LOWER_N = 0x6e
const LOWER_T = 0x74
const LOWER_U = 0x75
const OPEN_BRACE = 0x7b
const CLOSE_BRACE = 0x7d

const escapes: ReadonlyMap<number, string> = new Map(
  Object.entries({
    '"': '"',
    '\\': '\\',
    '/': '/',
    b: '\b',
    f: '\f',
    n: '\n',
    r: '\r',
    t: '\t',
  }).map(([letter, meaning]) => [letter.charCodeAt(0), meaning]),
)

/** `at` is the offset of the next character to look at. */
class Reader {
  readonly text: string
  readonly depthMax: number
  readonly numeralLengthMax: number
  /** Whether numbers keep their spelling. */
  readonly asWritten: boolean
  at = 0

  constructor(text: string, limits: ParseLimits, asWritten = false) {
    this.text = text
    this.asWritten = asWritten
    this.depthMax = limits.depthMax
    this.numeralLengthMax = limits.numeralLengthMax
  }

  readText(): Value {
    this.next()
    const value = this.readValue(1)
    this.next()
    if (this.at < this.text.length) throw this.unexpected('the end of the text')
    return value
  }

  /** `depth` is the one that an object or array read here would have. */
  readValue(depth: number): Value {
    const code = this.text.charCodeAt(this.at)
    switch (code) {
      case QUOTE:
        return this.readString()
      case OPEN_BRACE:
        return this.readObject(depth)
      case OPEN_BRACKET:
        return this.readArray(depth)
      case LOWER_T:
        return this.readWord('true', true)
      case LOWER_F:
        return this.readWord('false', false)
      case LOWER_N:
        return this.readWord('null', null)
      default:
        if (code === MINUS || isDigit(code)) return this.readNumber()
        throw this.unexpected('a value')
    }
  }

  readObject(depth: number): JsonObject {
    if (depth > this.depthMax) throw this.tooDeep()
    const object: JsonObject = new Map()
    this.at++
    let code = this.next()
    if (code === CLOSE_BRACE) {
      this.at++
      return object
    }
    let count = 0
    for (;;) {
      if (code !== QUOTE)
        throw this.unexpected(count === 0 ? 'a key or "}"' : 'a key in quotes')
      const keyAt = this.at
      const key = this.readString()
      if (this.next() !== COLON) throw this.unexpected('":" after the key')
      this.at++
      this.next()
      object.set(key, this.readValue(depth + 1))
      // Counting is cheaper than asking the map for each key before setting it.
      if (object.size === count) throw this.twice(key, keyAt)
      count++

      code = this.next()
      if (code !== COMMA && code !== CLOSE_BRACE) throw this.unexpected('"," or "}"')
      this.at++
      if (code === CLOSE_BRACE) return object
      code = this.next()
    }
  }

  readArray(depth: number): Value[] {
    if (depth > this.depthMax) throw this.tooDeep()
    const array: Value[] = []
    this.at++
    if (this.next() === CLOSE_BRACKET) {
      this.at++
      return array
    }
    for (;;) {
      array.push(this.readValue(depth + 1))
      const code = this.next()
      if (code !== COMMA && code !== CLOSE_BRACKET) throw this.unexpected('"," or "]"')
      this.at++
      if (code === CLOSE_BRACKET) return array
      this.next()
    }
  }

  readWord<Meaning extends boolean | null>(word: string, meaning: Meaning): Meaning {
    if (!this.text.startsWith(word, this.at)) throw this.unexpected('a value')
    this.at += word.length
    return meaning
  }

  readString(): string {
    const { text } = this
    const start = this.at + 1
    let at = start
    let code = text.charCodeAt(at)
    while (code !== QUOTE && code !== BACKSLASH && code >= SPACE)
      code = text.charCodeAt(++at)
    this.at = at
    if (code !== QUOTE) return this.readEscapedString(start)
    this.at++
    return text.slice(start, at)
  }

  /** Goes on where the plain part of a string ends, and reports strings that do not. */
  readEscapedString(start: number): string {
    const { text } = this
    let plainFrom = start
    let string = ''
    for (;;) {
      const code = text.charCodeAt(this.at)
      if (code === QUOTE) {
        string += text.slice(plainFrom, this.at)
        this.at++
        return string
      } else if (code === BACKSLASH) {
        string += text.slice(plainFrom, this.at) + this.readEscape()
        plainFrom = this.at
      } else if (code >= SPACE) {
        this.at++
      } else if (this.at >= text.length) {
        throw this.unexpected('the closing quote of a string')
      } else {
        const written = JSON.stringify(String.fromCharCode(code)).slice(1, -1)
        throw this.syntax(`a control character in a string must be written ${written}`)
      }
    }
  }

  readEscape(): string {
    const code = this.text.charCodeAt(this.at + 1)
    if (code === LOWER_U) {
      const hex = this.text.slice(this.at + 2, this.at + 6)
      if (!/^[0-9a-f]{4}$/i.test(hex))
        throw this.syntax('\\u needs four hexadecimal digits')
      this.at += 6
      return String.fromCharCode(parseInt(hex, 16))
    }
    const meaning = escapes.get(code)
    if (meaning === undefined) throw this.syntax('a backslash that starts no JSON escape')
    this.at += 2
    return meaning
  }

  readNumber(): Numeric {
    const { text } = this
    const start = this.at
    const negative = text.charCodeAt(start) === MINUS
    const wholeFrom = negative ? start + 1 : start
    let at = wholeFrom
    let pointAt = -1
    // The digits that count, from the first that is not zero, in two halves.
    let high = 0
    let low = 0
    let count = 0
    let code = text.charCodeAt(at)
    for (;;) {
      if (isDigit(code)) {
        if (count < highDigitsMax) high = high * 10 + (code - ZERO)
        else if (count < digitsMax) low = low * 10 + (code - ZERO)
        if (high !== 0) count++
      } else if (code === POINT && pointAt < 0) {
        pointAt = at
      } else break
      code = text.charCodeAt(++at)
    }
    const wholeTo = pointAt < 0 ? at : pointAt
    if (wholeTo === wholeFrom) throw this.unexpected('a digit', wholeTo)
    if (wholeTo > wholeFrom + 1 && text.charCodeAt(wholeFrom) === ZERO)
      throw this.syntax('a number must not begin with a needless 0')
    if (at === pointAt + 1) throw this.unexpected('a digit', at)
    this.at = at
    let power = pointAt < 0 ? 0 : pointAt + 1 - at
    if (code === LOWER_E || code === UPPER_E) power += this.readExponent()

    if (this.at - start > this.numeralLengthMax) throw this.tooLong(start)
    if (this.asWritten) return asWritten(text.slice(start, this.at))
    if (high === 0) return 0
    const double = doubleOf(high, low, count, power)
    if (double > 0) return negative ? -double : double
    return this.readLongNumber(start)
  }

  readExponent(): number {
    const sign = this.text.charCodeAt(++this.at)
    if (sign === PLUS || sign === MINUS) this.at++
    const from = this.at
    let exponent = 0
    let code = this.text.charCodeAt(this.at)
    while (isDigit(code)) {
      exponent = exponent * 10 + (code - ZERO)
      code = this.text.charCodeAt(++this.at)
    }
    if (this.at === from) throw this.unexpected('a digit')
    return sign === MINUS ? -exponent : exponent
  }

  readLongNumber(start: number): Numeric {
    const numeral = this.text.slice(start, this.at)
    try {
      return readNumeral(numeral)
    } catch (error) {
      if (!(error instanceof RangeError)) throw error
      throw new JsonProblem(`the number ${numeral} is out of range: ${error.message}`, {
        kind: 'numeral',
        offset: start,
        numeralLength: numeral.length,
      })
    }
  }

  /** Skips white space and gives the code of what follows, NaN at the end. */
  next(): number {
    let code = this.text.charCodeAt(this.at)
    while (code === SPACE || code === LINE_FEED || code === CARRIAGE_RETURN || code === TAB)
      code = this.text.charCodeAt(++this.at)
    return code
  }

  unexpected(expected: string, offset = this.at): JsonProblem {
    const code = this.text.codePointAt(offset)
    const found =
      code === undefined
        ? 'the text ends'
        : `found ${JSON.stringify(String.fromCodePoint(code))}`
    return this.syntax(`expected ${expected} but ${found}`, offset)
  }

  syntax(what: string, offset = this.at): JsonProblem {
    return new JsonProblem(what, { kind: 'syntax', offset })
  }

  twice(key: string, offset: number): JsonProblem {
    return this.syntax(`the key ${JSON.stringify(key)} stands twice in one object`, offset)
  }

  tooDeep(): JsonProblem {
    const { depthMax, at: offset } = this
    return new JsonProblem(
      `objects and arrays are nested more than ${depthMax} levels deep`,
      {
        kind: 'depth',
        offset,
        depthMax,
      },
    )
  }

  tooLong(offset: number): JsonProblem {
    const numeralLength = this.at - offset
    return new JsonProblem(
      `a number is ${numeralLength} characters long, at most ${this.numeralLengthMax} are allowed`,
      { kind: 'numeral', offset, numeralLength },
    )
  }
}

function asWritten(numeral: string): Numeric {
  const double = Number(numeral)
  return String(double) === numeral ? double : { decimal: numeral }
}

function isDigit(code: number): boolean {
  return code >= ZERO && code <= NINE
}
