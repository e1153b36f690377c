/**
 * Describes records by their keys (docs/internals/keys.md), for messages about records whose text
 * cannot be trusted.
 */
import { tag } from '../../../language/values/key.ts'
import type { Tie } from './entry-key.ts'

/** Names a record, for example: the document with _id "a", or the row with primary key ("a", 5). */
export function recordName(id: Uint8Array, tie: Tie): string {
  if (id.length === 0) return tie === 'id' ? 'a row' : 'a document'
  return tie === 'id'
    ? `the row with primary key (${shownParts(id).join(', ')})`
    : `the document with _id ${shownKey(id)}`
}

/** Maximum number of characters shown of a text. */
const shownMax = 200

function shownKey(key: Uint8Array): string {
  switch (key[0]) {
    case tag.null:
      return 'null'
    case tag.boolean:
      return String(key[1] === 1)
    case tag.number:
      return String(numberIn(key))
    case tag.date:
      return `{"$date":${numberIn(key)}}`
    case tag.string: {
      const text = textIn(key.subarray(1))
      return JSON.stringify(text.length > shownMax ? `${text.slice(0, shownMax)}…` : text)
    }
    default:
      return `0x${Buffer.from(key).toString('hex').slice(0, shownMax)}`
  }
}

/** Decodes a number. A number between two doubles is shown as the lower one. */
function numberIn(key: Uint8Array): number {
  const bytes = new DataView(new ArrayBuffer(8))
  const isPositive = (key[1] ?? 0) >= 0x80
  for (let i = 0; i < 8; i++)
    bytes.setUint8(i, (key[1 + i] ?? 0) ^ (isPositive ? (i === 0 ? 0x80 : 0) : 0xff))
  return bytes.getFloat64(0)
}

/** Decodes CESU-8: each UTF-16 code unit is encoded like a UTF-8 character. */
function textIn(bytes: Uint8Array): string {
  const units: number[] = []
  for (let i = 0; i < bytes.length;) {
    const first = bytes[i]!
    const next = (n: number) => (bytes[i + n] ?? 0) & 0x3f
    if (first < 0x80) {
      units.push(first)
      i += 1
    } else if (first < 0xe0) {
      units.push(((first & 0x1f) << 6) | next(1))
      i += 2
    } else {
      units.push(((first & 0x0f) << 12) | (next(1) << 6) | next(2))
      i += 3
    }
  }
  return units.map((unit) => String.fromCharCode(unit)).join('')
}

/**
 * The columns of a primary key, as shown in messages. The text of a primary key contains the key of
 * each column, terminated by two zero bytes.
 */
function shownParts(id: Uint8Array): string[] {
  const bytes = Buffer.from(textIn(id.subarray(1)), 'latin1')
  const shown: string[] = []
  let part: number[] = []
  for (let i = 0; i < bytes.length; i++) {
    // The first byte of a part is a type, whose low half is 0. In descending columns, all bytes are
    // complemented.
    const mask = part.length === 0 ? ((bytes[i]! & 0x0f) === 0 ? 0 : 0xff) : maskOf(part)
    const byte = bytes[i]! ^ mask
    if (byte !== 0 || part.length === 0) {
      part.push(part.length === 0 ? bytes[i]! : byte)
      continue
    }
    i++
    if ((bytes[i]! ^ mask) === 0xff) {
      part.push(0)
      continue
    }
    shown.push(shownKey(Uint8Array.of(part[0]! ^ mask, ...part.slice(1))))
    part = []
  }
  return shown
}

function maskOf(part: readonly number[]): number {
  return (part[0]! & 0x0f) === 0 ? 0 : 0xff
}
