/**
 * Cursors over sources of changes. Merging them yields entries: the newest change of a key decides,
 * and a tombstone hides older changes.
 */
import { isElement, kindOf, kinds, type State } from './change.ts'
import type { Documents } from './document-set.ts'

/** A key to seek, as text and as bytes. */
export interface SeekKey {
  readonly text: string
  readonly bytes: Uint8Array
}

/** Position at a change of a source, or beyond its first or last change. */
export interface Cursor {
  readonly isAt: boolean
  readonly key: string
  readonly state: State
  readonly doc: number
  /** Number of changes that the last step skipped because their documents are not wanted. */
  readonly passed: number
  /**
   * Moves the cursor. A cursor that is beyond the last change, or before the first, cannot be moved
   * any more.
   */
  next(): void
  previous(): void
}

/** An entry that a walk yields. */
export interface Found {
  readonly key: string
  readonly state: State
  readonly doc: number
}

/** Direction, range and filter of a walk over entries. */
export interface EntryWalk {
  readonly direction: 1 | -1
  /** Whether a key is in the range. Once the result is false, it is false for all later keys. */
  readonly isWithin: (key: string) => boolean
  /** Whether array elements are left out. */
  readonly valuesOnly: boolean
  readonly only?: DocumentSelection | undefined
}

/** Restricts a walk to the entries of some documents. */
export interface DocumentSelection {
  readonly documents: Documents
  /**
   * Called repeatedly with the number of changes of other documents skipped since the last call.
   */
  readonly passing: (changes: number) => void
}

/**
 * Merges cursors into entries in key order. The first cursor must belong to the newest source, the
 * last cursor to the oldest source.
 */
export function* entriesOf(
  cursors: readonly Cursor[],
  { direction, isWithin, valuesOnly, only }: EntryWalk,
): Generator<Found> {
  const sources = new Sources(cursors, direction, isWithin)
  for (;;) {
    const first = sources.first()
    if (first === undefined) return
    const { key, cursor } = first
    const { state } = cursor
    const isWanted = only?.documents.has(cursor.doc) ?? true
    only?.passing(cursor.passed + (isWanted ? 0 : 1))
    if (isWanted && kindOf(state) !== kinds.remove && !(valuesOnly && isElement(state)))
      yield { key, state, doc: cursor.doc }
    sources.pass(key)
  }
}

/** A source and its current key. */
interface Source {
  key: string
  readonly cursor: Cursor
  /** Number of newer sources. */
  readonly age: number
}

/**
 * Queue of sources in the order of their current keys. Among equal keys, the newest source comes
 * first.
 */
class Sources {
  readonly #isUp: boolean
  readonly #isWithin: (key: string) => boolean
  /**
   * Sources in order. A list is faster than a heap here: there are few sources, and mostly one or
   * two of them alternate.
   */
  readonly #queue: Source[] = []

  constructor(
    cursors: readonly Cursor[],
    direction: 1 | -1,
    isWithin: (key: string) => boolean,
  ) {
    this.#isUp = direction === 1
    this.#isWithin = isWithin
    for (let age = cursors.length - 1; age >= 0; age--) {
      const cursor = cursors[age]!
      if (!(cursor.isAt && isWithin(cursor.key))) continue
      this.#queue.unshift({ key: cursor.key, cursor, age })
      this.#sink(0)
    }
  }

  /** The source with the next key. */
  first(): Source | undefined {
    return this.#queue[0]
  }

  /** Advances all sources that are at `key`, the key of the first source. */
  pass(key: string): void {
    while (this.#queue[1]?.key === key) this.#advance(1)
    this.#advance(0)
  }

  /** Advances the source at an index and restores the order. */
  #advance(at: number): void {
    const source = this.#queue[at]!
    const { cursor } = source
    if (this.#isUp) cursor.next()
    else cursor.previous()
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

  #isBefore(a: Source, b: Source): boolean {
    if (a.key < b.key) return this.#isUp
    if (a.key > b.key) return !this.#isUp
    return a.age < b.age
  }
}
