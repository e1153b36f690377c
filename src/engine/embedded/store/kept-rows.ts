/**
 * Documents that were read or written lately, kept by the thread that answers requests.
 *
 * SQLite keeps pages, but a connection that reads gives them up with every commit, and to find
 * a row in them takes longer than all that a short read does with it.
 *
 * What is kept is what the store has, because all writes start here: a row is let go of before
 * a change of it is sent, and none of it is kept before the answer is there. In between it is
 * read from the store, which has the change or does not have it yet.
 */
import type { MergeOutcome, Outcome } from '../../contract.ts'
import type { DocRow } from '../format/doc-row.ts'

/** Characters of the longest text that is kept. */
const textMax = 16_384

/** Bytes of a row beside its text, about. */
const rowSize = 256

/** Of the rows that could be kept once there is no room, one in so many is. */
const takenShare = 8

/** What is left of the room when some was made. */
const filledShare = 31 / 32

/** What a write makes of a row. */
export interface RowChange {
  readonly seq: number
  /** Its _id where that is a string. */
  readonly id: string | undefined
  /** Undefined: it is deleted. */
  readonly text: string | undefined
  /** Whether nothing stands beside the text. */
  readonly isAlone: boolean
}

interface KeptRow {
  readonly seq: number
  /** Its _id where that is known, and a string, as most are. */
  id: string | undefined
  /** Undefined while it is being changed. */
  row: DocRow | undefined
  /** How many changes of it are being made. */
  changing: number
  /** Whether it is known that nothing stands beside its text. */
  isAlone: boolean
  /** Whether it was asked for since it came, or was last passed over. */
  wasAsked: boolean
}

function sizeOf({ row }: KeptRow): number {
  // Where one character does not fit into a byte, all take two.
  return rowSize + (row === undefined ? 0 : 2 * row.text.length)
}

/** What became of changes: an outcome for each, and the number of the write before the first. */
interface SettledChanges {
  readonly outcomes: readonly (Outcome | MergeOutcome)[]
  readonly before: number
}

/** Called once changes have settled; undefined: what became of them is not known. */
export type Settle = (settled: SettledChanges | undefined) => void

export class KeptRows {
  /** Those that came first, or were passed over first, are the first to go. */
  readonly #bySeq = new Map<number, KeptRow>()
  readonly #byId = new Map<string, KeptRow>()
  #size = 0
  #sizeMax = 0
  /** Whether there was no room for all. */
  #isFull = false
  #offered = 0
  /** How many changes of all rows are being made, and were. */
  #changingAll = 0
  #changedAll = 0

  /** Keeps as many bytes at most, about. */
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

  /** Whether to keep what was just read: not all, or who reads everything leaves nothing. */
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

  /** Whether nothing stands beside the text of a row, as far as it is known. */
  isAlone(seq: number): boolean {
    return this.#bySeq.get(seq)?.isAlone === true
  }

  noteAlone(seq: number): void {
    const kept = this.#bySeq.get(seq)
    if (kept?.row !== undefined) kept.isAlone = true
  }

  /** Lets go of what is about to be changed: for each write a row, or undefined for a new one. */
  letGo(changes: readonly (RowChange | undefined)[]): Settle {
    const changing = changes.map((change) => change && this.#startChange(change))
    const changedAll = this.#changedAll
    return (settled) => {
      // What all rows went after is gone with them, even if that was heard of before.
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

  /** Without a version it was not made, or nobody knows. */
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

  /** The same where all rows are about to go. */
  letGoOfAll(): Settle {
    this.#changingAll++
    this.#changedAll++
    this.#clear()
    return () => {
      this.#changingAll--
    }
  }

  /** A row that nothing is known of yet. */
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
    // Another document may have the _id by now.
    if (id !== undefined && this.#byId.get(id) === kept) this.#byId.delete(id)
  }

  /** For more than one, since it starts from the first each time. */
  #makeRoom(): void {
    if (this.#size <= this.#sizeMax) return
    this.#isFull = true
    const enough = this.#sizeMax * filledShare
    // Twice past all: those that are left are being changed.
    let left = 2 * this.#bySeq.size
    for (const kept of this.#bySeq.values()) {
      if (this.#size <= enough || left-- === 0) return
      if (kept.wasAsked || kept.changing > 0) {
        // It goes to the end of the line, without its place among the ids.
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
