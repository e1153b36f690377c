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
export class LateCursor implements Cursor {
  readonly #open: () => Cursor
  readonly #bound: string
  #cursor: Cursor | undefined

  constructor(bound: string, open: () => Cursor) {
    this.#bound = bound
    this.#open = open
  }

  /** Whether it was still to be opened. */
  arrive(): boolean {
    if (this.#cursor !== undefined) return false
    this.#cursor = this.#open()
    return true
  }

  get isAt(): boolean {
    return this.#cursor === undefined || this.#cursor.isAt
  }

  get key(): string {
    return this.#cursor === undefined ? this.#bound : this.#cursor.key
  }

  get state(): State {
    return this.#cursor!.state
  }

  get doc(): number {
    return this.#cursor!.doc
  }

  next(): void {
    this.#cursor!.next()
  }

  previous(): void {
    this.#cursor!.previous()
  }
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
  const hasLate = live.some((cursor) => cursor instanceof LateCursor)
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
    if (hasLate && openAt(key, live, isWithin)) continue
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

/** Opens the cursors that are reached at a key: whether there were any. */
function openAt(key: string, live: Cursor[], isWithin: (key: string) => boolean): boolean {
  let isAny = false
  for (let i = live.length - 1; i >= 0; i--) {
    const cursor = live[i]!
    if (!(cursor instanceof LateCursor) || cursor.key !== key || !cursor.arrive()) continue
    isAny = true
    if (!cursor.isAt || !isWithin(cursor.key)) live.splice(i, 1)
  }
  return isAny
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
