/**
 * Primary keys as texts whose order is the order of the rows: by partition, then by the columns of
 * the partition sort, each in its direction.
 *
 * Each part is the key of a comparable value (language/values/key.ts), one character per byte. A
 * zero byte is followed by 0xff, and two zero bytes end the part, so that parts need no lengths and
 * a part sorts before longer parts that start with it. In a descending column all bytes are
 * complemented.
 */
import type { Value } from '../../../json/value.ts'
import { keyOf } from '../../../language/values/key.ts'

export interface KeyPart {
  /** Comparable value of the column. */
  readonly value: Value
  readonly direction: 1 | -1
}

export function keyText(parts: readonly KeyPart[]): string {
  let text = ''
  for (const part of parts) text += partText(part)
  return text
}

/**
 * A text greater than all texts with this prefix, and less than all greater texts without the
 * prefix.
 */
export function endOfPrefix(text: string): string {
  return `${text}\u0100`
}

function partText({ value, direction }: KeyPart): string {
  const key = keyOf(value)
  const sizeMax = 2 * key.length + 2
  if (sizeMax > scratch.length) scratch = Buffer.alloc(2 * sizeMax)
  const bytes = scratch
  let size = 0
  for (const byte of key) {
    bytes[size++] = byte
    if (byte === 0) bytes[size++] = 255
  }
  bytes[size++] = 0
  bytes[size++] = 0
  if (direction === -1) for (let i = 0; i < size; i++) bytes[i] = 255 - bytes[i]!
  return bytes.toString('latin1', 0, size)
}

/** Reusable buffer for one part. */
let scratch = Buffer.alloc(256)
