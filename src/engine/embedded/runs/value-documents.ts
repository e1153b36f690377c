/**
 * The documents that have one value, by number. All keys of a value start alike and end with
 * the number, so numbers are compared, and no key becomes a text.
 */
import { kindOf, kinds, type State } from './change.ts'
import type { SeekKey } from './cursor.ts'

/** Stands at a change, or behind the last one. */
export interface DocumentCursor {
  readonly isAt: boolean
  readonly state: State
  readonly doc: number
  /** Whether the key that it stands at starts so. */
  startsWith(start: SeekKey): boolean
  next(): void
}

/**
 * The changes that the memtable or a run has of a value. Most runs have documents of their own
 * numbers: one is opened when the walk reaches the lowest that it has.
 */
export class ValueDocuments {
  readonly #start: SeekKey
  /** Undefined once it was called. */
  #open: (() => DocumentCursor | undefined) | undefined
  #cursor: DocumentCursor | undefined
  /** The document that it stands at, or one that nothing of it comes before. */
  doc: number

  /** `open` says undefined where there is nothing. */
  constructor(start: SeekKey, doc: number, open: () => DocumentCursor | undefined) {
    this.#start = start
    this.doc = doc
    this.#open = open
  }

  get isRemoved(): boolean {
    return kindOf(this.#cursor!.state) === kinds.remove
  }

  /** From here on it stands at a change, or, behind the last one, at Infinity. */
  settle(): void {
    if (this.#open === undefined) return
    this.#cursor = this.#open()
    this.#open = undefined
    this.#look()
  }

  next(): void {
    this.#cursor!.next()
    this.#look()
  }

  #look(): void {
    const cursor = this.#cursor
    const isThere = cursor !== undefined && cursor.isAt && cursor.startsWith(this.#start)
    this.doc = isThere ? cursor.doc : Infinity
  }
}

/** Those that have the value, in order. The newest source comes first. */
export function* documentsIn(sources: readonly ValueDocuments[]): Generator<number> {
  for (;;) {
    let first: ValueDocuments | undefined
    let doc = Infinity
    let others = Infinity
    for (const source of sources)
      if (source.doc < doc) {
        others = doc
        doc = source.doc
        first = source
      } else if (source.doc < others) others = source.doc
    if (first === undefined) return
    if (doc === others) {
      const newest = newestAt(doc, sources)
      if (newest !== undefined) {
        if (!newest.isRemoved) yield doc
        for (const source of sources) if (source.doc === doc) source.next()
      }
      continue
    }
    // Up to where the next one stands it is alone.
    first.settle()
    while (first.doc < others) {
      if (!first.isRemoved) yield first.doc
      first.next()
    }
  }
}

/** The newest of those that have a document: those that may have it are opened to know. */
function newestAt(
  doc: number,
  sources: readonly ValueDocuments[],
): ValueDocuments | undefined {
  for (const source of sources) if (source.doc === doc) source.settle()
  return sources.find((source) => source.doc === doc)
}
