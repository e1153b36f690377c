/** An immutable sorted run of changes, and the lookups in it. */
import type { DatabaseSync } from 'node:sqlite'
import { BlockScan } from './block-scan.ts'
import { BlockCursor, type Sums } from './block.ts'
import type { BlockCache } from './block-cache.ts'
import { mayHave } from './bloom-filter.ts'
import type { Change, State } from './change.ts'
import type { Cursor, SeekKey } from './cursor.ts'
import type { Documents } from './document-set.ts'
import type { Tie } from '../format/entry-key.ts'
import { damagedIndex, valueIndex } from '../format/damage.ts'
import { segmentChecksum, type RunRow, type SegmentRow } from './layout.ts'
import { orderBehind, sharedBy, type ChangeSource } from './packed-change.ts'
import type { DocumentCursor } from './value-documents.ts'

export function seekKeyOf(text: string): SeekKey {
  return { text, bytes: Buffer.from(text, 'latin1') }
}

/** Objects that all runs of a store share. */
export interface RunStore {
  readonly database: DatabaseSync
  readonly cache: BlockCache
  readonly tie: Tie
  /** Cursor that lookups share; each lookup finishes before the next lookup starts. */
  readonly cursor: BlockCursor
}

/** Index of a segment in the run and of a block in the segment. */
interface Place {
  readonly segment: number
  readonly block: number
}

export interface CursorOptions {
  /** Whether the cursor bypasses the block cache, because it reads each block once. */
  readonly isOnce?: boolean
  /** Documents whose changes are wanted; most changes of other documents are skipped. */
  readonly wanted?: Documents | undefined
}

export class Run {
  readonly number: number
  readonly level: number
  readonly entries: number
  readonly docMin: number
  readonly docMax: number
  readonly #store: RunStore
  readonly #segments: readonly SegmentRow[]
  readonly #firsts: readonly string[]
  readonly #last: string
  /** Block of the latest `find`, with its first key and the first key of the next block (`end`). */
  #lastPlace: (Place & { readonly first: string; readonly end: string }) | undefined
  /** Per segment: net counts of all segments before it. The last element is the total. */
  readonly #sums: readonly Sums[]

  constructor(store: RunStore, { number, level }: RunRow) {
    this.#store = store
    this.number = number
    this.level = level
    this.#segments = store.database
      .prepare(
        'SELECT block, blocks, entries, sum, "values", doc_min, doc_max, first, last, ' +
          'detail_checksum, checksum FROM segment WHERE run = ? ORDER BY block',
      )
      .all(number) as unknown as SegmentRow[]
    for (const segment of this.#segments) verifySegment(number, segment)
    // A readable run has at least one segment.
    if (this.#segments.length === 0) throw damagedIndex(valueIndex, `run ${number}`)
    this.#firsts = this.#segments.map(({ first }) => textOf(first))
    this.#last = textOf(this.#segments.at(-1)!.last)
    const sums: Sums[] = [{ sum: 0, values: 0 }]
    for (const segment of this.#segments) sums.push(plus(sums.at(-1)!, segment))
    this.#sums = sums
    let [entries, docMin, docMax] = [0, Infinity, 0]
    for (const segment of this.#segments) {
      entries += segment.entries
      docMin = Math.min(docMin, segment.doc_min)
      docMax = Math.max(docMax, segment.doc_max)
    }
    this.entries = entries
    this.docMin = docMin
    this.docMax = docMax
  }

  /** Whether the run may have keys in [low, high). */
  overlaps(low: string, high: string): boolean {
    return low <= this.#last && this.#firsts[0]! < high
  }

  /** Whether the run may have keys of a value; `start` is the prefix of these keys. */
  mayHave(start: string, hashes: readonly [number, number]): boolean {
    const number = lastUpTo(this.#firsts, start)
    const { filter } = this.#detail(number)
    if (filter === undefined || mayHave(filter, hashes)) return true
    return this.#firsts[number + 1]?.startsWith(start) === true
  }

  /** Cursor at the first change whose key is not less than the target. */
  cursorAt(target: SeekKey, options: CursorOptions = {}): Cursor & DocumentCursor {
    return this.#cursor(options).from(this.#placeOf(target.text), target.bytes)
  }

  /**
   * The changes whose keys are not less than a key, as input of a merge. Their blocks bypass the
   * cache.
   */
  changesFrom({ text, bytes }: SeekKey): ChangeSource {
    const changes = new BlockScan(this.#store.tie, this.#blocksFrom(this.#placeOf(text)))
    const from = { bytes, start: 0, size: bytes.length }
    while (changes.isAt && orderBehind(changes, from, sharedBy(changes, from, 0)) < 0)
      changes.next()
    return changes
  }

  *#blocksFrom({ segment, block }: Place): Generator<Uint8Array> {
    let first = block
    for (const { block: id, blocks } of this.#segments.slice(segment)) {
      for (let i = first; i < blocks; i++) yield this.#store.cache.read(id + i)
      first = 0
    }
  }

  /** The change with exactly this key. */
  find({ text, bytes }: SeekKey): Change | undefined {
    // Only the last block whose first key is not greater than the key can contain it.
    const { cursor } = this.#store
    this.#open(cursor, this.#nearPlaceOf(text))
    cursor.seek(bytes)
    if (!cursor.isAtKey(bytes)) return undefined
    return { key: text, state: cursor.state, doc: cursor.doc }
  }

  /**
   * Calls `tell` for each change whose key has the prefix `start`, in order. Requires document
   * numbers as ties.
   */
  each(start: SeekKey, tell: (state: State, doc: number) => void): void {
    const cursor = this.#cursor()
    cursor.from(this.#placeOf(start.text), start.bytes).tellOf(start.bytes, tell)
  }

  /**
   * Calls `tell` for each change with a key in [low, high), in order, and `pace` once per block.
   * Requires document numbers as ties.
   */
  eachWithin(
    low: SeekKey,
    high: SeekKey,
    tell: (state: State, doc: number) => void,
    pace: () => void,
  ): void {
    const cursor = this.#cursor()
    cursor.from(this.#placeOf(low.text), low.bytes).tellBefore(high.bytes, tell, pace)
  }

  /** Cursor at the last change whose key is less than the target. */
  cursorBefore(target: SeekKey, options: CursorOptions = {}): Cursor {
    return this.#cursor(options).before(this.#placeOf(target.text), target.bytes)
  }

  /** Net counts of the changes with keys in [low, high). */
  sums(low: SeekKey, high: SeekKey): Sums {
    return minus(this.#sumsBefore(high), this.#sumsBefore(low))
  }

  /** Net counts of the segments whose keys all lie between two keys. Reads no block. */
  segmentSums(low: string, high: string): Sums {
    const first = lastUpTo(this.#firsts, low) + 1
    const end = Math.max(first, lastUpTo(this.#firsts, high))
    return minus(this.#sums[end]!, this.#sums[first]!)
  }

  /** Net counts of the changes before a key. */
  #sumsBefore({ text, bytes }: SeekKey): Sums {
    const place = this.#placeOf(text)
    const { sums, values } = this.#detail(place.segment)
    const before = { sum: sums[place.block]!, values: values[place.block]! }
    const { cursor } = this.#store
    this.#open(cursor, place)
    cursor.seek(bytes)
    return plus(plus(this.#sums[place.segment]!, before), cursor.sumsBefore())
  }

  #open(cursor: BlockCursor, { segment, block }: Place): void {
    cursor.load(this.#store.cache.block(this.#segments[segment]!.block + block))
  }

  /** The last block whose first key is not greater than `key`, or the first block. */
  #placeOf(key: string): Place {
    const segment = lastUpTo(this.#firsts, key)
    return { segment, block: lastUpTo(this.#detail(segment).firsts, key) }
  }

  /**
   * Like `#placeOf`, but caches the last block, because consecutive lookups often need the same
   * block.
   */
  #nearPlaceOf(key: string): Place {
    const last = this.#lastPlace
    if (last !== undefined && last.first <= key && key < last.end) return last
    const place = this.#placeOf(key)
    const { firsts } = this.#detail(place.segment)
    const end = firsts[place.block + 1] ?? this.#firsts[place.segment + 1] ?? '\xff\xff'
    this.#lastPlace = { ...place, first: firsts[place.block]!, end }
    return place
  }

  #detail(segment: number) {
    return this.#store.cache.detail(this.number, this.#segments[segment]!.block)
  }

  #cursor({ isOnce = false, wanted }: CursorOptions = {}): RunCursor {
    return new RunCursor(this.#reader(isOnce), this.#store.tie, wanted)
  }

  #reader(isOnce: boolean): BlockReader {
    const { cache } = this.#store
    const segments = this.#segments
    return {
      segments: segments.length,
      blocks: (segment) => segments[segment]!.blocks,
      read: ({ segment, block }) => {
        const id = segments[segment]!.block + block
        return isOnce ? cache.read(id) : cache.block(id)
      },
    }
  }
}

function verifySegment(run: number, segment: SegmentRow): void {
  const { block, checksum } = segment
  if (checksum !== null && segmentChecksum(run, segment) !== checksum)
    throw damagedIndex(valueIndex, `segment ${block}`)
}

interface BlockReader {
  readonly segments: number
  blocks(segment: number): number
  read(place: Place): Uint8Array
}

class RunCursor implements Cursor, DocumentCursor {
  readonly #reader: BlockReader
  readonly #cursor: BlockCursor
  readonly #wanted: Documents | undefined
  #segment = 0
  #block = 0
  isAt = true
  passed = 0

  /**
   * With `wanted`, the cursor skips changes of other documents, except one per block, so that the
   * caller sees the progress of a long walk.
   */
  constructor(reader: BlockReader, tie: Tie, wanted: Documents | undefined) {
    this.#reader = reader
    this.#cursor = new BlockCursor(tie)
    this.#wanted = wanted
  }

  /**
   * Moves to the first entry that is not before `target`, starting from the block of the target.
   */
  from({ segment, block }: Place, target: Uint8Array): this {
    this.#load(segment, block)
    this.#cursor.seek(target)
    if (!this.#cursor.isAt) this.#nextBlock()
    return this
  }

  /** Moves to the last entry that is less than `target`, starting from the block of the target. */
  before({ segment, block }: Place, target: Uint8Array): this {
    this.#load(segment, block)
    this.#cursor.seekBefore(target)
    if (!this.#cursor.isAt) this.#previousBlock()
    return this
  }

  get key(): string {
    return this.#cursor.key
  }

  startsWith({ bytes }: SeekKey): boolean {
    return this.#cursor.startsWith(bytes)
  }

  /**
   * Calls `tell` for the current change and the following changes while their keys have the prefix
   * `start`.
   */
  tellOf(start: Uint8Array, tell: (state: State, doc: number) => void): void {
    while (this.isAt && this.#cursor.startsWith(start)) {
      if (!this.#cursor.tellOf(start, tell)) return
      this.#nextBlock()
    }
  }

  /**
   * Calls `tell` for the current change and the following ones while their keys are less than
   * `end`, and `pace` once per block.
   */
  tellBefore(
    end: Uint8Array,
    tell: (state: State, doc: number) => void,
    pace: () => void,
  ): void {
    while (this.isAt && this.#cursor.tellBefore(end, tell)) {
      pace()
      this.#nextBlock()
    }
  }

  get state(): number {
    return this.#cursor.state
  }

  get doc(): number {
    return this.#cursor.doc
  }

  next(): void {
    if (this.#wanted === undefined) this.#cursor.next()
    else this.passed = this.#cursor.nextOf(this.#wanted)
    if (!this.#cursor.isAt) this.#nextBlock()
  }

  previous(): void {
    const from = this.#cursor.position
    const isThere = this.#cursor.previous(this.#wanted)
    this.passed = from - 1 - (isThere ? this.#cursor.position : -1)
    if (!isThere) this.#previousBlock()
  }

  #nextBlock(): void {
    if (this.#block + 1 < this.#reader.blocks(this.#segment))
      this.#open(this.#segment, this.#block + 1)
    else if (this.#segment + 1 < this.#reader.segments) this.#open(this.#segment + 1, 0)
    else this.isAt = false
  }

  #previousBlock(): void {
    if (this.#block > 0) this.#load(this.#segment, this.#block - 1)
    else if (this.#segment > 0)
      this.#load(this.#segment - 1, this.#reader.blocks(this.#segment - 1) - 1)
    else {
      this.isAt = false
      return
    }
    this.#cursor.toLast()
  }

  #open(segment: number, block: number): void {
    this.#load(segment, block)
    this.#cursor.toFirst()
  }

  #load(segment: number, block: number): void {
    this.#segment = segment
    this.#block = block
    this.#cursor.load(this.#reader.read({ segment, block }))
  }
}

/** Index of the last text that is at most `key`; 0 when all are greater. */
function lastUpTo(texts: readonly string[], key: string): number {
  let low = 0
  let high = texts.length - 1
  while (low < high) {
    const middle = (low + high + 1) >> 1
    if (texts[middle]! <= key) low = middle
    else high = middle - 1
  }
  return low
}

function textOf(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('latin1')
}

function plus(a: Sums, b: Sums): Sums {
  return { sum: a.sum + b.sum, values: a.values + b.values }
}

function minus(a: Sums, b: Sums): Sums {
  return { sum: a.sum - b.sum, values: a.values - b.values }
}
