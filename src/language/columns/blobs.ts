import { extendedOf } from '../../json/extended.ts'
import type { JsonObject, Value } from '../../json/value.ts'

export function readBlob(value: Value): JsonObject | undefined {
  const binary = extendedOf(value)
  if (binary?.kind !== 'binary') return undefined
  // The last character of Base64 may have unused bits, so different texts can encode the same
  // bytes. Encoding the bytes again gives equal texts for equal bytes.
  return new Map([['$binary', Buffer.from(binary.base64, 'base64').toString('base64')]])
}

/** The bytes as a string: one Latin-1 character per byte. */
export function comparableBlob(stored: Value): string {
  const base64 = (stored as JsonObject).get('$binary') as string
  return Buffer.from(base64, 'base64').toString('latin1')
}
