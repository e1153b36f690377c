/**
 * State of an index entry in one source: added, removed (a tombstone), or changed while it existed.
 * The newest change of an entry hides older changes.
 *
 * An entry is only added when it is absent and only removed when it is present; the writer must
 * know whether it is present. So changes of an entry can be combined over any interval: an addition
 * and a removal cancel out, without a tombstone. And entries can be counted without a merge:
 * additions minus removals.
 */
import type { Tie } from '../format/entry-key.ts'

/** Values of the two low bits of a state. */
export const kinds = { add: 0, change: 1, remove: 2 } as const

/**
 * Kind and flags: whether the entry is an array element and, for a change, whether it was an array
 * element before. A tombstone has the element flag of the removed entry.
 */
export type State = number

const elementFlag = 4
const beforeFlag = 8
/** Width of a state in bits. */
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

/** Packs a state and the size of a key suffix into one number. */
export function headOf(size: number, state: State): number {
  return (size << stateBits) | state
}

export function stateIn(head: number): State {
  return head & statesMask
}

export function sizeIn(head: number): number {
  return head >>> stateBits
}

/** Change of the number of entries: 1, 0 or -1. */
export function countIn(state: State): number {
  return 1 - kindOf(state)
}

/** Change of the number of entries, excluding array elements: 1, 0 or -1. */
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

/** A change of one entry. */
export interface Change {
  readonly key: string
  readonly state: State
  /** Document number; 0 in stored tombstones of rows. */
  readonly doc: number
}

/** Combines two changes of an entry; undefined when they cancel out. */
export function combine(
  older: Change | undefined,
  newer: Change,
  tie: Tie,
): Change | undefined {
  if (older === undefined) return newer
  const state = combineStates(older.state, newer.state, tie)
  return state === undefined ? undefined : { key: newer.key, state, doc: newer.doc }
}

/**
 * Combines the states of two changes of an entry; undefined when they cancel out. With row ids as
 * ties, a change that alters no count is kept, because the id may belong to a row with another
 * number now. With document numbers as ties, the key contains the number, so such a change cancels
 * out.
 */
export function combineStates(older: State, newer: State, tie: Tie): State | undefined {
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

/**
 * State of a change when no older change of the entry exists; undefined for a tombstone, because no
 * older change is left to hide.
 */
export function oldestState(state: State): State | undefined {
  switch (kindOf(state)) {
    case kinds.add:
      return state
    case kinds.remove:
      return undefined
    default:
      return kinds.add | (state & elementFlag)
  }
}
