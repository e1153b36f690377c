/**
 * Changes as they are written: keys as bytes. Merging a store is nothing but moving keys, and
 * a text for each of them would cost more than all the rest.
 */
import type { State } from './change.ts'

/** Where the bytes of a key are. */
export interface PackedKey {
  readonly bytes: Uint8Array
  readonly start: number
  readonly size: number
}

/** The bytes of its key hold until something is done with it. */
export interface PackedChange extends PackedKey {
  readonly state: State
  readonly doc: number
}

/** Changes in order, one after the other. What it stands at holds until it goes on. */
export interface ChangeSource extends PackedChange {
  readonly isAt: boolean
  /** How many bytes the key shares with the one before it; of the first, any number of them. */
  readonly shared: number
  next(): void
}

/** How many bytes two keys share, of which so many are known. */
export function sharedBy(a: PackedKey, b: PackedKey, known: number): number {
  const { bytes, start, size } = a
  const { bytes: others, start: otherStart, size: otherSize } = b
  const both = size < otherSize ? size : otherSize
  let shared = known
  while (shared < both && bytes[start + shared] === others[otherStart + shared]) shared++
  return shared
}

/** Of keys that share just so many bytes: negative if the first comes before the second. */
export function orderBehind(a: PackedKey, b: PackedKey, shared: number): number {
  if (shared === a.size || shared === b.size) return a.size - b.size
  return a.bytes[a.start + shared]! - b.bytes[b.start + shared]!
}
