import type { Value } from '../../json/value.ts'

const pattern = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

export function readUuid(value: Value): string | undefined {
  return typeof value === 'string' && pattern.test(value) ? value.toLowerCase() : undefined
}

export function readTimeUuid(value: Value): string | undefined {
  const uuid = readUuid(value)
  return uuid?.[versionAt] === '1' ? uuid : undefined
}

const versionAt = 14

/**
 * A text that sorts like UUIDs in Cassandra: first by version. UUIDs of version 1 then sort by
 * timestamp, whose most significant digits are in the last group of its text, and then by the
 * remaining bytes. UUIDs of other versions sort by their bytes.
 */
export function comparableUuid(stored: Value): string {
  const text = stored as string
  const version = text[versionAt]!
  if (version !== '1') return version + text
  return (
    version + text.slice(15, 18) + text.slice(9, 13) + text.slice(0, 8) + text.slice(19)
  )
}

/**
 * Like comparableUuid, but for timeuuid columns: Cassandra compares their remaining bytes as signed
 * numbers.
 */
export function comparableTimeUuid(stored: Value): string {
  const text = comparableUuid(stored)
  const restAt = text.length - 17
  const rest = Buffer.from(text.slice(restAt).replace('-', ''), 'hex')
  return (
    text.slice(0, restAt) + Buffer.from(rest.map((byte) => byte ^ 0x80)).toString('hex')
  )
}
