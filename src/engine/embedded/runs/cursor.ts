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
  /** Beyond the last change, or the first, a cursor is of no more use. */
  next(): void
  previous(): void
}

/**
 * A cursor that is opened when it is reached: until then it stands at a key that nothing of
 * it comes before.
 */
export interface LateCursor {
  readonly key: string
  readonly open: () => Cursor
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
  cursors: readonly (Cursor | LateCursor)[],
  direction: 1 | -1,
  isWithin: (key: string) => boolean,
): Generator<Found> {
  const live = cursors.filter(
    (cursor) => 'open' in cursor || (cursor.isAt && isWithin(cursor.key)),
  )
  let lateCount = live.filter((cursor) => 'open' in cursor).length
  while (live.length > 0) {
    let at = 0
    let { key } = live[0]!
    /** The first key of another source: up to there it need not be asked. */
    let rival: string | undefined
    let isShared = false
    for (let i = 1; i < live.length; i++) {
      const other = live[i]!.key
      if (other === key) isShared = true
      else if (direction === 1 ? other < key : other > key) {
        rival = key
        at = i
        key = other
        isShared = false
      } else if (rival === undefined || (direction === 1 ? other < rival : other > rival))
        rival = other
    }
    if (lateCount > 0) {
      const opened = openAt(key, live, isWithin)
      lateCount -= opened
      if (opened > 0) continue
    }
    const first = live[at] as Cursor
    if (isShared) {
      if (kindOf(first.state) !== kinds.remove)
        yield { key, state: first.state, doc: first.doc }
      for (let i = live.length - 1; i >= at; i--)
        if (live[i]!.key === key) advance(live, i, direction, isWithin)
      continue
    }
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

/** Opens the cursors that are reached at a key: how many there were. */
function openAt(
  key: string,
  live: (Cursor | LateCursor)[],
  isWithin: (key: string) => boolean,
): number {
  let count = 0
  for (let i = live.length - 1; i >= 0; i--) {
    const late = live[i]!
    if (!('open' in late) || late.key !== key) continue
    count++
    const cursor = late.open()
    if (cursor.isAt && isWithin(cursor.key)) live[i] = cursor
    else live.splice(i, 1)
  }
  return count
}

/** Whether the cursor has more. */
function advance(
  live: (Cursor | LateCursor)[],
  at: number,
  direction: 1 | -1,
  isWithin: (key: string) => boolean,
): boolean {
  const cursor = live[at] as Cursor
  if (direction === 1) cursor.next()
  else cursor.previous()
  if (cursor.isAt && isWithin(cursor.key)) return true
  live.splice(at, 1)
  return false
}
