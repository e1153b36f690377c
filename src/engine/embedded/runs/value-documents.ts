/**
 * Documents that have one value, ascending. All keys of a value have the same prefix and end with
 * the document number, so numbers are compared and no key is converted to text.
 */
import { kindOf, kinds, type State } from './change.ts'
import type { SeekKey } from './cursor.ts'

/** Position at a change, or after the last change. */
export interface DocumentCursor {
  readonly isAt: boolean
  readonly state: State
  readonly doc: number
  /** Whether the current key has the prefix `start`. */
  startsWith(start: SeekKey): boolean
  next(): void
}

/**
 * The changes of a value in the memtable or in a run. Most runs have disjoint ranges of document
 * numbers, so a run is opened only when the walk reaches its lowest number.
 */
export class ValueDocuments {
  readonly #start: SeekKey
  /** Opens the source; undefined after the source was opened. */
  #open: (() => DocumentCursor | undefined) | undefined
  #cursor: DocumentCursor | undefined
  /** Current document; before `settle`, a lower bound of the documents of the source. */
  doc: number

  /** `open` returns undefined when the source does not have the value. */
  constructor(start: SeekKey, doc: number, open: () => DocumentCursor | undefined) {
    this.#start = start
    this.doc = doc
    this.#open = open
  }

  get isRemoved(): boolean {
    return kindOf(this.#cursor!.state) === kinds.remove
  }

  /**
   * Opens the source. Afterwards `doc` is the current document, or Infinity after the last
   * document.
   */
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

/** Documents that have the value, ascending. `sources`: newest first. */
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
    // Only the first source may have documents with numbers below `others`.
    first.settle()
    while (first.doc < others) {
      if (!first.isRemoved) yield first.doc
      first.next()
    }
  }
}

/** The newest source that has a document. Opens the sources that may have the document. */
function newestAt(
  doc: number,
  sources: readonly ValueDocuments[],
): ValueDocuments | undefined {
  for (const source of sources) if (source.doc === doc) source.settle()
  return sources.find((source) => source.doc === doc)
}
