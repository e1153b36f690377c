/**
 * Encodes values as bytes that sort like the values.
 *
 * SQLite compares blobs byte by byte, so encoded keys can be looked up, compared with ranges and
 * sorted without decoding. The first byte is the type, in the order of language/values/order.ts.
 * docs/internals/keys.md documents the bytes.
 */
import { compareNumeric, decimalParts } from '../../json/decimal.ts'
import { extendedOf } from '../../json/extended.ts'
import { isDecimal, isObject, type Decimal, type Value } from '../../json/value.ts'

export const tag = {
  null: 0x10,
  number: 0x20,
  string: 0x30,
  boolean: 0x40,
  date: 0x50,
  /**
   * Keys of objects and binary values contain only the type; keys of arrays also contain the
   * length.
   */
  object: 0x60,
  array: 0x70,
  binary: 0x80,
} as const

/** The key of a single value. */
export function keyOf(value: Value): Uint8Array {
  scratch.size = 0
  scratch.addValue(value)
  // The copy is in Node's buffer pool, which is cheaper than a new allocation.
  return Buffer.from(scratch.view(0, scratch.size))
}

/** The key of all arrays with this many elements. */
export function arrayKey(size: number): Uint8Array {
  return Uint8Array.of(tag.array, size >>> 24, size >>> 16, size >>> 8, size)
}

/** The smallest key that is greater than every key with this prefix. */
export function afterPrefix(prefix: Uint8Array): Uint8Array {
  // Uint8Array.from copies the bytes; slice() of a Buffer would not.
  const after = Uint8Array.from(prefix)
  for (let i = after.length - 1; i >= 0; i--) {
    if (after[i] !== 0xff) {
      after[i]!++
      return after.subarray(0, i + 1)
    }
  }
  throw new Error('every key starts with a type, and no type is 0xff')
}

/** A growing buffer into which keys are written one after the other. */
export class KeyBytes {
  size = 0
  #bytes: Uint8Array
  #numbers: DataView

  constructor(capacity: number) {
    this.#bytes = new Uint8Array(capacity)
    this.#numbers = new DataView(this.#bytes.buffer)
  }

  view(start: number, end: number): Uint8Array {
    return this.#bytes.subarray(start, end)
  }

  /** Whether two ranges have the same bytes. */
  areSame(start: number, end: number, otherStart: number, otherEnd: number): boolean {
    if (end - start !== otherEnd - otherStart) return false
    const bytes = this.#bytes
    for (let i = 0; i < end - start; i++)
      if (bytes[start + i] !== bytes[otherStart + i]) return false
    return true
  }

  addValue(value: Value): void {
    if (value === null) this.#byte(tag.null)
    else if (typeof value === 'string') this.#string(value)
    else if (typeof value === 'number') this.#double(tag.number, value)
    else if (typeof value === 'boolean') {
      this.#byte(tag.boolean)
      this.#byte(value ? 1 : 0)
    } else if (Array.isArray(value)) {
      this.#reserve(5)
      this.#byte(tag.array)
      this.#numbers.setUint32(this.size, value.length)
      this.size += 4
    } else if (isDecimal(value)) this.#decimal(value)
    else this.#object(value)
  }

  #object(value: Value): void {
    const extended = extendedOf(value)
    switch (extended?.kind) {
      case 'uuid':
      case 'objectId':
        this.#string(extended.text)
        return
      case 'date':
        this.#double(tag.date, extended.ms)
        return
      case 'binary':
        this.#byte(tag.binary)
        return
      case 'malformed':
      case undefined:
        this.#byte(tag.object)
    }
  }

  #byte(byte: number): void {
    this.#reserve(1)
    this.#bytes[this.size++] = byte
  }

  /**
   * Encodes each UTF-16 code unit like a character of UTF-8 (CESU-8). The result sorts as
   * JavaScript compares strings, and preserves lone surrogates.
   */
  #string(text: string): void {
    this.#reserve(1 + text.length * 3)
    const bytes = this.#bytes
    let at = this.size
    bytes[at++] = tag.string
    for (let i = 0; i < text.length; i++) {
      const unit = text.charCodeAt(i)
      if (unit < 0x80) bytes[at++] = unit
      else if (unit < 0x800) {
        bytes[at++] = 0xc0 | (unit >> 6)
        bytes[at++] = 0x80 | (unit & 0x3f)
      } else {
        bytes[at++] = 0xe0 | (unit >> 12)
        bytes[at++] = 0x80 | ((unit >> 6) & 0x3f)
        bytes[at++] = 0x80 | (unit & 0x3f)
      }
    }
    this.size = at
  }

  /**
   * Appends a double as IEEE 754 bytes that sort like numbers: the sign bit of a positive number is
   * inverted, and all bits of a negative number are.
   */
  #double(type: number, value: number): void {
    this.#reserve(9)
    this.#bytes[this.size] = type
    const at = this.size + 1
    this.#numbers.setFloat64(at, value === 0 ? 0 : value)
    if (this.#bytes[at]! & 0x80) for (let i = at; i < at + 8; i++) this.#bytes[i]! ^= 0xff
    else this.#bytes[at]! ^= 0x80
    this.size += 9
  }

  /**
   * Appends the greatest double that does not exceed the number. The exponent and digits of the
   * number's magnitude follow, to distinguish numbers with the same double. If the number is
   * negative, the bits of exponent and digits are inverted.
   */
  #decimal(value: Decimal): void {
    this.#double(tag.number, greatestDoubleUpTo(value))
    const { sign, digits, exponent } = decimalParts(value)
    this.#reserve(9 + digits.length)
    const start = this.size
    // Exponents fit 33 bits with their sign; adding 2 ** 40 makes them positive and keeps their
    // order.
    const biased = exponent + 2 ** 40
    this.#numbers.setUint32(start, Math.floor(biased / 2 ** 16))
    this.#numbers.setUint16(start + 4, biased % 2 ** 16)
    for (let i = 0; i < digits.length; i++)
      this.#bytes[start + 6 + i] = digits.charCodeAt(i)
    this.size = start + 6 + digits.length
    if (sign < 0) {
      for (let i = start; i < this.size; i++) this.#bytes[i]! ^= 0xff
      // If two negative numbers have the same leading digits, the one with fewer digits is greater.
      // The final 0xff makes its key sort last.
      this.#byte(0xff)
    }
  }

  #reserve(size: number): void {
    if (this.size + size <= this.#bytes.length) return
    const grown = new Uint8Array(Math.max(this.#bytes.length * 2, this.size + size))
    grown.set(this.#bytes.subarray(0, this.size))
    this.#bytes = grown
    this.#numbers = new DataView(grown.buffer)
  }
}

const scratch = new KeyBytes(1024)

/** Whether a key represents the value completely: numbers, strings, booleans, dates and null. */
export function isScalar(value: Value): boolean {
  if (Array.isArray(value)) return false
  if (!isObject(value)) return true
  const kind = extendedOf(value)?.kind
  return kind === 'uuid' || kind === 'objectId' || kind === 'date'
}

function greatestDoubleUpTo(value: Decimal): number {
  const nearest = Number(value.decimal)
  if (nearest === Infinity) return Number.MAX_VALUE
  // Numbers below all doubles have the same first bytes in their keys. The digits that follow order
  // them.
  if (nearest === -Infinity) return -Infinity
  return compareNumeric(nearest, value) <= 0 ? nearest : previousDouble(nearest)
}

function previousDouble(value: number): number {
  if (value === 0) return -Number.MIN_VALUE
  const view = new DataView(new ArrayBuffer(8))
  view.setFloat64(0, value)
  view.setBigInt64(0, view.getBigInt64(0) + (value > 0 ? -1n : 1n))
  return view.getFloat64(0)
}
