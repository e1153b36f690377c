/**
 * Cursors over sources of changes, and one over several of them that sees entries: the newest
 * change of an entry says what it is, and tombstones hide what is older.
 */
import { kindOf, kinds, type State } from './change.ts'

/** Stands at a change, or beyond the first or last one. */
export interface Cursor {
  readonly isAt: boolean
  readonly key: string
  readonly state: State
  readonly doc: number
  next(): void
  /** From beyond the last change, to the last. From the first, beyond it: for good. */
  previous(): void
}

/** What a walk finds. */
export interface Found {
  readonly key: string
  readonly state: State
  readonly doc: number
}

/**
 * The entries that cursors lead to, in order, up to a key that is not reached any more. The
 * newest source comes first.
 */
export function* entriesOf(
  cursors: readonly Cursor[],
  direction: 1 | -1,
  isWithin: (key: string) => boolean,
): Generator<Found> {
  const live = cursors.filter((cursor) => cursor.isAt && isWithin(cursor.key))
  while (live.length > 0) {
    let first = live[0]!
    let key = first.key
    /** The first key of another source: up to there it need not be asked. */
    let rival: string | undefined
    let isShared = false
    for (let i = 1; i < live.length; i++) {
      const other = live[i]!.key
      if (other === key) isShared = true
      else if (direction === 1 ? other < key : other > key) {
        rival = key
        first = live[i]!
        key = other
        isShared = false
      } else if (rival === undefined || (direction === 1 ? other < rival : other > rival))
        rival = other
    }
    if (isShared) {
      if (kindOf(first.state) !== kinds.remove)
        yield { key, state: first.state, doc: first.doc }
      for (let i = live.length - 1; i >= 0; i--)
        if (live[i]!.key === key) advance(live, i, direction, isWithin)
      continue
    }
    const at = live.indexOf(first)
    do {
      if (kindOf(first.state) !== kinds.remove)
        yield { key: first.key, state: first.state, doc: first.doc }
      if (!advance(live, at, direction, isWithin)) break
    } while (
      rival === undefined ||
      (direction === 1 ? first.key < rival : first.key > rival)
    )
  }
}

/** Whether the cursor has more. */
function advance(
  live: Cursor[],
  at: number,
  direction: 1 | -1,
  isWithin: (key: string) => boolean,
): boolean {
  const cursor = live[at]!
  if (direction === 1) cursor.next()
  else cursor.previous()
  if (cursor.isAt && isWithin(cursor.key)) return true
  live.splice(at, 1)
  return false
}
