/**
 * Row cache of the thread that answers requests: documents that were read or written recently.
 *
 * SQLite caches pages, but a reading connection drops them with every commit, and finding a row in
 * them takes longer than all other work of a short read.
 *
 * The cache agrees with the store, because all writes start on this thread. A row is invalidated
 * before a change of the row is sent, and not admitted again before the outcome is known. In
 * between, reads take the row from the store, whether the change is committed or not.
 */
import type { MergeOutcome, Outcome } from '../../contract.ts'
import type { DocRow } from '../format/doc-row.ts'

/** Maximum length of a cached text, in characters. */
const textMax = 16_384

/** Approximate bytes that a cached row takes in addition to its text. */
const rowSize = 256

/** When full, the cache admits only one of `admissionInterval` rows that are read. */
const admissionInterval = 8

/** Share of the maximum size to which eviction reduces the cache. */
const filledShare = 31 / 32

/** Effect of a write on a row. */
export interface RowChange {
  readonly seq: number
  /** The `_id` if it is a string. */
  readonly id: string | undefined
  /** Text of the changed row; undefined: the row is deleted. */
  readonly text: string | undefined
  /** Whether nothing is stored beside the text: no $vector, $vectorize or $lexical. */
  readonly isAlone: boolean
}

interface CachedRow {
  readonly seq: number
  /** The `_id` if it is known and is a string. */
  id: string | undefined
  /** The cached row; undefined while a change is pending. */
  row: DocRow | undefined
  /** Number of pending changes. */
  changing: number
  /** Whether the row certainly has nothing stored beside its text. */
  isAlone: boolean
  /** Whether the row was used since it was added or last spared from eviction. */
  wasUsed: boolean
}

function sizeOf({ row }: CachedRow): number {
  // V8 takes two bytes per character when one of the characters does not fit into a byte.
  return rowSize + (row === undefined ? 0 : 2 * row.text.length)
}

/** Outcomes of the changes, and the version of the store before the first change. */
interface SettledWrites {
  readonly outcomes: readonly (Outcome | MergeOutcome)[]
  readonly before: number
}

/** Called once changes have settled; undefined: their outcome is unknown. */
export type OnSettled = (settled: SettledWrites | undefined) => void

export class RowCache {
  /**
   * Cached rows by number, in the order of eviction: by the time when a row was added or last
   * spared.
   */
  readonly #bySeq = new Map<number, CachedRow>()
  readonly #byId = new Map<string, CachedRow>()
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
    this.#evict()
  }

  row(seq: number): DocRow | undefined {
    return markUsed(this.#bySeq.get(seq))
  }

  rowById(id: string): DocRow | undefined {
    return markUsed(this.#byId.get(id))
  }

  /**
   * Whether to admit a row that was just read. If all rows were admitted, one full scan would evict
   * everything else.
   */
  admits(): boolean {
    return !this.#isFull || ++this.#offered % admissionInterval === 0
  }

  add(row: DocRow, id?: string): void {
    if (this.#changingAll > 0) return
    const cached = this.#bySeq.get(row.seq) ?? this.#add(row.seq)
    if (cached.changing > 0) return
    if (id !== undefined) this.#nameRow(cached, id)
    this.#setRow(cached, row)
  }

  /** Whether a row certainly has nothing stored beside its text. */
  isAlone(seq: number): boolean {
    return this.#bySeq.get(seq)?.isAlone === true
  }

  noteAlone(seq: number): void {
    const cached = this.#bySeq.get(seq)
    if (cached?.row !== undefined) cached.isAlone = true
  }

  /** Invalidates rows before they are changed: one element per write, undefined for a new row. */
  invalidate(changes: readonly (RowChange | undefined)[]): OnSettled {
    const changing = changes.map((change) => change && this.#startChange(change))
    const changedAll = this.#changedAll
    return (settled) => {
      // Since `invalidate` was called, a change of all rows has started and has cleared the cache.
      if (changedAll !== this.#changedAll) return
      let version = settled?.before ?? 0
      for (const [i, cached] of changing.entries()) {
        const isDone = settled?.outcomes[i] === 'done'
        if (isDone) version++
        if (cached !== undefined)
          this.#endChange(cached, changes[i]!, isDone ? version : undefined)
      }
    }
  }

  #startChange({ seq, id }: RowChange): CachedRow {
    const cached = this.#bySeq.get(seq) ?? this.#add(seq)
    this.#nameRow(cached, id)
    this.#size += rowSize - sizeOf(cached)
    cached.row = undefined
    cached.isAlone = false
    cached.changing++
    return cached
  }

  /** Ends a change. Without a version, the change was not made, or its outcome is unknown. */
  #endChange(
    cached: CachedRow,
    { id, text, isAlone }: RowChange,
    version: number | undefined,
  ): void {
    if (--cached.changing > 0) return
    const isKnown = version !== undefined && this.#changingAll === 0
    if (!isKnown || text === undefined) this.#remove(cached)
    else {
      this.#nameRow(cached, id)
      cached.isAlone = isAlone
      this.#setRow(cached, { seq: cached.seq, version, text })
    }
  }

  /** Invalidates all rows before a change that affects all of them. */
  invalidateAll(): OnSettled {
    this.#changingAll++
    this.#changedAll++
    this.#clear()
    return () => {
      this.#changingAll--
    }
  }

  /** Adds an entry without a row. */
  #add(seq: number): CachedRow {
    const nothing = { id: undefined, row: undefined, changing: 0 }
    const cached: CachedRow = { seq, ...nothing, isAlone: false, wasUsed: false }
    this.#bySeq.set(seq, cached)
    this.#size += rowSize
    return cached
  }

  /**
   * Sets the _id of an entry. The store reuses the number of a deleted row for a new row. Changes
   * of both rows can be pending at once, so the entry may still have the _id of the other row.
   */
  #nameRow(cached: CachedRow, id: string | undefined): void {
    const former = cached.id
    if (former !== undefined && former !== id && this.#byId.get(former) === cached)
      this.#byId.delete(former)
    cached.id = id
    if (id !== undefined && this.#byId.get(id) !== cached) this.#byId.set(id, cached)
  }

  #setRow(cached: CachedRow, row: DocRow): void {
    if (row.text.length > textMax) {
      this.#remove(cached)
      return
    }
    this.#size -= sizeOf(cached)
    cached.row = row
    this.#size += sizeOf(cached)
    this.#evict()
  }

  #remove(cached: CachedRow): void {
    this.#size -= sizeOf(cached)
    this.#bySeq.delete(cached.seq)
    const { id } = cached
    // The _id may belong to another entry now.
    if (id !== undefined && this.#byId.get(id) === cached) this.#byId.delete(id)
  }

  /** Evicts several rows at a time, because each call has to iterate from the first row. */
  #evict(): void {
    if (this.#size <= this.#sizeMax) return
    this.#isFull = true
    const enough = this.#sizeMax * filledShare
    // Two passes are enough: after these, all remaining rows have pending changes.
    let left = 2 * this.#bySeq.size
    for (const cached of this.#bySeq.values()) {
      if (this.#size <= enough || left-- === 0) return
      if (cached.wasUsed || cached.changing > 0) {
        // The row moves to the end of the order of eviction. `#byId` keeps no order.
        cached.wasUsed = false
        this.#bySeq.delete(cached.seq)
        this.#bySeq.set(cached.seq, cached)
      } else this.#remove(cached)
    }
  }

  #clear(): void {
    this.#bySeq.clear()
    this.#byId.clear()
    this.#size = 0
    this.#isFull = false
  }
}

function markUsed(cached: CachedRow | undefined): DocRow | undefined {
  if (cached === undefined) return undefined
  cached.wasUsed = true
  return cached.row
}
