/**
 * Converts primitive values to and from the driver's forms.
 *
 * Values are bound as bytes where the driver's own types lose precision. Reading requires a client
 * with `useBigIntAsLong` and `useBigIntAsVarint`.
 */
import { types as cql } from 'cassandra-driver'
import { decimalParts, readNumeral } from '../../../json/decimal.ts'
import type { JsonObject, Numeric, Value } from '../../../json/value.ts'
import { printDay } from '../../../language/columns/calendar.ts'
import type { PrimitiveName } from '../../../language/columns/column-type.ts'
import { comparableDate } from '../../../language/columns/dates.ts'
import { durationParts, printDuration } from '../../../language/columns/durations.ts'
import { comparableInet, readInet } from '../../../language/columns/inets.ts'
import { readDouble, readFloat } from '../../../language/columns/numbers.ts'
import { comparableTime, readTime } from '../../../language/columns/times.ts'
import { comparableTimestamp, timestampAt } from '../../../language/columns/timestamps.ts'
import { EngineError } from '../../errors.ts'
import { scaledNumber } from './numerals.ts'

/** The value to bind for a parameter of this type. */
export function bindPrimitive(name: PrimitiveName, value: Value): unknown {
  switch (name) {
    case 'ascii':
    case 'text':
      checkWellFormed(value as string)
      return value
    case 'boolean':
    case 'int':
    case 'smallint':
    case 'tinyint':
      return value
    case 'bigint':
    case 'counter':
      return bytesOfLong(wholeOf(value as Numeric))
    case 'varint':
      return bytesOfWhole(wholeOf(value as Numeric))
    case 'decimal':
      return bytesOfDecimal(value as Numeric)
    case 'double':
    case 'float':
      return Number(value)
    case 'blob':
      return Buffer.from((value as JsonObject).get('$binary') as string, 'base64')
    case 'date':
      return bytesOfDay(comparableDate(value))
    case 'time':
      return bytesOfLong(BigInt(comparableTime(value)))
    case 'timestamp':
      return bytesOfLong(wholeOf(comparableTimestamp(value)))
    case 'duration':
      return bytesOfDuration(value as string)
    case 'inet':
      return Buffer.from(comparableInet(value), 'hex')
    case 'uuid':
    case 'timeuuid':
      return Buffer.from((value as string).replaceAll('-', ''), 'hex')
  }
}

/**
 * Throws when a text has a lone surrogate: Cassandra stores UTF-8, in which the driver would
 * replace it by U+FFFD.
 */
function checkWellFormed(text: string): void {
  if (!text.isWellFormed())
    throw new EngineError(
      'value',
      `the text ${JSON.stringify(text.slice(0, 100))} contains an unpaired ` +
        'surrogate, which a cluster cannot store',
    )
}

/** The bytes in which the cluster stores a value. */
export function bytesOfPrimitive(name: PrimitiveName, value: Value): Buffer {
  const bound = bindPrimitive(name, value)
  if (Buffer.isBuffer(bound)) return bound
  if (typeof bound === 'string') return Buffer.from(bound)
  const number = Number(bound)
  const bytes = Buffer.alloc(8)
  switch (name) {
    case 'int':
      return bytes.subarray(0, bytes.writeInt32BE(number))
    case 'smallint':
      return bytes.subarray(0, bytes.writeInt16BE(number))
    case 'float':
      return bytes.subarray(0, bytes.writeFloatBE(number))
    case 'double':
      return bytes.subarray(0, bytes.writeDoubleBE(number))
    default:
      return bytes.subarray(0, bytes.writeInt8(number))
  }
}

/** Converts a non-null value from the driver. */
export function readPrimitive(name: PrimitiveName, given: unknown): Value {
  switch (name) {
    case 'ascii':
    case 'text':
    case 'boolean':
    case 'int':
    case 'smallint':
    case 'tinyint':
      return given as Value
    case 'bigint':
    case 'counter':
    case 'varint':
      return readNumeral(String(given))
    case 'decimal':
      return decimalOf(cql.BigDecimal.toBuffer(given as cql.BigDecimal))
    case 'double':
      return readDouble(given as number)!
    case 'float':
      return readFloat(given as number)!
    case 'blob':
      return new Map([['$binary', (given as Buffer).toString('base64')]])
    case 'date':
      return printDay((given as cql.LocalDate).toBuffer().readUInt32BE() - dayZero)
    case 'time':
      return readTime((given as cql.LocalTime).toString())!
    case 'timestamp':
      return timestampOf(given as Date | bigint)
    case 'duration':
      return durationOf(given as GivenDuration)
    case 'inet':
      return readInet(addressOf((given as cql.InetAddress).getBuffer()))!
    case 'uuid':
    case 'timeuuid':
      return (given as cql.Uuid).toString()
  }
}

/** The range of a JavaScript Date in milliseconds; beyond it, the driver returns invalid dates. */
const dateMsMax = 8_640_000_000_000_000n

/** Whether the driver can read the value back as a part of a collection or user-defined type. */
export function isReadableWithin(name: PrimitiveName, value: Value): boolean {
  if (name !== 'timestamp') return true
  const ms = wholeOf(comparableTimestamp(value))
  return ms >= -dateMsMax && ms <= dateMsMax
}

function timestampOf(given: Date | bigint): string {
  if (typeof given === 'bigint') return timestampAt(given)
  const ms = given.getTime()
  if (Number.isNaN(ms))
    throw new EngineError(
      'value',
      'a timestamp in a collection is later than the year 275760',
    )
  return timestampAt(BigInt(ms))
}

/** Fields of the driver's durations, which its type declaration lacks. */
interface GivenDuration {
  readonly months: number
  readonly days: number
  readonly nanoseconds: cql.Long
}

function durationOf({ months, days, nanoseconds }: GivenDuration): string {
  return printDuration({
    months: BigInt(months),
    days: BigInt(days),
    nanos: BigInt(nanoseconds.toString()),
  })
}

function bytesOfDuration(stored: string): Buffer {
  const { months, days, nanos } = durationParts(stored)!
  const long = cql.Long.fromString(String(nanos))
  return new cql.Duration(Number(months), Number(days), long).toBuffer()
}

/** Offset of the epoch in an encoded date, which makes unsigned bytes compare like days. */
const dayZero = 2 ** 31

function bytesOfDay(days: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(days + dayZero)
  return bytes
}

export function bytesOfLong(value: bigint): Buffer {
  const bytes = Buffer.alloc(8)
  bytes.writeBigInt64BE(value)
  return bytes
}

/** Encodes a whole number in two's complement in the fewest bytes, like Cassandra does. */
function bytesOfWhole(value: bigint): Buffer {
  const magnitude = value < 0n ? ~value : value
  const bits = magnitude === 0n ? 0 : magnitude.toString(2).length
  const size = Math.floor(bits / 8) + 1
  const unsigned = BigInt.asUintN(size * 8, value)
  return Buffer.from(unsigned.toString(16).padStart(size * 2, '0'), 'hex')
}

export function bytesOfDecimal(value: Numeric): Buffer {
  const { unscaled, scale } = scaledNumber(value)
  if (scale > scaleMax || scale < -scaleMax)
    throw new EngineError('value', 'a decimal has more digits than the cluster can store')
  const bytes = Buffer.alloc(4)
  bytes.writeInt32BE(scale)
  return Buffer.concat([bytes, bytesOfWhole(unscaled)])
}

const scaleMax = 2 ** 31 - 1

function decimalOf(bytes: Buffer): Numeric {
  const size = bytes.length - 4
  const unsigned = BigInt(`0x${bytes.toString('hex', 4) || '0'}`)
  const unscaled = BigInt.asIntN(size * 8, unsigned)
  const scale = bytes.readInt32BE()
  return readNumeral(scale === 0 ? String(unscaled) : `${unscaled}e${-scale}`)
}

function wholeOf(numeric: Numeric): bigint {
  if (typeof numeric === 'number' && Number.isSafeInteger(numeric)) return BigInt(numeric)
  const { sign, digits, exponent } = decimalParts(numeric)
  return BigInt(sign) * BigInt(digits.padEnd(exponent, '0') || '0')
}

function addressOf(bytes: Buffer): string {
  if (bytes.length === 4) return bytes.join('.')
  const groups = Array.from({ length: 8 }, (_, i) => bytes.readUInt16BE(i * 2).toString(16))
  return groups.join(':')
}
