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
import type { Written } from '../threads/write-batch.ts'
import type { DocRow } from './doc-row.ts'

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
  /** Undefined: it is deleted. */
  readonly text: string | undefined
  /** Whether nothing stands beside the text. */
  readonly isAlone: boolean
}

interface KeptRow {
  readonly row: DocRow
  /** Its _id where that is known, and a string, as most are. */
  readonly id: string | undefined
  /** Whether it is known that nothing stands beside its text. */
  isAlone: boolean
  /** Whether it was asked for since it came, or was last passed over. */
  wasAsked: boolean
}

function sizeOf({ row }: KeptRow): number {
  // Where one character does not fit into a byte, all take two.
  return 2 * row.text.length + rowSize
}

/** Changes that are being made: to be called with what became of them, or that it is not known. */
export type Settle = (written: Written | undefined) => void

export class KeptRows {
  /** Those that came first, or were passed over first, are the first to go. */
  readonly #bySeq = new Map<number, KeptRow>()
  readonly #byId = new Map<string, KeptRow>()
  #size = 0
  #sizeMax = 0
  /** Whether there was no room for all. */
  #isFull = false
  #offered = 0
  /** How many changes of a row are being made, by its number. */
  readonly #changing = new Map<number, number>()
  /** How many changes of all rows are, and were. */
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
    const known = this.#forget(row.seq)
    this.#keep(row, id ?? known?.id, known?.isAlone ?? false)
  }

  #keep(row: DocRow, id: string | undefined, isAlone: boolean): void {
    const { seq, text } = row
    if (text.length > textMax || this.#changingAll > 0) return
    if (this.#changing.size === 0 || !this.#changing.has(seq))
      this.#add({ row, id, isAlone, wasAsked: false })
  }

  /** Whether nothing stands beside the text of a row, as far as it is known. */
  isAlone(seq: number): boolean {
    return this.#bySeq.get(seq)?.isAlone === true
  }

  noteAlone(seq: number): void {
    const kept = this.#bySeq.get(seq)
    if (kept !== undefined) kept.isAlone = true
  }

  /** Lets go of what is about to be changed: for each write a row, or undefined for a new one. */
  letGo(changes: readonly (RowChange | undefined)[]): Settle {
    const known = changes.map((change) => change && this.#startChange(change.seq))
    const changedAll = this.#changedAll
    return (written) => {
      let version = written?.before ?? 0
      for (const [i, change] of changes.entries()) {
        const isDone = written?.outcomes[i] === 'done'
        if (isDone) version++
        if (change === undefined) continue
        const { seq, text, isAlone } = change
        this.#endChange(seq)
        // What all rows went after is gone with them, even if that was heard of before.
        if (isDone && text !== undefined && changedAll === this.#changedAll)
          this.#keep({ seq, version, text }, known[i]?.id, isAlone)
      }
    }
  }

  #startChange(seq: number): KeptRow | undefined {
    this.#changing.set(seq, (this.#changing.get(seq) ?? 0) + 1)
    return this.#forget(seq)
  }

  #endChange(seq: number): void {
    const left = this.#changing.get(seq)! - 1
    if (left > 0) this.#changing.set(seq, left)
    else this.#changing.delete(seq)
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

  #forget(seq: number): KeptRow | undefined {
    const kept = this.#bySeq.get(seq)
    if (kept !== undefined) this.#remove(kept)
    return kept
  }

  #remove(kept: KeptRow): void {
    this.#size -= sizeOf(kept)
    this.#bySeq.delete(kept.row.seq)
    if (kept.id !== undefined) this.#byId.delete(kept.id)
  }

  #add(kept: KeptRow): void {
    this.#size += sizeOf(kept)
    this.#bySeq.set(kept.row.seq, kept)
    if (kept.id !== undefined) this.#byId.set(kept.id, kept)
    this.#makeRoom()
  }

  /** For more than one, since it starts from the first each time. */
  #makeRoom(): void {
    if (this.#size <= this.#sizeMax) return
    this.#isFull = true
    const enough = this.#sizeMax * filledShare
    for (const kept of this.#bySeq.values()) {
      if (this.#size <= enough) return
      if (kept.wasAsked) {
        // It goes to the end of the line, without its place among the ids.
        kept.wasAsked = false
        this.#bySeq.delete(kept.row.seq)
        this.#bySeq.set(kept.row.seq, kept)
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
