/**
 * Cursors over sources of changes, and one over several of them that sees entries: the newest
 * change of an entry says what it is, and tombstones hide what is older.
 */
import { isElement, kindOf, kinds, type State } from './change.ts'

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

/** Which entries a walk comes to. */
export interface EntryStretch {
  readonly direction: 1 | -1
  /** Whether a key is reached; once one is not, none is. */
  readonly isWithin: (key: string) => boolean
  /** Whether elements of arrays are left out. */
  readonly valuesOnly: boolean
}

/** The entries that cursors lead to, in order. The newest source comes first. */
export function* entriesOf(
  cursors: readonly (Cursor | LateCursor)[],
  { direction, isWithin, valuesOnly }: EntryStretch,
): Generator<Found> {
  const sources = new Sources(cursors, direction, isWithin)
  for (;;) {
    const first = sources.first()
    if (first === undefined) return
    const { key, cursor } = first
    const { state } = cursor
    if (kindOf(state) !== kinds.remove && !(valuesOnly && isElement(state)))
      yield { key, state, doc: cursor.doc }
    sources.pass(key)
  }
}

/** A source, and the key that it stands at. */
interface Source<At extends Cursor | LateCursor = Cursor | LateCursor> {
  key: string
  cursor: At
  /** How many are newer. */
  readonly age: number
}

/** Sources in the order of their keys; of those that stand at the same one, the newest first. */
class Sources {
  readonly #isUp: boolean
  readonly #isWithin: (key: string) => boolean
  /** Few, and mostly one or two of them alternate: so a list, and no heap. */
  readonly #queue: Source[] = []

  constructor(
    cursors: readonly (Cursor | LateCursor)[],
    direction: 1 | -1,
    isWithin: (key: string) => boolean,
  ) {
    this.#isUp = direction === 1
    this.#isWithin = isWithin
    for (let age = cursors.length - 1; age >= 0; age--) {
      const cursor = cursors[age]!
      if (!('open' in cursor) && !(cursor.isAt && isWithin(cursor.key))) continue
      this.#queue.unshift({ key: cursor.key, cursor, age })
      this.#sink(0)
    }
  }

  /** The one to read next; those that are reached are opened. */
  first(): Source<Cursor> | undefined {
    for (;;) {
      const first = this.#queue[0]
      if (first === undefined || !('open' in first.cursor))
        return first as Source<Cursor> | undefined
      first.cursor = first.cursor.open()
      this.#settle(0)
    }
  }

  /** Goes on behind the key of the first, in all sources that have it. */
  pass(key: string): void {
    while (this.#queue[1]?.key === key) this.#advance(1)
    this.#advance(0)
  }

  #advance(at: number): void {
    const cursor = this.#queue[at]!.cursor as Cursor
    if (this.#isUp) cursor.next()
    else cursor.previous()
    this.#settle(at)
  }

  /** Puts the source at a position where it belongs now. */
  #settle(at: number): void {
    const source = this.#queue[at]!
    const cursor = source.cursor as Cursor
    if (cursor.isAt && this.#isWithin((source.key = cursor.key))) this.#sink(at)
    else this.#queue.splice(at, 1)
  }

  #sink(from: number): void {
    const queue = this.#queue
    const own = queue[from]!
    let at = from
    for (let next = queue[at + 1]; next !== undefined; next = queue[at + 1]) {
      if (this.#isBefore(own, next)) break
      queue[at++] = next
    }
    queue[at] = own
  }

  /** One that is not open yet may have something newer at its key. */
  #isBefore(a: Source, b: Source): boolean {
    if (a.key < b.key) return this.#isUp
    if (a.key > b.key) return !this.#isUp
    if ('open' in a.cursor || 'open' in b.cursor) return 'open' in a.cursor
    return a.age < b.age
  }
}
