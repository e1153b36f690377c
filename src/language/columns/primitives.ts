/** Primitive types: the values that they accept, and their comparable forms. */
import type { JsonType, Value } from '../../json/value.ts'
import { comparableBlob, readBlob } from './blobs.ts'
import type { PrimitiveName } from './column-type.ts'
import { comparableDate, dateFirst, dateLast, readDate } from './dates.ts'
import { readDuration } from './durations.ts'
import { comparableInet, readInet } from './inets.ts'
import {
  comparableDouble,
  largeWholeNumbers,
  readDecimal,
  readDouble,
  readFloat,
  wholeNumbers,
} from './numbers.ts'
import { comparableTime, readTime } from './times.ts'
import { comparableTimestamp, readTimestamp } from './timestamps.ts'
import { comparableTimeUuid, comparableUuid, readTimeUuid, readUuid } from './uuids.ts'

export interface Primitive {
  /** The usual JSON type of the values. */
  readonly json: JsonType
  /** The accepted values, in words. */
  readonly takes: string
  /** Converts to the stored form; undefined if the value is not accepted. */
  readonly read: (value: Value) => Value | undefined
  /** Comparable form of a stored value: a number, Decimal, string or boolean. */
  readonly comparable: (stored: Value) => Value
}

const itself = (stored: Value): Value => stored

const floating = {
  json: 'Number',
  takes: 'a number, "NaN", "Infinity" or "-Infinity"',
  comparable: comparableDouble,
} as const

export const primitives: Readonly<Record<PrimitiveName, Primitive>> = {
  ascii: {
    json: 'String',
    takes: 'a string of ASCII characters',
    read: readAscii,
    comparable: itself,
  },
  bigint: { json: 'Number', ...wholeNumbers(64n), comparable: itself },
  blob: {
    json: 'Object',
    takes: '{"$binary": …} with padded standard Base64',
    read: readBlob,
    comparable: comparableBlob,
  },
  boolean: {
    json: 'Boolean',
    takes: 'true or false',
    read: (value) => (typeof value === 'boolean' ? value : undefined),
    comparable: itself,
  },
  // Filters can compare counters; requests cannot write them.
  counter: { json: 'Number', ...wholeNumbers(64n), comparable: itself },
  date: {
    json: 'String',
    takes:
      `a string such as "2024-02-29", from "${dateFirst}" to "${dateLast}"; ` +
      'only a year beyond 0000 to 9999 has a sign',
    read: readDate,
    comparable: comparableDate,
  },
  decimal: { json: 'Number', takes: 'a number', read: readDecimal, comparable: itself },
  double: { ...floating, read: readDouble },
  duration: {
    json: 'String',
    takes:
      'a string such as "1y2mo3d4h5m6s" or "P1Y2M3DT4H5M6S", with at most 2147483647 ' +
      'months, 2147483647 days and 9223372036854775807 nanoseconds',
    // The stored form is canonical, so equal durations are identical. Durations have no order,
    // because months differ in length.
    read: readDuration,
    comparable: itself,
  },
  float: { ...floating, read: readFloat },
  inet: {
    json: 'String',
    takes: 'a string with an IPv4 or IPv6 address, without port, prefix length or zone',
    read: readInet,
    comparable: comparableInet,
  },
  int: { json: 'Number', ...wholeNumbers(32n), comparable: itself },
  smallint: { json: 'Number', ...wholeNumbers(16n), comparable: itself },
  text: {
    json: 'String',
    takes: 'a string',
    read: (value) => (typeof value === 'string' ? value : undefined),
    comparable: itself,
  },
  time: {
    json: 'String',
    takes: 'a string such as "14:30", "14:30:15" or "14:30:15.123456789"',
    read: readTime,
    comparable: comparableTime,
  },
  timestamp: {
    json: 'String',
    takes:
      'a string such as "2024-09-24T14:06:59.5Z", or with an offset such as "+02:00" for ' +
      'the Z, or {"$date": …} with milliseconds since 1970',
    read: readTimestamp,
    comparable: comparableTimestamp,
  },
  timeuuid: {
    json: 'String',
    takes: 'a string with a UUID of version 1',
    read: readTimeUuid,
    comparable: comparableTimeUuid,
  },
  tinyint: { json: 'Number', ...wholeNumbers(8n), comparable: itself },
  uuid: {
    json: 'String',
    takes: 'a string of 36 characters, hexadecimal digits in groups of 8-4-4-4-12',
    read: readUuid,
    comparable: comparableUuid,
  },
  varint: { json: 'Number', ...largeWholeNumbers, comparable: itself },
}

function readAscii(value: Value): string | undefined {
  if (typeof value !== 'string') return undefined
  for (let at = 0; at < value.length; at++)
    if (value.charCodeAt(at) > 0x7f) return undefined
  return value
}
