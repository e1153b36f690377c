/**
 * Compact binary encoding of values, for opaque tokens such as page states. Strings are not
 * escaped, so their size is that of their characters.
 *
 * A value is a type byte, followed by:
 *
 *     undefined, null, false, true      nothing
 *     number                            the 8 bytes of the double
 *     decimal, strings                  a length in bytes, and the bytes
 *     list                              a count, and the values
 *     object                            a count, and for each member its name and its value
 *
 * Lengths and counts are variable-length integers: 7 bits per byte, low bits first; the
 * high bit marks a continuation. Input is untrusted: the reader takes linear time for any
 * bytes, and creates at most the allowed number of values.
 */
import { readNumeral } from './decimal.ts'
import { isDecimal, isObject, type Value } from './value.ts'

export type Packable = Value | undefined | readonly Packable[]

const tag = {
  undefined: 0,
  null: 1,
  false: 2,
  true: 3,
  number: 4,
  decimal: 5,
  /** Strings with one byte per character. */
  latin1: 6,
  utf8: 7,
  /** Strings with a lone surrogate, which UTF-8 cannot encode. */
  utf16: 8,
  list: 9,
  object: 10,
} as const

export function packValue(value: Packable): Buffer {
  const parts: Uint8Array[] = []
  pack(value, parts)
  return Buffer.concat(parts)
}

function pack(value: Packable, parts: Uint8Array[]): void {
  if (value === undefined) parts.push(Uint8Array.of(tag.undefined))
  else if (value === null) parts.push(Uint8Array.of(tag.null))
  else if (typeof value === 'boolean')
    parts.push(Uint8Array.of(value ? tag.true : tag.false))
  else if (typeof value === 'string') packString(value, parts)
  else if (typeof value === 'number') {
    const bytes = Buffer.alloc(9)
    bytes[0] = tag.number
    bytes.writeDoubleLE(value, 1)
    parts.push(bytes)
  } else if (Array.isArray(value)) {
    parts.push(head(tag.list, value.length))
    for (const element of value as readonly Packable[]) pack(element, parts)
  } else if (isObject(value as Value)) {
    const members = value as ReadonlyMap<string, Value>
    parts.push(head(tag.object, members.size))
    for (const [name, member] of members) {
      packString(name, parts)
      pack(member, parts)
    }
  } else {
    const bytes = Buffer.from((value as { readonly decimal: string }).decimal, 'latin1')
    parts.push(head(tag.decimal, bytes.length), bytes)
  }
}

const beyondLatin1 = /[^\0-\xff]/

function packString(text: string, parts: Uint8Array[]): void {
  const [kind, encoding] = !beyondLatin1.test(text)
    ? ([tag.latin1, 'latin1'] as const)
    : text.isWellFormed()
      ? ([tag.utf8, 'utf8'] as const)
      : ([tag.utf16, 'utf16le'] as const)
  const bytes = Buffer.from(text, encoding)
  parts.push(head(kind, bytes.length), bytes)
}

function head(kind: number, count: number): Uint8Array {
  const bytes = [kind]
  let left = count
  for (; left > 127; left = Math.floor(left / 128)) bytes.push((left % 128) | 128)
  bytes.push(left)
  return Uint8Array.from(bytes)
}

export interface UnpackLimits {
  readonly depthMax: number
  readonly valuesMax: number
}

/** Decodes a list of values; undefined unless the bytes are exactly one list within the limits. */
export function unpackList(
  bytes: Buffer,
  limits: UnpackLimits,
): (Value | undefined)[] | undefined {
  const reader = new Unpacker(bytes, limits)
  try {
    const value = reader.read(0)
    return Array.isArray(value) && reader.isAtEnd ? value : undefined
  } catch (error) {
    if (error instanceof Unreadable) return undefined
    throw error
  }
}

class Unreadable extends Error {}

const numeral = /^-?\d+(\.\d+)?([eE][+-]?\d+)?$/

/** An upper bound of the length of stored decimals. */
const decimalLengthMax = 10_000

/** Maximum depth of `undefined`: a sort position is a list of values that may be undefined. */
const undefinedDepthMax = 2

const encodings: ReadonlyMap<number | undefined, BufferEncoding> = new Map([
  [tag.latin1, 'latin1'],
  [tag.utf8, 'utf8'],
  [tag.utf16, 'utf16le'],
])

class Unpacker {
  readonly #bytes: Buffer
  readonly #limits: UnpackLimits
  #at = 0
  #count = 0

  constructor(bytes: Buffer, limits: UnpackLimits) {
    this.#bytes = bytes
    this.#limits = limits
  }

  get isAtEnd(): boolean {
    return this.#at === this.#bytes.length
  }

  read(depth: number): Value | undefined {
    if (++this.#count > this.#limits.valuesMax || depth > this.#limits.depthMax)
      throw new Unreadable()
    const kind = this.#bytes[this.#at++]
    switch (kind) {
      case tag.undefined:
        if (depth > undefinedDepthMax) throw new Unreadable()
        return undefined
      case tag.null:
        return null
      case tag.false:
        return false
      case tag.true:
        return true
      case tag.number:
        return this.#cut(8).readDoubleLE()
      case tag.decimal:
        return this.#decimal()
      case tag.list:
        return Array.from({ length: this.#countOfNext(1) }, () =>
          this.read(depth + 1),
        ) as Value[]
      case tag.object:
        return new Map(
          Array.from({ length: this.#countOfNext(2) }, () => [
            this.#string(this.#bytes[this.#at++]),
            this.#present(depth + 1),
          ]),
        )
      default:
        return this.#string(kind)
    }
  }

  #present(depth: number): Value {
    const value = this.read(depth)
    if (value === undefined) throw new Unreadable()
    return value
  }

  #decimal(): Value {
    const length = this.#length()
    if (length > decimalLengthMax) throw new Unreadable()
    const text = this.#cut(length).toString('latin1')
    if (!numeral.test(text)) throw new Unreadable()
    try {
      const value = readNumeral(text)
      if (isDecimal(value)) return value
    } catch {
      // readNumeral rejects exponents that are too large.
    }
    throw new Unreadable()
  }

  #string(kind: number | undefined): string {
    const encoding = encodings.get(kind)
    if (encoding === undefined) throw new Unreadable()
    return this.#cut(this.#length()).toString(encoding)
  }

  /**
   * Reads the number of the following values, each of which has at least `sizeMin` bytes. Throws
   * when the remaining input is too short for them.
   */
  #countOfNext(sizeMin: number): number {
    const count = this.#length()
    const left = this.#bytes.length - this.#at
    if (count > this.#limits.valuesMax || count * sizeMin > left) throw new Unreadable()
    return count
  }

  #length(): number {
    let length = 0
    for (let unit = 1; unit < 2 ** 35; unit *= 128) {
      const byte = this.#bytes[this.#at++]
      if (byte === undefined) break
      length += (byte & 127) * unit
      if (byte < 128) return length
    }
    throw new Unreadable()
  }

  #cut(size: number): Buffer {
    const end = this.#at + size
    if (end > this.#bytes.length) throw new Unreadable()
    const cut = this.#bytes.subarray(this.#at, end)
    this.#at = end
    return cut
  }
}
