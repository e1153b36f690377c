/**
 * Primary keys as texts whose order is the order of the rows: by partition, within it by the
 * columns of the partition sort, each in its direction.
 *
 * Each part is the key of a comparable (language/values/key.ts), one character a byte. A zero byte is
 * followed by 0xff, and two zeros end the part, so that parts need no lengths and a shorter
 * one sorts first; for descending order all bytes are complemented.
 */
import type { Value } from '../../../json/value.ts'
import { keyOf } from '../../../language/values/key.ts'

export interface KeyPart {
  /** What the column's value compares by. */
  readonly value: Value
  readonly direction: 1 | -1
}

export function keyText(parts: readonly KeyPart[]): string {
  return parts.map(({ value, direction }) => partText(keyOf(value), direction)).join('')
}

/** Greater than all texts that start with this one, and less than all others beyond it. */
export function endOfPrefix(text: string): string {
  return `${text}\u0100`
}

function partText(key: Uint8Array, direction: 1 | -1): string {
  const bytes = Buffer.alloc(2 * key.length + 2)
  let size = 0
  for (const byte of key) {
    bytes[size++] = byte
    if (byte === 0) bytes[size++] = 255
  }
  size += 2
  if (direction === -1) for (let i = 0; i < size; i++) bytes[i] = 255 - bytes[i]!
  return bytes.toString('latin1', 0, size)
}
