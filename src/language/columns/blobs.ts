import { extendedOf } from '../../json/extended.ts'
import type { JsonObject, Value } from '../../json/value.ts'

export function readBlob(value: Value): JsonObject | undefined {
  const binary = extendedOf(value)
  if (binary?.kind !== 'binary') return undefined
  // Base64 may end in bits that belong to no byte. Equal bytes are kept as equal texts.
  return new Map([['$binary', Buffer.from(binary.base64, 'base64').toString('base64')]])
}

/** A text with a character for each byte. */
export function comparableBlob(stored: Value): string {
  const base64 = (stored as JsonObject).get('$binary') as string
  return Buffer.from(base64, 'base64').toString('latin1')
}
