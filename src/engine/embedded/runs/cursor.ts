/**
 * Cursors over sources of changes, and one over several of them that sees entries: the newest
 * change of an entry says what it is, and tombstones hide what is older.
 */
import { isElement, kindOf, kinds, type State } from './change.ts'
import type { Documents } from './document-set.ts'

/** A key to look for, as text and as bytes. */
export interface SeekKey {
  readonly text: string
  readonly bytes: Uint8Array
}

/** Stands at a change, or beyond the first or last one. */
export interface Cursor {
  readonly isAt: boolean
  readonly key: string
  readonly state: State
  readonly doc: number
  /** Changes that it left out on its last step: of documents that are not wanted. */
  readonly passed: number
  /** Beyond the last change, or the first, a cursor is of no more use. */
  next(): void
  previous(): void
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
  readonly only?: Only | undefined
}

/** The documents whose entries a walk is for. */
export interface Only {
  readonly documents: Documents
  /** Is told, time and again, how many changes of others were passed. */
  readonly passing: (changes: number) => void
}

/** The entries that cursors lead to, in order. The newest source comes first. */
export function* entriesOf(
  cursors: readonly Cursor[],
  { direction, isWithin, valuesOnly, only }: EntryStretch,
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

/** A source, and the key that it stands at. */
interface Source {
  key: string
  readonly cursor: Cursor
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

  /** The one to read next. */
  first(): Source | undefined {
    return this.#queue[0]
  }

  /** Goes on behind the key of the first, in all sources that have it. */
  pass(key: string): void {
    while (this.#queue[1]?.key === key) this.#advance(1)
    this.#advance(0)
  }

  /** Goes on in the source at a position, and puts it where it belongs then. */
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
