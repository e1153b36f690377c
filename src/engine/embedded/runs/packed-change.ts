/**
 * Changes with keys as bytes, for commits, sorting and merges. A merge mostly moves keys, and
 * creating a string for each key would cost more than all other work.
 */
import type { State } from './change.ts'

/** A key within a buffer. */
export interface PackedKey {
  readonly bytes: Uint8Array
  readonly start: number
  readonly size: number
}

/** The key bytes are valid until the next operation on the object that returned them. */
export interface PackedChange extends PackedKey {
  readonly state: State
  readonly doc: number
}

/** A sequence of changes. The current change is valid until the next call of `next`. */
export interface ChangeSource extends PackedChange {
  readonly isAt: boolean
  /** Number of bytes that the key shares with the previous key; any number for the first key. */
  readonly shared: number
  next(): void
}

/** Number of bytes that two keys share. The first `known` bytes are equal. */
export function sharedBy(a: PackedKey, b: PackedKey, known: number): number {
  const { bytes, start, size } = a
  const { bytes: others, start: otherStart, size: otherSize } = b
  const both = size < otherSize ? size : otherSize
  let shared = known
  while (shared < both && bytes[start + shared] === others[otherStart + shared]) shared++
  return shared
}

/** Compares two keys that share exactly `shared` bytes; negative when `a` comes first. */
export function orderBehind(a: PackedKey, b: PackedKey, shared: number): number {
  if (shared === a.size || shared === b.size) return a.size - b.size
  return a.bytes[a.start + shared]! - b.bytes[b.start + shared]!
}
