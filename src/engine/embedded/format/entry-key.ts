/**
 * Keys of index entries: texts whose order is the order of entries, by path, then by value, then by
 * the tie, which distinguishes the entries of one value: the document number or the row id.
 *
 * Each character is one byte: strings compare faster than byte arrays and take less memory. A path
 * is encoded as its number, preceded by the length of that number in bytes. The key of a value may
 * be a prefix of another key, so it ends with 0x00 and a byte below 0x80. Zero bytes are run-length
 * encoded: n zeros before another byte become 0x00 and 0xff - n; n zeros at the end become 0x00 and
 * n, which is then the ending. This keeps the order and shortens most numbers.
 */

/** Order of the entries of one value: by document number or by row id. */
export type Tie = 'doc' | 'id'

/** The document or row of an entry. */
export interface EntryOwner {
  readonly seq: number
  readonly id: Uint8Array
}

/**
 * The key of a value within a buffer. Creating an array for each value would take longer than
 * packing its key.
 */
export interface KeySpan {
  readonly bytes: Uint8Array
  readonly start: number
  readonly end: number
}

/** Bytes of a document number: enough for a trillion documents. */
export const docSize = 5
export const docMax = 2 ** 40 - 1

/** 2 ** 32, the weight of the first byte, as a literal: V8 would compute a power each time. */
const firstByteUnit = 4_294_967_296

/** Greater than the first byte of any value or tie. */
const beyond = '\xff'

/** Maximum number of zeros that one byte counts. */
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

/** The key as bytes, valid until the next key is made. */
export function packedKey(path: number, value: KeySpan, owner: EntryOwner, tie: Tie) {
  const start = writeStart(path, value, owner.id.length)
  const size = writeTie(start, owner, tie)
  return { bytes: scratch, start: 0, size }
}

export function spanOf(bytes: Uint8Array): KeySpan {
  return { bytes, start: 0, end: bytes.length }
}

/** Prefix of all keys of a path. */
export function pathStart(path: number): string {
  return scratch.toString('latin1', 0, writePath(path))
}

/** Prefix of the keys of a value at a path, and of no other keys. */
export function valueStart(path: number, value: Uint8Array): string {
  // `writeStart` is called first, because it may replace `scratch`.
  const size = writeStart(path, spanOf(value), 0)
  return scratch.toString('latin1', 0, size)
}

/** Upper bound of all keys with the prefix `start`, from `pathStart` or `valueStart`. */
export function afterStart(start: string): string {
  return start + beyond
}

/** The end of a key: the number of a document, or the id of a row. */
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

/** Decodes a document number at the end of a key. */
export function numberAt(bytes: Uint8Array, at: number): number {
  const low =
    (bytes[at + 1]! << 24) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 8) | bytes[at + 4]!
  return bytes[at]! * firstByteUnit + (low >>> 0)
}

/** Offset in a key at which the value ends and the tie starts. */
export function tieStart(key: string): number {
  let at = 1 + key.charCodeAt(0)
  for (;;) {
    at = key.indexOf('\0', at)
    if (key.charCodeAt(at + 1) < 0x80) return at + 2
    at += 2
  }
}

/** Like `tieStart`, for a key within a buffer. */
export function tieStartIn(bytes: Uint8Array, start: number): number {
  let at = start + 1 + bytes[start]!
  for (;;) {
    at = bytes.indexOf(0, at)
    if (bytes[at + 1]! < 0x80) return at + 2
    at += 2
  }
}

/** Decodes the key of the value from the key of an entry. */
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

/** Number of the path in a key. */
export function pathIn(key: string): number {
  return numberIn(key, 1, 1 + key.charCodeAt(0))
}

/** The row id in a key; only for keys whose tie is the row id. */
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
  // Each byte may become two bytes; 32 bytes are enough for the path, the ending and a number.
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
