import { extendedOf } from '../../json/extended.ts'
import type { JsonObject, Value } from '../../json/value.ts'

export function readBlob(value: Value): JsonObject | undefined {
  const binary = extendedOf(value)
  if (binary?.kind !== 'binary') return undefined
  // Base64 may end in unused bits. Encoding again gives equal bytes equal texts.
  return new Map([['$binary', Buffer.from(binary.base64, 'base64').toString('base64')]])
}

/** The bytes as Latin-1 characters, one per byte. */
export function comparableBlob(stored: Value): string {
  const base64 = (stored as JsonObject).get('$binary') as string
  return Buffer.from(base64, 'base64').toString('latin1')
}
