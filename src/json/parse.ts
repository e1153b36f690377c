/**
 * JSON parser, strict according to RFC 8259, in one pass that can be interrupted.
 *
 * JSON.parse rounds numbers to doubles, keeps the last of two equal keys, and reorders keys such as
 * "10". This parser keeps numbers and order, and rejects duplicate keys. It runs for every request,
 * so it works on character codes: it slices strings without escapes from the text, and computes
 * most numbers without slicing.
 */
import * as charCodes from './char-codes.ts'
import { readNumeral } from './decimal.ts'
import { JsonProblem } from './json-problem.ts'
import * as shortNumeral from './short-numeral.ts'
import { isPlain, longPieceLength, unescape } from './unescape.ts'
import type { Steps } from '../runtime/steps.ts'
import type { JsonObject, Numeric, Value } from './value.ts'

export { JsonProblem }

export interface ParseLimits {
  /** Nesting of objects and arrays. A value outside of all objects and arrays has depth 0. */
  readonly depthMax: number
  /** Characters of one numeral. */
  readonly numeralLengthMax: number
  /**
   * Objects, arrays, strings, numbers, booleans and nulls, at all depths; keys are not
   * counted. Absent: any number.
   */
  readonly valuesMax?: number
  /** Whether numbers keep the notation of the text. */
  readonly asWritten?: boolean
}

/** Parses a JSON text; throws a JsonProblem when the text is not JSON or exceeds a limit. */
export function parseJson(text: string, limits: ParseLimits): Value {
  const reader = new Reader(text, limits)
  reader.read(unreachable)
  return reader.value
}

/** Like parseJson, in steps of about `stepSize` values. */
export function* parseJsonInSteps(
  text: string,
  limits: ParseLimits,
  valuesPerStep = stepSize,
): Steps<Value> {
  const reader = new Reader(text, limits)
  while (!reader.read(valuesPerStep)) yield
  return reader.value
}

/** Parses text that printJson wrote. Limits were applied when the text was received. */
export function parseStored(text: string): Value {
  return parseJson(text, unlimited)
}

/**
 * Parses text that will be printed again: numbers keep their notation, such as 1.0 or 1e3. Use it
 * for printing only: such numbers are not canonical.
 */
export function parseAsWritten(text: string): Value {
  return parseJson(text, { ...unlimited, asWritten: true })
}

export function parseStoredInSteps(text: string): Steps<Value> {
  return parseJsonInSteps(text, unlimited)
}

// Access to imported constants makes parsing a fifth slower; V8 inlines the constants of
// this file.
const { TAB, LINE_FEED, CARRIAGE_RETURN, SPACE, QUOTE, PLUS, COMMA, MINUS } = charCodes
const { POINT, ZERO, NINE, COLON, UPPER_E, OPEN_BRACKET, BACKSLASH } = charCodes
const { CLOSE_BRACKET, LOWER_E, LOWER_F, LOWER_N, LOWER_T, LOWER_U } = charCodes
const { OPEN_BRACE, CLOSE_BRACE } = charCodes
const { digitsMax, highDigitsMax, doubleOf } = shortNumeral

/** Character code at the end of the text. */
const END = -1

/** Maximum white-space characters that are skipped one by one. A regular expression skips more. */
const shortSpaceMax = 64
const notSpace = /[^ \n\r\t]/g

/** Maximum length of a string that is scanned; native functions decode longer strings. */
const shortLengthMax = longPieceLength

/** Values per step. A step takes tens of microseconds, or 1 to 2 ms with long strings. */
const stepSize = 128

const unlimited: ParseLimits = { depthMax: Infinity, numeralLengthMax: Infinity }
/** Characters of a long string that are decoded at a time. */
const pieceLength = 16_384

/** Maximum characters beyond the limit that are scanned to report the length of a numeral. */
const numeralSlack = 10_000

/** Returned instead of a value when parsing stopped before or inside the value. */
type Stopped = undefined

/** An object or array that was incomplete when parsing stopped. */
type Frame =
  | { readonly array: Value[] }
  | {
      readonly object: JsonObject
      /** Undefined if parsing stopped within the key. */
      readonly key: string | undefined
      readonly keyAt: number
    }

const noFrames: Frame[] = []

/** Greater than any count or length in a text. A small integer compares faster than Infinity. */
const unreachable = 2 ** 30 - 1

/**
 * Recursive parser. `at` is the offset of the next character. To stop, it returns through all
 * levels and saves a frame for each open object and array. Later it resumes from the innermost
 * frame.
 */
class Reader {
  readonly text: string
  readonly depthMax: number
  readonly numeralLengthMax: number
  /** Whether numbers keep their spelling. */
  readonly asWritten: boolean
  at = 0
  /** The parsed value, once parsing is complete. */
  value: Value = null
  /** Values to parse until the next stop. `piecesLeft` counts pieces of long strings. */
  left = 0
  piecesLeft = 0
  /** Values that the limit of the whole text still permits. */
  valuesLeft: number
  readonly valuesMax: number
  isStopped = false
  /** Frames of the open objects and arrays, innermost first. */
  frames: Frame[] = noFrames
  /** Whether parsing stopped inside a string; `decoded` is the text of the string so far. */
  isInString = false
  decoded = ''

  constructor(text: string, limits: ParseLimits) {
    this.text = text
    this.asWritten = limits.asWritten === true
    this.depthMax = Math.min(limits.depthMax, unreachable)
    this.numeralLengthMax = Math.min(limits.numeralLengthMax, unreachable)
    this.valuesMax = Math.min(limits.valuesMax ?? unreachable, unreachable)
    this.valuesLeft = this.valuesMax - 1
    this.next()
  }

  /** Parses about `count` values. Returns whether the text is complete. */
  read(count: number): boolean {
    // Reading one value more than the limit is sufficient to detect a violation.
    this.left = Math.min(count, this.valuesLeft + 1)
    this.piecesLeft = count
    this.valuesLeft -= this.left
    const value = this.isStopped ? this.resume() : this.readValue(1)
    this.valuesLeft += this.left
    this.isStopped = value === undefined
    if (value === undefined) {
      if (this.valuesLeft < 0) throw this.tooMany()
      return false
    }
    if (this.next() !== END) throw this.unexpected('the end of the text')
    this.value = value
    return true
  }

  /** Continues at the innermost frame; passes the value of each frame to the next outer frame. */
  resume(): Value | Stopped {
    const { frames } = this
    this.frames = []
    let read = this.isInString ? this.readRestOfString() : this.readValue(frames.length + 1)
    for (const [i, frame] of frames.entries())
      if (read === undefined) this.frames.push(frame)
      else read = this.resumeIn(frame, frames.length - i, read)
    return read
  }

  resumeIn(frame: Frame, depth: number, read: Value): Value | Stopped {
    if ('array' in frame) {
      const { array } = frame
      array.push(read)
      return this.isLastElement() ? array : this.readElements(array, depth)
    }
    const { object, keyAt } = frame
    const key = frame.key ?? (read as string)
    const value = frame.key === undefined ? this.readMember(depth) : read
    if (value === undefined) {
      this.stopIn({ object, key, keyAt })
      return undefined
    }
    return this.addMember(object, key, keyAt, value)
      ? object
      : this.readMembers(object, depth)
  }

  stopIn(frame: Frame): void {
    if (this.frames === noFrames) this.frames = []
    this.frames.push(frame)
  }

  /** Parses a value. `depth` is the depth of an object or array that starts here. */
  readValue(depth: number): Value | Stopped {
    const code = this.codeAt(this.at)
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

  readObject(depth: number): JsonObject | Stopped {
    if (depth > this.depthMax) throw this.tooDeep()
    const object: JsonObject = new Map()
    this.at++
    if (this.next() === CLOSE_BRACE) {
      this.at++
      return object
    }
    return this.readMembers(object, depth)
  }

  /** Reads members, starting at a key. Hot loop: few calls, so that V8 can inline them. */
  readMembers(object: JsonObject, depth: number): JsonObject | Stopped {
    for (let count = object.size; ; count++) {
      if (this.codeAt(this.at) !== QUOTE)
        throw this.unexpected(count === 0 ? 'a key or "}"' : 'a key in quotes')
      const keyAt = this.at
      const key = this.readString()
      if (key === undefined) {
        this.stopIn({ object, key, keyAt })
        return undefined
      }
      if (this.next() !== COLON) throw this.unexpected('":" after the key')
      this.at++
      this.next()
      const value = --this.left > 0 ? this.readValue(depth + 1) : undefined
      if (value === undefined) {
        this.stopIn({ object, key, keyAt })
        return undefined
      }
      object.set(key, value)
      // A duplicate key does not change the size. Comparing sizes is cheaper than a lookup.
      if (object.size === count) throw this.twice(key, keyAt)
      const code = this.next()
      if (code !== COMMA && code !== CLOSE_BRACE) throw this.unexpected('"," or "}"')
      this.at++
      if (code === CLOSE_BRACE) return object
      this.next()
    }
  }

  /** Continues after a key at which parsing stopped. */
  readMember(depth: number): Value | Stopped {
    if (this.next() !== COLON) throw this.unexpected('":" after the key')
    this.at++
    this.next()
    return --this.left > 0 ? this.readValue(depth + 1) : undefined
  }

  /** Adds a member after its value was parsed; returns whether it was the last member. */
  addMember(object: JsonObject, key: string, keyAt: number, value: Value): boolean {
    if (object.has(key)) throw this.twice(key, keyAt)
    object.set(key, value)
    const code = this.next()
    if (code !== COMMA && code !== CLOSE_BRACE) throw this.unexpected('"," or "}"')
    this.at++
    if (code === CLOSE_BRACE) return true
    this.next()
    return false
  }

  readArray(depth: number): Value[] | Stopped {
    if (depth > this.depthMax) throw this.tooDeep()
    const array: Value[] = []
    this.at++
    if (this.next() === CLOSE_BRACKET) {
      this.at++
      return array
    }
    return this.readElements(array, depth)
  }

  /** Reads elements of an array, from an element to the end. */
  readElements(array: Value[], depth: number): Value[] | Stopped {
    for (;;) {
      const value = --this.left > 0 ? this.readValue(depth + 1) : undefined
      if (value === undefined) {
        this.stopIn({ array })
        return undefined
      }
      array.push(value)
      if (this.isLastElement()) return array
    }
  }

  /** Skips to the next element. Returns true if the array ends instead. */
  isLastElement(): boolean {
    const code = this.next()
    if (code !== COMMA && code !== CLOSE_BRACKET) throw this.unexpected('"," or "]"')
    this.at++
    if (code === CLOSE_BRACKET) return true
    this.next()
    return false
  }

  readWord<Meaning extends boolean | null>(word: string, meaning: Meaning): Meaning {
    if (!this.text.startsWith(word, this.at)) throw this.unexpected('a value')
    this.at += word.length
    return meaning
  }

  /** Parses a string; undefined when parsing stopped inside it. */
  readString(): string | undefined {
    const { text } = this
    const start = this.at + 1
    const end = Math.min(start + shortLengthMax, text.length)
    let at = start
    for (; at < end; at++) {
      const code = text.charCodeAt(at)
      if (code === QUOTE) {
        this.at = at + 1
        return text.slice(start, at)
      }
      if (code === BACKSLASH || code < SPACE) break
    }
    // Native functions decode a long string, starting at its first character.
    return this.readPieces(start, at < end ? at : start)
  }

  /** Parses a string whose characters before `at` were already scanned. */
  readPieces(start: number, at: number): string | undefined {
    this.isInString = true
    this.decoded = this.text.slice(start, at)
    this.at = at
    return this.readRestOfString()
  }

  /** Continues in a string that is long or has escapes. */
  readRestOfString(): string | undefined {
    const { text } = this
    for (;;) {
      this.readPiece()
      if (this.at >= text.length) throw this.unexpected('the closing quote of a string')
      if (text.charCodeAt(this.at) === QUOTE) break
      if (--this.piecesLeft <= 0) return undefined
    }
    const string = this.decoded
    this.at++
    this.isInString = false
    this.decoded = ''
    return string
  }

  /** Decodes a piece of a string. The piece ends at the closing quote or between two characters. */
  readPiece(): void {
    const { text, at: from } = this
    if (this.codeAt(from) !== BACKSLASH) {
      const piece = text.slice(from, from + pieceLength)
      const quoteAt = piece.indexOf('"')
      const part = quoteAt < 0 ? piece : piece.slice(0, quoteAt)
      if (isPlain(part)) {
        this.decoded += part
        this.at += part.length
        return
      }
    }
    const end = Math.min(from + pieceLength, text.length)
    let at = from
    while (at < end) {
      const code = text.charCodeAt(at)
      if (code === QUOTE) break
      if (code !== BACKSLASH) at++
      else at += this.codeAt(at + 1) === LOWER_U ? 6 : 2
    }
    this.decoded += unescape(text, from, at)
    this.at = at
  }

  readNumber(): Numeric {
    const { text } = this
    const start = this.at
    const negative = text.charCodeAt(start) === MINUS
    const wholeFrom = negative ? start + 1 : start
    let at = wholeFrom
    let pointAt = -1
    // The first nine and the remaining significant digits, without leading zeros.
    let high = 0
    let low = 0
    let count = 0
    const absurdAt = start + this.numeralLengthMax + numeralSlack
    const end = Math.min(absurdAt, text.length)
    let code = END
    for (; at < end; at++) {
      code = text.charCodeAt(at)
      if (isDigit(code)) {
        if (count < highDigitsMax) high = high * 10 + (code - ZERO)
        else if (count < digitsMax) low = low * 10 + (code - ZERO)
        if (high !== 0) count++
      } else if (code === POINT && pointAt < 0) {
        pointAt = at
      } else break
    }
    if (at === absurdAt) throw this.tooLong(start)
    const wholeTo = pointAt < 0 ? at : pointAt
    if (wholeTo === wholeFrom) throw this.unexpected('a digit', wholeTo)
    if (wholeTo > wholeFrom + 1 && text.charCodeAt(wholeFrom) === ZERO)
      throw this.syntax('a number cannot have leading zeros')
    if (at === pointAt + 1) throw this.unexpected('a digit', at)
    this.at = at
    let power = pointAt < 0 ? 0 : pointAt + 1 - at
    if (code === LOWER_E || code === UPPER_E) power += this.readExponent(absurdAt)

    const length = this.at - start
    if (length > this.numeralLengthMax) throw this.tooLong(start, length)
    if (this.asWritten) return asWritten(text.slice(start, this.at))
    if (high === 0) return 0
    if (power === 0 && count <= highDigitsMax) return negative ? -high : high
    const double = doubleOf(high, low, count, power)
    if (double > 0) return negative ? -double : double
    return this.readLongNumber(start)
  }

  readExponent(end: number): number {
    const sign = this.codeAt(++this.at)
    if (sign === PLUS || sign === MINUS) this.at++
    const from = this.at
    let exponent = 0
    let code = this.codeAt(this.at)
    while (isDigit(code) && this.at < end) {
      exponent = exponent * 10 + (code - ZERO)
      code = this.codeAt(++this.at)
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

  /**
   * Skips white space, whose codes are lower than those of other valid characters. Returns the next
   * code.
   */
  next(): number {
    let code = this.codeAt(this.at)
    if (code > SPACE) return code
    for (let left = shortSpaceMax; isSpace(code); code = this.codeAt(this.at))
      if (--left > 0) this.at++
      else this.skipSpace()
    return code
  }

  /** Skips long white space with a regular expression, which is several times as fast. */
  skipSpace(): void {
    notSpace.lastIndex = this.at
    this.at = notSpace.test(this.text) ? notSpace.lastIndex - 1 : this.text.length
  }

  // Never call charCodeAt beyond the end: V8 would then use a generic version for the rest
  // of the process, and parsing would take a third longer.
  codeAt(at: number): number {
    return at < this.text.length ? this.text.charCodeAt(at) : END
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
    return this.syntax(`an object has the key ${JSON.stringify(key)} twice`, offset)
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

  tooLong(offset: number, numeralLength?: number): JsonProblem {
    const max = this.numeralLengthMax
    const length = numeralLength ?? `more than ${max + numeralSlack}`
    return new JsonProblem(`a number has ${length} characters; the maximum is ${max}`, {
      ...({ kind: 'numeral', offset } as const),
      ...(numeralLength !== undefined && { numeralLength }),
    })
  }

  tooMany(): JsonProblem {
    const { valuesMax, at: offset } = this
    return new JsonProblem(`there are more than ${valuesMax} values`, {
      kind: 'values',
      offset,
    })
  }
}

function asWritten(numeral: string): Numeric {
  const double = Number(numeral)
  return String(double) === numeral ? double : { decimal: numeral }
}

function isSpace(code: number): boolean {
  return code === SPACE || code === LINE_FEED || code === CARRIAGE_RETURN || code === TAB
}

function isDigit(code: number): boolean {
  return code >= ZERO && code <= NINE
}
