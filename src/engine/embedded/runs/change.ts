/**
 * What an entry says: that it was added, that it was removed (a tombstone), or that it is
 * there still and was changed. What is older is seen through it.
 *
 * An entry is only added where there is none, and only removed where there is one; whoever
 * writes must know. So what became of an entry can be told from any stretch of its past: one
 * that was added and removed leaves nothing, not even a tombstone. And entries can be counted
 * without looking for their past: those that were added, less those that were removed.
 */
import type { Tie } from '../format/entry-key.ts'

/** Numbers of two bits. */
export const kinds = { add: 0, change: 1, remove: 2 } as const

/**
 * Kind, whether it is an element of an array, and, of a change, whether it was one before.
 * Of one that was removed, the flag is what it had.
 */
export type State = number

const elementFlag = 4
const beforeFlag = 8
/** Bits that a state takes. */
const stateBits = 4
const statesMask = (1 << stateBits) - 1

export function added(element: boolean): State {
  return kinds.add | (element ? elementFlag : 0)
}

export function removed(element: boolean): State {
  return kinds.remove | (element ? elementFlag : 0)
}

export function kindOf(state: State): number {
  return state & 3
}

export function isElement(state: State): boolean {
  return (state & elementFlag) !== 0
}

/** A state, and how many bytes of a key follow, in one number. */
export function headOf(size: number, state: State): number {
  return (size << stateBits) | state
}

export function stateIn(head: number): State {
  return head & statesMask
}

export function sizeIn(head: number): number {
  return head >>> stateBits
}

/** By how much it changes how many entries there are. */
export function countIn(state: State): number {
  return 1 - kindOf(state)
}

/** The same of entries that are no elements. */
export function valuesIn(state: State): number {
  return valuesByState[state]!
}

function valuesOf(state: State): number {
  const now = isElement(state) ? 0 : 1
  switch (kindOf(state)) {
    case kinds.add:
      return now
    case kinds.remove:
      return -now
    default:
      return now - ((state & beforeFlag) === 0 ? 1 : 0)
  }
}

const valuesByState = Int8Array.from({ length: 1 << stateBits }, (_, state) =>
  valuesOf(state),
)

/** An entry's key, what became of it, and whose it is. */
export interface Change {
  readonly key: string
  readonly state: State
  /** The document's number; of a row that was removed, nothing. */
  readonly doc: number
}

/** What two changes of an entry come to; undefined when nothing is left of them. */
export function together(
  older: Change | undefined,
  newer: Change,
  tie: Tie,
): Change | undefined {
  if (older === undefined) return newer
  const state = statesTogether(older.state, newer.state, tie)
  return state === undefined ? undefined : { key: newer.key, state, doc: newer.doc }
}

/**
 * The same of their states. A row may be another one than before under the same id; a document
 * has its number in the key.
 */
export function statesTogether(older: State, newer: State, tie: Tie): State | undefined {
  const state = stateOf(older, newer)
  if (state === undefined || tie === 'id') return state
  return kindOf(state) === kinds.change && valuesIn(state) === 0 ? undefined : state
}

function stateOf(older: State, newer: State): State | undefined {
  const element = newer & elementFlag
  switch (kindOf(older)) {
    case kinds.add:
      return kindOf(newer) === kinds.remove ? undefined : kinds.add | element
    case kinds.change: {
      const before = older & beforeFlag
      if (kindOf(newer) !== kinds.remove) return kinds.change | element | before
      return kinds.remove | (before === 0 ? 0 : elementFlag)
    }
    default: {
      if (kindOf(newer) === kinds.remove) return older
      return kinds.change | element | (isElement(older) ? beforeFlag : 0)
    }
  }
}

/** The state of a change that nothing is older than. */
export function withoutPast(state: State): State | undefined {
  switch (kindOf(state)) {
    case kinds.add:
      return state
    case kinds.remove:
      return undefined
    default:
      return kinds.add | (state & elementFlag)
  }
}
