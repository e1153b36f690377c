/**
 * Converts between JSON values and plain data. Schemas are kept as plain objects, which
 * suit SQLite columns, settings and tests, and are returned as JSON values.
 */
import { isDecimal, isObject, type Value } from './value.ts'

/**
 * Converts a value to plain data. For internal data only: digits beyond the precision of a double
 * are lost.
 */
export function toPlain(value: Value): unknown {
  if (Array.isArray(value)) return value.map(toPlain)
  if (isDecimal(value)) return Number(value.decimal)
  if (!isObject(value)) return value
  return Object.fromEntries([...value].map(([name, member]) => [name, toPlain(member)]))
}

/** Converts plain data to a value. Undefined members are omitted. */
export function fromPlain(data: unknown): Value {
  if (Array.isArray(data)) return data.map(fromPlain)
  if (typeof data !== 'object' || data === null) return data as Value
  const members = Object.entries(data).filter(([, member]) => member !== undefined)
  return new Map(members.map(([name, member]) => [name, fromPlain(member)]))
}
