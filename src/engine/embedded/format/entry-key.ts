/**
 * An entry of the index as one text, so that the order of texts is the order of entries: by
 * path, then by value, then by what tells apart those that share a value, which is called the
 * tie: the document's number, or the row's id.
 *
 * Each character is a byte: texts compare faster than arrays of bytes, and take less memory.
 * A path is its number, the count of its bytes first. A value's key may be the start of
 * another's, so it is ended by a zero byte and a number below 0x80. The zeros that it has are
 * counted: n of them, with something behind them, are 0x00 and 0xff - n; those that it ends
 * with are the number of its ending. That keeps the order and makes most numbers shorter.
 */

/** What entries of one value are ordered by: documents' numbers, or rows' ids. */
export type Tie = 'doc' | 'id'

/** The document or row that an entry is of. */
export interface EntryOwner {
  readonly seq: number
  readonly id: Uint8Array
}

/** The key of a value among others. To make an array of each would take longer than to pack it. */
export interface KeySpan {
  readonly bytes: Uint8Array
  readonly start: number
  readonly end: number
}

/** Bytes of a document's number: a trillion documents. */
export const docSize = 5
export const docMax = 2 ** 40 - 1

/** What the first of them counts: V8 works a power out each time. */
const firstByteUnit = 4_294_967_296

/** Greater than how any value or tie starts. */
const beyond = '\xff'

/** Zeros that one mark can count. */
const zerosMax = 126

let scratch = Buffer.alloc(4096)

export function entryKey(
  path: number,
  value: Uint8Array,
  owner: EntryOwner,
  tie: Tie,
): string {
  const { bytes, size } = packedKey(path, spanOf(value), owner, tie)
  return bytes.toString('latin1', 0, size)
}

/** The same as bytes, which hold until the next key is made. */
export function packedKey(path: number, value: KeySpan, owner: EntryOwner, tie: Tie) {
  const start = writeStart(path, value, owner.id.length)
  const size = writeTie(start, owner, tie)
  return { bytes: scratch, start: 0, size }
}

export function spanOf(bytes: Uint8Array): KeySpan {
  return { bytes, start: 0, end: bytes.length }
}

/** How all keys of a path start. */
export function pathStart(path: number): string {
  return scratch.toString('latin1', 0, writePath(path))
}

/** How all keys of a value at a path start, and no others. */
export function valueStart(path: number, value: Uint8Array): string {
  // Writing may make a larger one.
  const size = writeStart(path, spanOf(value), 0)
  return scratch.toString('latin1', 0, size)
}

/** The first key that may come behind all that start so; `start` is one of the above. */
export function afterStart(start: string): string {
  return start + beyond
}

/** What ends the key of a document's entry, which is its number, or of a row's, its id. */
export function tieText({ seq, id }: EntryOwner, tie: Tie): string {
  if (tie === 'id')
    return Buffer.from(id.buffer, id.byteOffset, id.length).toString('latin1')
  const low = seq >>> 0
  return String.fromCharCode(
    (seq / firstByteUnit) & 255,
    low >>> 24,
    (low >>> 16) & 255,
    (low >>> 8) & 255,
    low & 255,
  )
}

/** A document's number, as keys end with it. */
export function numberAt(bytes: Uint8Array, at: number): number {
  const low =
    (bytes[at + 1]! << 24) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 8) | bytes[at + 4]!
  return bytes[at]! * firstByteUnit + (low >>> 0)
}

/** Where a key's value ends and its tie starts. */
export function tieStart(key: string): number {
  let at = 1 + key.charCodeAt(0)
  for (;;) {
    at = key.indexOf('\0', at)
    if (key.charCodeAt(at + 1) < 0x80) return at + 2
    at += 2
  }
}

/** The same of a key that starts somewhere in a buffer. */
export function tieStartIn(bytes: Uint8Array, start: number): number {
  let at = start + 1 + bytes[start]!
  for (;;) {
    at = bytes.indexOf(0, at)
    if (bytes[at + 1]! < 0x80) return at + 2
    at += 2
  }
}

/** The key of the value that an entry's key has in it. */
export function valueIn(key: string): Uint8Array {
  const end = tieStart(key)
  const bytes = Buffer.from(key.slice(1 + key.charCodeAt(0), end), 'latin1')
  const first = bytes.indexOf(0)
  if (first === bytes.length - 2 && bytes[first + 1] === 0) return bytes.subarray(0, first)
  const value: number[] = []
  for (let i = 0; i < bytes.length; i++) {
    if (bytes[i] !== 0) value.push(bytes[i]!)
    else {
      const mark = bytes[++i]!
      const zeros = mark < 0x80 ? mark : 0xff - mark
      for (let n = 0; n < zeros; n++) value.push(0)
    }
  }
  return Uint8Array.from(value)
}

/** The path's number. */
export function pathIn(key: string): number {
  return numberIn(key, 1, 1 + key.charCodeAt(0))
}

/** The row's id, where that is the tie. */
export function idIn(key: string): Uint8Array {
  return Buffer.from(key.slice(tieStart(key)), 'latin1')
}

function numberIn(key: string, from: number, to: number): number {
  let number = 0
  for (let i = from; i < to; i++) number = number * 256 + key.charCodeAt(i)
  return number
}

function writePath(path: number): number {
  if (path < 256) {
    scratch[0] = 1
    scratch[1] = path
    return 2
  }
  let size = 1
  for (let rest = path; rest >= 256; rest = Math.floor(rest / 256)) size++
  scratch[0] = size
  scratch.writeUIntBE(path, 1, size)
  return 1 + size
}

function writeStart(path: number, { bytes, start, end }: KeySpan, tieSize: number): number {
  // Each byte may take two, and path, ending and tie come to it.
  const sizeMax = 2 * (end - start) + tieSize + 32
  if (sizeMax > scratch.length) scratch = Buffer.alloc(2 * sizeMax)
  let at = writePath(path)
  for (let i = start; i < end;) {
    const byte = bytes[i++]!
    scratch[at++] = byte
    if (byte !== 0) continue
    let zeros = 1
    while (i < end && bytes[i] === 0 && zeros < zerosMax) {
      zeros++
      i++
    }
    if (i === end) {
      scratch[at++] = zeros
      return at
    }
    scratch[at++] = 0xff - zeros
  }
  scratch[at++] = 0
  scratch[at++] = 0
  return at
}

function writeTie(at: number, { seq, id }: EntryOwner, tie: Tie): number {
  if (tie === 'doc') {
    if (seq > docMax) throw new Error(`document ${seq} has too large a number`)
    return scratch.writeUIntBE(seq, at, docSize)
  }
  scratch.set(id, at)
  return at + id.length
}
