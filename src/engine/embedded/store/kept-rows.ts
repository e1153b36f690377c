/**
 * Row cache of the thread that answers requests: documents that were read or written recently.
 *
 * SQLite caches pages, but a connection that reads drops them with every commit, and finding a row in
 * them takes longer than the rest of a short read.
 *
 * The cache agrees with the store, because all writes start on this thread. A row is invalidated before
 * a change of it is sent, and not admitted again before the outcome is known. In between it is read
 * from the store, which has the change or does not have it yet.
 */
import type { MergeOutcome, Outcome } from '../../contract.ts'
import type { DocRow } from '../format/doc-row.ts'

/** Maximum length of a cached text, in characters. */
const textMax = 16_384

/** Approximate bytes that a cached row takes in addition to its text. */
const rowSize = 256

/** When full, the cache admits one row in `takenShare`. */
const takenShare = 8

/** Eviction ends when the cache is filled to this share. */
const filledShare = 31 / 32

/** Effect of a write on a row. */
export interface RowChange {
  readonly seq: number
  /** The `_id` if it is a string. */
  readonly id: string | undefined
  /** Undefined: the row is deleted. */
  readonly text: string | undefined
  /** Whether nothing is stored beside the text: no $vector, $vectorize or $lexical. */
  readonly isAlone: boolean
}

interface KeptRow {
  readonly seq: number
  /** The `_id` if it is known, and a string, as most are. */
  id: string | undefined
  /** Undefined while a change is pending. */
  row: DocRow | undefined
  /** Number of pending changes. */
  changing: number
  /** Whether the row certainly has nothing stored beside its text. */
  isAlone: boolean
  /** Whether the row was used since it was added or last spared from eviction. */
  wasAsked: boolean
}

function sizeOf({ row }: KeptRow): number {
  // V8 takes two bytes per character when one of them does not fit into a byte.
  return rowSize + (row === undefined ? 0 : 2 * row.text.length)
}

/** Outcomes of the changes, and the version of the write before the first one. */
interface SettledChanges {
  readonly outcomes: readonly (Outcome | MergeOutcome)[]
  readonly before: number
}

/** Called once changes have settled; undefined: their outcome is unknown. */
export type Settle = (settled: SettledChanges | undefined) => void

export class KeptRows {
  /** In the order of eviction: rows that were added or spared first come first. */
  readonly #bySeq = new Map<number, KeptRow>()
  readonly #byId = new Map<string, KeptRow>()
  #size = 0
  #sizeMax = 0
  /** Whether a row was evicted since the cache was last cleared. */
  #isFull = false
  #offered = 0
  /** Pending changes that affect all rows, and the number of such changes so far. */
  #changingAll = 0
  #changedAll = 0

  /** Sets the approximate maximum size in bytes. */
  setMax(sizeMax: number): void {
    this.#sizeMax = sizeMax
    this.#makeRoom()
  }

  row(seq: number): DocRow | undefined {
    return asked(this.#bySeq.get(seq))
  }

  rowById(id: string): DocRow | undefined {
    return asked(this.#byId.get(id))
  }

  /**
   * Whether to admit a row that was just read. If all were, one full scan would evict everything else.
   */
  takes(): boolean {
    return !this.#isFull || ++this.#offered % takenShare === 0
  }

  keep(row: DocRow, id?: string): void {
    if (this.#changingAll > 0) return
    const kept = this.#bySeq.get(row.seq) ?? this.#add(row.seq)
    if (kept.changing > 0) return
    if (id !== undefined) this.#nameRow(kept, id)
    this.#setRow(kept, row)
  }

  /** Whether a row certainly has nothing stored beside its text. */
  isAlone(seq: number): boolean {
    return this.#bySeq.get(seq)?.isAlone === true
  }

  noteAlone(seq: number): void {
    const kept = this.#bySeq.get(seq)
    if (kept?.row !== undefined) kept.isAlone = true
  }

  /** Invalidates rows before they are changed: one element per write, undefined for a new row. */
  letGo(changes: readonly (RowChange | undefined)[]): Settle {
    const changing = changes.map((change) => change && this.#startChange(change))
    const changedAll = this.#changedAll
    return (settled) => {
      // A change of all rows has started since and has cleared the cache.
      if (changedAll !== this.#changedAll) return
      let version = settled?.before ?? 0
      for (const [i, kept] of changing.entries()) {
        const isDone = settled?.outcomes[i] === 'done'
        if (isDone) version++
        if (kept !== undefined)
          this.#endChange(kept, changes[i]!, isDone ? version : undefined)
      }
    }
  }

  #startChange({ seq, id }: RowChange): KeptRow {
    const kept = this.#bySeq.get(seq) ?? this.#add(seq)
    if (id !== undefined) this.#nameRow(kept, id)
    this.#size += rowSize - sizeOf(kept)
    kept.row = undefined
    kept.isAlone = false
    kept.changing++
    return kept
  }

  /** Without a version the change was not made, or its outcome is unknown. */
  #endChange(
    kept: KeptRow,
    { text, isAlone }: RowChange,
    version: number | undefined,
  ): void {
    if (--kept.changing > 0) return
    const isKnown = version !== undefined && this.#changingAll === 0
    if (!isKnown || text === undefined) this.#remove(kept)
    else {
      kept.isAlone = isAlone
      this.#setRow(kept, { seq: kept.seq, version, text })
    }
  }

  /** Invalidates all rows before a change that affects all of them. */
  letGoOfAll(): Settle {
    this.#changingAll++
    this.#changedAll++
    this.#clear()
    return () => {
      this.#changingAll--
    }
  }

  /** Adds an entry without a row. */
  #add(seq: number): KeptRow {
    const nothing = { id: undefined, row: undefined, changing: 0 }
    const kept: KeptRow = { seq, ...nothing, isAlone: false, wasAsked: false }
    this.#bySeq.set(seq, kept)
    this.#size += rowSize
    return kept
  }

  #nameRow(kept: KeptRow, id: string): void {
    kept.id = id
    if (this.#byId.get(id) !== kept) this.#byId.set(id, kept)
  }

  #setRow(kept: KeptRow, row: DocRow): void {
    if (row.text.length > textMax) {
      this.#remove(kept)
      return
    }
    this.#size -= sizeOf(kept)
    kept.row = row
    this.#size += sizeOf(kept)
    this.#makeRoom()
  }

  #remove(kept: KeptRow): void {
    this.#size -= sizeOf(kept)
    this.#bySeq.delete(kept.seq)
    const { id } = kept
    // The _id may belong to another document by now.
    if (id !== undefined && this.#byId.get(id) === kept) this.#byId.delete(id)
  }

  /** Evicts several rows at a time, because each call starts from the first one. */
  #makeRoom(): void {
    if (this.#size <= this.#sizeMax) return
    this.#isFull = true
    const enough = this.#sizeMax * filledShare
    // Two passes at most: the rows that remain have pending changes.
    let left = 2 * this.#bySeq.size
    for (const kept of this.#bySeq.values()) {
      if (this.#size <= enough || left-- === 0) return
      if (kept.wasAsked || kept.changing > 0) {
        // Moves the row to the end of the order of eviction. `#byId` keeps no order.
        kept.wasAsked = false
        this.#bySeq.delete(kept.seq)
        this.#bySeq.set(kept.seq, kept)
      } else this.#remove(kept)
    }
  }

  #clear(): void {
    this.#bySeq.clear()
    this.#byId.clear()
    this.#size = 0
    this.#isFull = false
  }
}

function asked(kept: KeptRow | undefined): DocRow | undefined {
  if (kept === undefined) return undefined
  kept.wasAsked = true
  return kept.row
}
