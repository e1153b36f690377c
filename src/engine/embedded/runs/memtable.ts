/**
 * Recent changes in memory, until they become a run. They arrive in blocks and are sorted at the
 * first lookup. The writer thread makes few lookups, so it rarely sorts.
 */
import { BlockScan } from './block-scan.ts'
import { changesIn, countOf, type Sums } from './block.ts'
import { countIn, combine, valuesIn, type Change } from './change.ts'
import type { Cursor, SeekKey } from './cursor.ts'
import type { Tie } from '../format/entry-key.ts'
import type { ChangeSource } from './packed-change.ts'
import { ChangeLog } from './sorted-changes.ts'
import type { DocumentCursor } from './value-documents.ts'

/** Maximum number of changes of a chunk: an insertion moves all later changes of the chunk. */
const chunkMax = 512

export class Memtable {
  readonly #tie: Tie
  /** Sorted chunks. A chunk is only empty when it is the only chunk. */
  readonly #chunks: Change[][] = [[]]
  #inOrder = 0
  /**
   * Blocks whose changes are not in `#chunks` yet, oldest first, and the number of these changes.
   */
  #unsorted: Uint8Array[] = []
  #unsortedCount = 0

  constructor(tie: Tie) {
    this.#tie = tie
  }

  /** Number of changes. Until they are sorted, several changes of one entry count separately. */
  get count(): number {
    return this.#inOrder + this.#unsortedCount
  }

  clear(): void {
    this.#chunks.splice(0, this.#chunks.length, [])
    this.#inOrder = this.#unsortedCount = 0
    this.#unsorted = []
  }

  /** Adds a block, whose changes are newer than all changes added before. */
  takeIn(block: Uint8Array): void {
    this.#unsorted.push(block)
    this.#unsortedCount += countOf(block)
  }

  /**
   * All changes in key order, as input of a flush. `isOldest`: no run exists, so tombstones are
   * dropped.
   */
  changes(isOldest: boolean): ChangeSource {
    const log = new ChangeLog()
    for (const chunk of this.#chunks)
      for (const { key, state, doc } of chunk) {
        const bytes = Buffer.from(key, 'latin1')
        log.add({ bytes, start: 0, size: bytes.length, state, doc })
      }
    const recent = new BlockScan(this.#tie, this.#unsorted)
    while (recent.isAt) {
      log.add(recent)
      recent.next()
    }
    return log.sorted({ tie: this.#tie, isOldest })
  }

  #putInOrder(): void {
    if (this.#unsorted.length === 0) return
    const changes = this.#unsorted.flatMap((block) => changesIn(block, this.#tie))
    this.#unsorted = []
    this.#unsortedCount = 0
    // The sort is stable, so the oldest change of a key stays first.
    changes.sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0))
    this.#apply(changes)
  }

  /** Adds sorted changes to the chunks, combined with older changes of the same entries. */
  #apply(changes: readonly Change[]): void {
    let number = -1
    let end: string | undefined
    for (const change of changes) {
      // Most changes belong to the chunk of the previous change.
      if (number === -1 || (end !== undefined && change.key >= end)) {
        number = this.#chunkOf(change.key)
        end = this.#chunks[number + 1]?.[0]!.key
      }
      if (!this.#applyTo(number, change)) number = -1
    }
  }

  /** Applies a change to a chunk. Returns false when the chunk was split or removed. */
  #applyTo(number: number, change: Change): boolean {
    const chunk = this.#chunks[number]!
    const at = positionIn(chunk, change.key)
    const older = chunk[at]
    if (older?.key === change.key) {
      const left = combine(older, change, this.#tie)
      if (left === undefined) return this.#remove(number, at)
      chunk[at] = left
      return true
    }
    chunk.splice(at, 0, change)
    this.#inOrder++
    if (chunk.length <= chunkMax) return true
    this.#chunks.splice(number + 1, 0, chunk.splice(chunkMax / 2))
    return false
  }

  #remove(number: number, at: number): boolean {
    const chunk = this.#chunks[number]!
    chunk.splice(at, 1)
    this.#inOrder--
    if (chunk.length > 0 || this.#chunks.length === 1) return true
    this.#chunks.splice(number, 1)
    return false
  }

  find(key: string): Change | undefined {
    this.#putInOrder()
    const chunk = this.#chunks[this.#chunkOf(key)]!
    const found = chunk[positionIn(chunk, key)]
    return found?.key === key ? found : undefined
  }

  /** Cursor at the first change whose key is not less than `key`. */
  cursorAt(key: string): Cursor & DocumentCursor {
    this.#putInOrder()
    const number = this.#chunkOf(key)
    return new MemtableCursor(this.#chunks, number, positionIn(this.#chunks[number]!, key))
  }

  /** Cursor at the last change whose key is less than `key`. */
  cursorBefore(key: string): Cursor {
    const cursor = this.cursorAt(key)
    cursor.previous()
    return cursor
  }

  sums(low: string, high: string): Sums {
    let sum = 0
    let values = 0
    const cursor = this.cursorAt(low)
    while (cursor.isAt && cursor.key < high) {
      sum += countIn(cursor.state)
      values += valuesIn(cursor.state)
      cursor.next()
    }
    return { sum, values }
  }

  /** Index of the last chunk whose first key is not greater than `key`, or of the first chunk. */
  #chunkOf(key: string): number {
    let low = 0
    let high = this.#chunks.length - 1
    while (low < high) {
      const middle = (low + high + 1) >> 1
      if (this.#chunks[middle]![0]!.key <= key) low = middle
      else high = middle - 1
    }
    return low
  }
}

/** Index of a key in a chunk, or the index at which to insert it. */
function positionIn(chunk: readonly Change[], key: string): number {
  let low = 0
  let high = chunk.length
  while (low < high) {
    const middle = (low + high) >> 1
    if (chunk[middle]!.key < key) low = middle + 1
    else high = middle
  }
  return low
}

/** Cursor over the changes of a memtable, valid until the next change is sorted in. */
class MemtableCursor implements Cursor, DocumentCursor {
  readonly #chunks: readonly (readonly Change[])[]
  #number: number
  #at: number
  #change: Change | undefined
  /** Always 0: the memtable is small, so no change is skipped. */
  readonly passed = 0

  constructor(chunks: readonly (readonly Change[])[], number: number, at: number) {
    this.#chunks = chunks
    this.#number = number
    this.#at = at
    this.#settle()
  }

  get isAt(): boolean {
    return this.#change !== undefined
  }

  get key(): string {
    return this.#change!.key
  }

  startsWith({ text }: SeekKey): boolean {
    return this.key.startsWith(text)
  }

  get state(): number {
    return this.#change!.state
  }

  get doc(): number {
    return this.#change!.doc
  }

  next(): void {
    this.#at++
    this.#settle()
  }

  previous(): void {
    if (this.#at === 0) {
      if (this.#number === 0) {
        this.#change = undefined
        return
      }
      this.#at = this.#chunks[--this.#number]!.length
    }
    this.#change = this.#chunks[this.#number]![--this.#at]
  }

  /** Moves from the end of a chunk to the start of the next chunk. */
  #settle(): void {
    if (this.#at === this.#chunks[this.#number]!.length)
      if (this.#number < this.#chunks.length - 1) {
        this.#number++
        this.#at = 0
      }
    this.#change = this.#chunks[this.#number]![this.#at]
  }
}
