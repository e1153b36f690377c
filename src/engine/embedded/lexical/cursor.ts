/** Walks through the postings of a term, forwards only, reading the chunks that it needs. */
import { Postings } from './postings.ts'
import type { StoreConnection } from '../store/store-connection.ts'

/** Chunks that are read at a time where all of them turn out to be needed. */
const aheadMax = 64

export class PostingCursor {
  /** The chunk that was sought last. */
  readonly chunk = new Postings(1024)
  readonly #store: StoreConnection
  readonly #table: string
  readonly #term: number
  #rows: ChunkRow[] = []
  /** Rows before this one can be used: of a last one it is not known how far it goes. */
  #usable = 0
  #at = -1
  #used = 0
  #ahead = 1
  /** The chunk says which documents have the term from its start up to here. */
  #bound = -Infinity;
  /** Where the merge with a list of documents stands within the chunk. */
  #in = 0

  constructor(store: StoreConnection, suffix: string, term: number) {
    this.#store = store
    this.#table = `posting${suffix}`
    this.#term = term
  }

  /**
   * Moves on to the first chunk that has documents from this number on; false when no chunk
   * has. Numbers must not fall from call to call.
   */
  next(from: number): boolean {
    let seq = from
    for (;;) {
      this.#seek(seq)
      const { chunk } = this
      if (chunk.size > 0 && chunk.last >= from) return true
      if (this.#bound === Infinity) return false
      seq = this.#bound
    }
  }

  /** Keeps those documents that have the term, and notes how often, and their lengths. */
  keep(found: Found, counts: Uint32Array, lengths?: Uint32Array): void {
    const { seqs, columns, size } = found
    let kept = 0
    let at = 0
    while (at < size) {
      this.#seek(seqs[at]!)
      const { chunk } = this
      const ours = chunk.seqs
      const chunkSize = chunk.size
      const bound = this.#bound
      let own = this.#in
      for (; at < size; at++) {
        const seq = seqs[at]!
        if (seq >= bound) break
        while (own < chunkSize && ours[own]! < seq) own++
        if (own === chunkSize || ours[own] !== seq) continue
        counts[kept] = chunk.counts[own]!
        if (lengths !== undefined) lengths[kept] = chunk.lengths[own]!
        // Until the first gap all stand where they stood.
        if (kept !== at) move(seqs, columns, at, kept)
        kept++
      }
      this.#in = own
    }
    found.size = kept
  }

  /** Moves to the chunk that would hold a document, if any does. */
  #seek(seq: number): void {
    if (seq < this.#bound) return
    do this.#at++
    while (this.#at < this.#usable && seq >= this.#boundAt(this.#at))
    if (this.#at >= this.#usable) this.#fetch(seq)
    this.#used++
    const row = this.#rows[this.#at]
    if (row === undefined) this.chunk.size = 0
    else this.chunk.decode({ first: row[0], entries: row[1] })
    this.#bound = this.#boundAt(this.#at)
    this.#in = 0
  }

  #boundAt(at: number): number {
    return this.#rows[at + 1]?.[0] ?? Infinity
  }

  #fetch(seq: number): void {
    const isWalk = this.#used === this.#usable
    this.#ahead = isWalk ? Math.min(this.#ahead * 2, aheadMax) : 1
    this.#rows = this.#store.all(chunksFrom(this.#table), [
      this.#term,
      this.#term,
      seq,
      this.#ahead + 1,
    ]) as ChunkRow[]
    this.#usable = Math.min(this.#rows.length, this.#ahead)
    this.#at = 0
    this.#used = 0
  }
}

/** Documents that have been found so far, in ascending order. */
export interface Found {
  readonly seqs: Float64Array
  /** What is known of the documents, in step with their numbers. */
  readonly columns: Uint32Array[]
  size: number
}

/** Drops documents, which are in order too; returns how far they were needed. */
export function drop(found: Found, unwanted: Float64Array, start: number): number {
  const { seqs, columns, size } = found
  if (start === unwanted.length || seqs[size - 1]! < unwanted[start]!) return start
  let at = start
  let kept = 0
  for (let i = 0; i < size; i++) {
    const seq = seqs[i]!
    while (at < unwanted.length && unwanted[at]! < seq) at++
    if (at < unwanted.length && unwanted[at] === seq) continue
    if (kept !== i) move(seqs, columns, i, kept)
    kept++
  }
  found.size = kept
  return at
}

function move(
  seqs: Float64Array,
  columns: readonly Uint32Array[],
  from: number,
  to: number,
): void {
  seqs[to] = seqs[from]!
  for (const column of columns) column[to] = column[from]!
}

type ChunkRow = [first: number, entries: Uint8Array]

function chunksFrom(table: string): string {
  return (
    `SELECT first, entries FROM ${table} WHERE term = ? AND first >= coalesce((` +
    `SELECT first FROM ${table} WHERE term = ? AND first <= ? ORDER BY first DESC LIMIT 1` +
    '), 0) ORDER BY first LIMIT ?'
  )
}
