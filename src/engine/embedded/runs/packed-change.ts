/**
 * Changes as they are written: keys as bytes. Merging a store is nothing but moving keys, and
 * a text for each of them would cost more than all the rest.
 */
import type { State } from './change.ts'

/** The bytes of its key are in a buffer from `start` on, and hold until something is done with it. */
export interface PackedChange {
  readonly bytes: Uint8Array
  readonly start: number
  readonly size: number
  readonly state: State
  readonly doc: number
}

/** Changes in order, one after the other. What it stands at holds until it goes on. */
export interface ChangeSource extends PackedChange {
  readonly isAt: boolean
  next(): void
}

type PackedKey = Pick<PackedChange, 'bytes' | 'start' | 'size'>

/** Negative if the first comes before the second, 0 if they are the same. */
export function compareKeys(a: PackedKey, b: PackedKey): number {
  const { bytes, start, size } = a
  const { bytes: others, start: otherStart, size: otherSize } = b
  const both = size < otherSize ? size : otherSize
  for (let i = 0; i < both; i++) {
    const order = bytes[start + i]! - others[otherStart + i]!
    if (order !== 0) return order
  }
  return size - otherSize
}

/** Keys differ mostly at their ends, in whose they are. */
export function isSameKey(a: PackedKey, b: PackedKey): boolean {
  const { bytes, start, size } = a
  const { bytes: others, start: otherStart } = b
  if (size !== b.size) return false
  for (let i = size - 1; i >= 0; i--)
    if (bytes[start + i] !== others[otherStart + i]) return false
  return true
}
