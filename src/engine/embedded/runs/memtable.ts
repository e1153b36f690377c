/**
 * The latest changes in memory, until they become a run. They come as blocks, and are put in
 * order when somebody looks for one: the thread that writes hardly ever does.
 */
import { BlockScan } from './block-scan.ts'
import { changesIn, countOf, type Sums } from './block.ts'
import { countIn, together, valuesIn, type Change } from './change.ts'
import type { Cursor, SeekKey } from './cursor.ts'
import type { Tie } from '../format/entry-key.ts'
import type { ChangeSource } from './packed-change.ts'
import { ChangeLog } from './sorted-changes.ts'
import type { DocumentCursor } from './value-documents.ts'

/** Changes of a chunk: putting one into it moves those behind it. */
const chunkMax = 512

export class Memtable {
  readonly #tie: Tie
  /** In order, none of them empty, unless nothing is there at all. */
  readonly #chunks: Change[][] = [[]]
  #inOrder = 0
  /** What has come since, oldest first, and how many changes that are. */
  #unsorted: Uint8Array[] = []
  #unsortedCount = 0

  constructor(tie: Tie) {
    this.#tie = tie
  }

  /** How many there are; those of one entry may count as several until they are in order. */
  get count(): number {
    return this.#inOrder + this.#unsortedCount
  }

  clear(): void {
    this.#chunks.splice(0, this.#chunks.length, [])
    this.#inOrder = this.#unsortedCount = 0
    this.#unsorted = []
  }

  /** Adds a block of changes, in the order in which they were made. */
  takeIn(block: Uint8Array): void {
    this.#unsorted.push(block)
    this.#unsortedCount += countOf(block)
  }

  /** All changes in order, to be written. Nothing is older than them if so said. */
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
    // A sort keeps the order of those that are equal: the oldest come first.
    changes.sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0))
    this.#apply(changes)
  }

  /** Adds what has become of entries, which come in order, to what was known of them. */
  #apply(changes: readonly Change[]): void {
    let number = -1
    let end: string | undefined
    for (const change of changes) {
      // Most of them belong into the same chunk as the one before.
      if (number === -1 || (end !== undefined && change.key >= end)) {
        number = this.#chunkOf(change.key)
        end = this.#chunks[number + 1]?.[0]!.key
      }
      if (!this.#applyTo(number, change)) number = -1
    }
  }

  /** Whether the chunks are the same as before. */
  #applyTo(number: number, change: Change): boolean {
    const chunk = this.#chunks[number]!
    const at = positionIn(chunk, change.key)
    const older = chunk[at]
    if (older?.key === change.key) {
      const left = together(older, change, this.#tie)
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

  /** At the first change that is not before a key. */
  cursorAt(key: string): Cursor & DocumentCursor {
    this.#putInOrder()
    const number = this.#chunkOf(key)
    return new MemtableCursor(this.#chunks, number, positionIn(this.#chunks[number]!, key))
  }

  /** At the last change that is before a key. */
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

  /** The last chunk that starts at a key or before it, or the first one. */
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

/** Where a key is, or would be. */
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

/** Holds as long as nothing is applied. */
class MemtableCursor implements Cursor, DocumentCursor {
  readonly #chunks: readonly (readonly Change[])[]
  #number: number
  #at: number
  #change: Change | undefined
  /** They are few, and at hand: it leaves none out. */
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

  /** Behind the last of a chunk stands the first of the next. */
  #settle(): void {
    if (this.#at === this.#chunks[this.#number]!.length)
      if (this.#number < this.#chunks.length - 1) {
        this.#number++
        this.#at = 0
      }
    this.#change = this.#chunks[this.#number]![this.#at]
  }
}
