/** Document ids: validation and generation. */
import { randomBytes, randomUUID } from 'node:crypto'
import type { DefaultIdType } from '../engine/schema.ts'
import { apiError } from '../errors/api-error.ts'
import { extendedOf } from '../json/extended.ts'
import { printJson } from '../json/print.ts'
import { isNumeric, isObject, jsonTypeOf, type Value } from '../json/value.ts'

/** Throws when the value cannot identify a document. */
export function checkId(id: Value): void {
  if (id === '') throw apiError('SHRED_BAD_DOCID_VALUE')
  if (id === null || typeof id !== 'object' || isNumeric(id)) return
  const kind = isObject(id) ? extendedOf(id)?.kind : undefined
  if (kind === 'uuid' || kind === 'objectId' || kind === 'date') return
  throw apiError('SHRED_BAD_DOCID_TYPE', { type: jsonTypeOf(id), value: printJson(id) })
}

export function newId(type: DefaultIdType | undefined): Value {
  switch (type) {
    case undefined:
      return randomUUID()
    case 'uuid':
      return new Map([['$uuid', randomUUID()]])
    case 'uuidv6':
      return new Map([['$uuid', uuidV6(Date.now())]])
    case 'uuidv7':
      return new Map([['$uuid', uuidV7(Date.now())]])
    case 'objectId':
      return new Map([['$objectId', objectId(Date.now())]])
  }
}

/**
 * Number of ticks of 100 ns between the start of the Gregorian calendar, which is the epoch of UUID
 * version 6, and 1970.
 */
const gregorianTicks = 122_192_928_000_000_000n
let lastTicks = 0n

/**
 * UUID version 6 (RFC 9562, 5.6). Within the same tick, or when the clock steps back, the previous
 * tick is incremented.
 */
export function uuidV6(nowMs: number): string {
  const ticks = BigInt(nowMs) * 10_000n + gregorianTicks
  lastTicks = ticks > lastTicks ? ticks : lastTicks + 1n
  const bytes = randomBytes(16)
  const [high, low] = [lastTicks >> 12n, lastTicks & 0xfffn]
  bytes.writeUIntBE(Number(high), 0, 6)
  bytes.writeUInt16BE(0x6000 | Number(low), 6)
  bytes[8] = 0x80 | (bytes[8]! & 0x3f)
  // The multicast bit marks the node as random instead of a hardware address.
  bytes[10]! |= 1
  return uuidText(bytes)
}

let lastMs = 0
let inMs = 0

/**
 * UUID version 7 (RFC 9562, 5.7) with method 1 of section 6.2: the 12 bits after the time are a
 * counter within the millisecond, which starts at random in the lower half.
 */
export function uuidV7(nowMs: number): string {
  const bytes = randomBytes(16)
  if (nowMs > lastMs) {
    lastMs = nowMs
    inMs = bytes.readUInt16BE(6) & 0x7ff
  } else if (++inMs > 0xfff) {
    lastMs++
    inMs = 0
  }
  bytes.writeUIntBE(lastMs, 0, 6)
  bytes.writeUInt16BE(0x7000 | inMs, 6)
  bytes[8] = 0x80 | (bytes[8]! & 0x3f)
  return uuidText(bytes)
}

function uuidText(bytes: Buffer): string {
  const hex = bytes.toString('hex')
  const ends = [8, 12, 16, 20, 32]
  return ends.map((end, i) => hex.slice(ends[i - 1] ?? 0, end)).join('-')
}

const processBytes = randomBytes(5)
let lastSecond = 0
let inSecond = 0

/** A BSON ObjectId: seconds, five random bytes of this process, and a counter. */
export function objectId(nowMs: number): string {
  const second = Math.floor(nowMs / 1000)
  if (second > lastSecond) {
    lastSecond = second
    inSecond = randomBytes(3).readUIntBE(0, 3) & 0x7fffff
  } else if (++inSecond > 0xffffff) {
    lastSecond++
    inSecond = 0
  }
  const bytes = Buffer.alloc(12)
  bytes.writeUInt32BE(lastSecond, 0)
  processBytes.copy(bytes, 4)
  bytes.writeUIntBE(inSecond, 9, 3)
  return bytes.toString('hex')
}
