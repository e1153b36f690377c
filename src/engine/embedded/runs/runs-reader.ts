/**
 * Reads an index in sorted runs within the snapshot of a connection: the memtable, which follows
 * the table `recent`, and all readable runs, newest first.
 */
import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { BlockCache } from './block-cache.ts'
import { BlockCursor, type Sums } from './block.ts'
import { hashesOf } from './bloom-filter.ts'
import { isElement, kindOf, kinds, type Change, type State } from './change.ts'
import { DocumentSet } from './document-set.ts'
import { ListedValues } from './listed-values.ts'
import {
  entriesOf,
  type Cursor,
  type EntryWalk,
  type Found,
  type DocumentSelection,
  type SeekKey,
} from './cursor.ts'
import {
  afterStart,
  docSize,
  entryKey,
  pathStart,
  tieText,
  valueStart,
  type EntryOwner,
  type Tie,
} from '../format/entry-key.ts'
import { areBytesSound, type RowChecksum } from '../format/checksums.ts'
import { damagedIndex, valueIndex } from '../format/damage.ts'
import type { RunRow } from './layout.ts'
import { Memtable } from './memtable.ts'
import { Run, seekKeyOf, type RunStore } from './run.ts'
import { documentsIn, ValueDocuments } from './value-documents.ts'

/** Limit of a range: the key of a value, or a prefix of keys of values. */
export interface Bound {
  readonly key: Uint8Array
  readonly inclusive: boolean
}

/**
 * The entries of a path with values between two bounds; an absent bound means no limit on that
 * side.
 */
export interface EntryRange {
  readonly path: number
  readonly low?: Bound
  readonly high?: Bound
  /** Whether array elements count as well. */
  readonly withElements?: boolean
}

/** Direction of a walk, and the entry after which it continues. */
export interface Walk<After> {
  readonly direction?: 1 | -1
  readonly after?: After | undefined
}

/** A walk over a range, restricted to some documents when `only` is present. */
export interface RangeWalk extends Walk<EntryPlace> {
  readonly only?: DocumentSelection | undefined
}

/** Position of an entry in a range. */
export interface EntryPlace {
  readonly value: Uint8Array
  readonly owner: EntryOwner
}

export interface RunsReaderOptions {
  /** Size of the block cache in bytes. */
  readonly cacheSize?: number
}

interface RecentRow {
  readonly id: number
  readonly changes: Uint8Array
  readonly checksum: RowChecksum
}

const defaultCacheSize = 8 * 2 ** 20

export class RunsReader {
  readonly #database: DatabaseSync
  readonly tie: Tie
  readonly #store: RunStore
  readonly #manifest: StatementSync
  readonly #recent: StatementSync
  readonly memtable: Memtable
  #runs: readonly Run[] = []
  readonly #listed = new ListedValues()
  #version = -1
  #flushed = 0
  /** Number of the latest row of `recent` that the memtable contains. */
  #seen = 0

  constructor(
    database: DatabaseSync,
    { cacheSize = defaultCacheSize }: RunsReaderOptions = {},
  ) {
    this.#database = database
    const tie = database.prepare('SELECT tie FROM manifest').get()!['tie'] as Tie
    this.tie = tie
    const cache = new BlockCache(database, cacheSize)
    this.#store = { database, tie, cache, cursor: new BlockCursor(tie) }
    this.#manifest = database.prepare(
      'SELECT version, flushed, ifnull((SELECT max(id) FROM recent), 0) FROM manifest',
    )
    this.#manifest.setReturnArrays(true)
    this.#recent = database.prepare(
      'SELECT id, changes, checksum FROM recent WHERE id > ? ORDER BY id',
    )
    this.memtable = new Memtable(tie)
  }

  /** Readable runs, newest first. */
  get runs(): readonly Run[] {
    return this.#runs
  }

  /** Number of the latest row of `recent` that the memtable contains. */
  get seen(): number {
    return this.#seen
  }

  /** Catches up with the snapshot of the connection. Must be called when its transaction begins. */
  begin(): void {
    const [version, flushed, latest] = this.#manifest.get() as unknown as number[]
    if (version !== this.#version) this.#readRuns(version!)
    if (flushed !== this.#flushed) {
      // A flush has moved the content of the memtable to a run.
      this.memtable.clear()
      this.#flushed = this.#seen = flushed!
    }
    if (latest! > this.#seen) this.#catchUp()
  }

  /** Adds a block that was written as row `number` of `recent`. */
  takeIn(number: number, changes: Uint8Array): void {
    this.memtable.takeIn(changes)
    this.#seen = number
  }

  #catchUp(): void {
    for (const row of this.#recent.iterate(this.#seen)) {
      const { id, changes, checksum } = row as unknown as RecentRow
      if (!areBytesSound(changes, id, checksum))
        throw damagedIndex(valueIndex, `the list of recent changes ${id}`)
      this.takeIn(id, changes)
    }
  }

  #readRuns(version: number): void {
    const rows = this.#database
      .prepare("SELECT * FROM run WHERE state = 'made' ORDER BY level, number DESC")
      .all() as unknown as RunRow[]
    const known = new Map(this.#runs.map((run) => [run.number, run]))
    this.#runs = rows.map((row) => known.get(row.number) ?? new Run(this.#store, row))
    this.#listed.clear()
    this.#version = version
  }

  /** Sets the size of the block cache in bytes, at most the default. */
  setCache(size: number): void {
    this.#store.cache.sizeMax = Math.min(size, defaultCacheSize)
  }

  /** All entries in key order. Each block is read once and bypasses the cache. */
  all(): Iterable<Found> {
    const from = seekKeyOf('')
    const cursors = this.#runs.map((run) => run.cursorAt(from, { isOnce: true }))
    return entriesOf([this.memtable.cursorAt(''), ...cursors], {
      direction: 1,
      isWithin: () => true,
      valuesOnly: false,
    })
  }

  /** Entries ordered by value and, within a value, by tie. */
  inRange(range: EntryRange, walk: RangeWalk = {}): Iterable<Found> {
    const [low, high] = keysOf(range)
    const { direction = 1, after } = walk
    // Tombstones of rows have no row number, so entries of rows cannot be skipped by number.
    const only = this.tie === 'doc' ? walk.only : undefined
    const place = after && entryKey(range.path, after.value, after.owner, this.tie)
    const valuesOnly = range.withElements !== true
    return this.#walk(
      { low, high, direction, place, valuesOnly, only },
      this.#overlapping(low, high),
    )
  }

  /** Entries of a value, array elements included, ordered by tie. */
  withValue(
    path: number,
    value: Uint8Array,
    { direction = 1, after }: Walk<EntryOwner> = {},
  ): Iterable<Found> {
    const start = valueStart(path, value)
    const place = after && start + tieText(after, this.tie)
    const high = afterStart(start)
    const stretch = { low: start, high, direction, place, valuesOnly: false }
    return this.#walk(stretch, this.#having(start))
  }

  /**
   * Ascending numbers, greater than `after`, of the documents that have a value or an array element
   * with that value.
   */
  numbersWith(path: number, value: Uint8Array, after: number): Iterable<number> {
    const { memtable } = this
    const start = seekKeyOf(valueStart(path, value))
    const from = seekKeysOf(start.text, 'doc')({ seq: after + 1, id: noId })
    const recent = new ValueDocuments(start, 0, () => memtable.cursorAt(from.text))
    const sources = [recent]
    const hashes = hashesOf(start.text, start.text.length)
    const high = afterStart(start.text)
    for (const run of this.#runs)
      if (run.docMax > after && run.overlaps(start.text, high)) {
        const open = () =>
          run.mayHave(start.text, hashes) ? run.cursorAt(from) : undefined
        sources.push(new ValueDocuments(start, run.docMin, open))
      }
    return documentsIn(sources)
  }

  /**
   * Ascending numbers of the documents that have a value or an array element with that value;
   * undefined when a number does not fit into 32 bits. The caller may not change the result.
   */
  listWith(path: number, value: Uint8Array): Uint32Array | undefined {
    const start = valueStart(path, value)
    const cached = this.#listed.numbers(listKey(start, true))
    return cached === undefined
      ? this.documentsWith(path, value, true).numbers()
      : withChanges(cached, this.#recentChanges(start))
  }

  /**
   * The documents that have a value; `withElements` includes array elements. The caller may not
   * change the result.
   */
  documentsWith(path: number, value: Uint8Array, withElements: boolean): DocumentSet {
    if (this.tie === 'id') {
      const documents = new DocumentSet()
      // Tombstones of rows have no row number, so only an ordered walk over all sources can
      // apply them.
      for (const { doc, state } of this.withValue(path, value))
        if (withElements || !isElement(state)) documents.add(doc)
      return documents
    }
    const start = valueStart(path, value)
    const isPresent = (state: State) =>
      kindOf(state) !== kinds.remove && (withElements || !isElement(state))
    const noteIn = (documents: DocumentSet) => (state: State, doc: number) => {
      if (isPresent(state)) documents.add(doc)
      else documents.delete(doc)
    }
    const cached = this.#listed.documents(listKey(start, withElements), (documents) => {
      const target = seekKeyOf(start)
      const note = noteIn(documents)
      // Runs are read oldest first, so that the newest change decides.
      for (const run of this.#having(start).toReversed()) run.each(target, note)
    })
    const changes = this.#recentChanges(start)
    if (changes.length === 0) return cached
    const documents = cached.copy()
    const note = noteIn(documents)
    for (const { state, doc } of changes) note(state, doc)
    return documents
  }

  /** The changes of the entries of a value in the memtable, in the order of ties. */
  #recentChanges(start: string): ValueChange[] {
    const changes: ValueChange[] = []
    const cursor = this.memtable.cursorAt(start)
    while (cursor.isAt && cursor.key.startsWith(start)) {
      changes.push({ state: cursor.state, doc: cursor.doc })
      cursor.next()
    }
    return changes
  }

  /**
   * The documents that have a value in a range, in no order; array elements do not count. `pace` is
   * called now and then, and may throw.
   */
  documentsWithin(range: EntryRange, pace: () => void): DocumentSet {
    const added = this.tie === 'doc' ? this.#addedWithin(range, pace) : undefined
    if (added !== undefined) return added
    const documents = new DocumentSet()
    let count = 0
    for (const { doc } of this.inRange(range)) {
      documents.add(doc)
      if (++count % listedPerPace === 0) pace()
    }
    return documents
  }

  /**
   * The documents that have a value in a range if all changes in the range are additions: then it
   * does not matter which source has the newest change of an entry. Undefined otherwise.
   */
  #addedWithin(range: EntryRange, pace: () => void): DocumentSet | undefined {
    const [low, high] = keysOf(range)
    const documents = new DocumentSet()
    if (low >= high) return documents
    let otherChanges = 0
    const note = (state: State, doc: number): void => {
      if (kindOf(state) !== kinds.add) otherChanges++
      else if (!isElement(state)) documents.add(doc)
    }
    const recent = this.memtable.cursorAt(low)
    while (otherChanges === 0 && recent.isAt && recent.key < high) {
      note(recent.state, recent.doc)
      recent.next()
    }
    const [from, to] = [seekKeyOf(low), seekKeyOf(high)]
    for (const run of this.#overlapping(low, high)) {
      if (otherChanges > 0) return undefined
      run.eachWithin(from, to, note, pace)
    }
    return otherChanges === 0 ? documents : undefined
  }

  /** Number of entries in a range; a result above `enough` may be an estimate. */
  countRange(range: EntryRange, enough = Infinity): number {
    const [low, high] = keysOf(range)
    const runs = this.#overlapping(low, high)
    const withElements = range.withElements === true
    if (enough < Infinity && low < high) {
      const about = totalOf(
        runs.map((run) => run.segmentSums(low, high)),
        withElements,
      )
      if (about > enough) return about
    }
    return this.#count(low, high, withElements, runs)
  }

  /** Number of entries of a value, array elements included. */
  countValue(path: number, value: Uint8Array): number {
    const start = valueStart(path, value)
    const end = afterStart(start)
    const cached = this.#listed.numbers(listKey(start, true))
    return cached === undefined
      ? this.#count(start, end, true, this.#having(start))
      : cached.length + this.memtable.sums(start, end).sum
  }

  /** The entry that a document or row has for a value; undefined if it has none. */
  find(path: number, value: Uint8Array, owner: EntryOwner): Found | undefined {
    return this.probe(path, value)(owner)
  }

  /**
   * Returns a function that finds the entry of an owner for this value. The function is valid as
   * long as the snapshot.
   */
  probe(path: number, value: Uint8Array): (owner: EntryOwner) => Found | undefined {
    const { tie, memtable } = this
    const start = valueStart(path, value)
    const runs = this.#having(start)
    const first = memtable.cursorAt(start)
    const isRecent = first.isAt && first.key.startsWith(start)
    const targetFor = seekKeysOf(start, tie)
    return (owner) => {
      const target = targetFor(owner)
      let latest: Found | undefined = isRecent ? memtable.find(target.text) : undefined
      for (let i = 0; latest === undefined && i < runs.length; i++) {
        const run = runs[i]!
        // All entries of a document are written at once, so few runs have its number in their
        // range.
        if (tie === 'id' || (owner.seq >= run.docMin && owner.seq <= run.docMax))
          latest = run.find(target)
      }
      return latest === undefined || kindOf(latest.state) === kinds.remove
        ? undefined
        : latest
    }
  }

  #overlapping(low: string, high: string): readonly Run[] {
    return this.#runs.filter((run) => run.overlaps(low, high))
  }

  /** Runs that may have entries of a value. */
  #having(start: string): readonly Run[] {
    const hashes = hashesOf(start, start.length)
    const high = afterStart(start)
    return this.#runs.filter(
      (run) => run.overlaps(start, high) && run.mayHave(start, hashes),
    )
  }

  /** Walks over the entries with keys in [low, high). */
  #walk(
    { low, high, direction, place, valuesOnly, only }: KeyRange,
    runs: readonly Run[],
  ): Iterable<Found> {
    const isUp = direction === 1
    let from = isUp ? low : high
    // The next possible key after a key is that key with a zero byte appended.
    if (place !== undefined && isUp && place >= low) from = `${place}\0`
    if (place !== undefined && !isUp && place < high) from = place
    const target = seekKeyOf(from)
    const { memtable } = this
    const cursors: Cursor[] = [isUp ? memtable.cursorAt(from) : memtable.cursorBefore(from)]
    const options = { wanted: only?.documents }
    for (const run of runs)
      cursors.push(isUp ? run.cursorAt(target, options) : run.cursorBefore(target, options))
    const isWithin = isUp ? (key: string) => key < high : (key: string) => key >= low
    return entriesOf(cursors, { direction, isWithin, valuesOnly, only })
  }

  #count(low: string, high: string, withElements: boolean, runs: readonly Run[]): number {
    if (low >= high) return 0
    const [from, to] = [seekKeyOf(low), seekKeyOf(high)]
    const parts = [this.memtable.sums(low, high), ...runs.map((run) => run.sums(from, to))]
    return totalOf(parts, withElements)
  }
}

/** A change of an entry of one value. */
type ValueChange = Pick<Change, 'state' | 'doc'>

/**
 * Applies changes to a list of document numbers; both ascend. Undefined when a number does not fit
 * into 32 bits.
 */
function withChanges(
  numbers: Uint32Array,
  changes: readonly ValueChange[],
): Uint32Array | undefined {
  if (changes.length === 0) return numbers
  if (changes.at(-1)!.doc >= 2 ** 32) return undefined
  const changed = new Uint32Array(numbers.length + changes.length)
  let size = 0
  let at = 0
  for (const { state, doc } of changes) {
    while (at < numbers.length && numbers[at]! < doc) changed[size++] = numbers[at++]!
    if (numbers[at] === doc) at++
    if (kindOf(state) !== kinds.remove) changed[size++] = doc
  }
  while (at < numbers.length) changed[size++] = numbers[at++]!
  return changed.subarray(0, size)
}

/** Cache key of the documents of a value, whose keys have the prefix `start`. */
function listKey(start: string, withElements: boolean): string {
  return `${withElements ? 'any' : 'values'} ${start}`
}

function totalOf(parts: readonly Sums[], withElements: boolean): number {
  return parts.reduce((count, part) => count + (withElements ? part.sum : part.values), 0)
}

/** Number of listed entries between two calls of `pace`. */
const listedPerPace = 256

const noId = new Uint8Array()

/** Key range of a walk, and the key after which it continues. */
interface KeyRange extends Omit<EntryWalk, 'isWithin'> {
  readonly low: string
  readonly high: string
  readonly place: string | undefined
}

/** First key of a range, and the first key after the range. */
function keysOf({ path, low, high }: EntryRange): [string, string] {
  const start = pathStart(path)
  return [
    low === undefined ? start : side(path, low, !low.inclusive),
    high === undefined ? afterStart(start) : side(path, high, high.inclusive),
  ]
}

/**
 * A key that is less than all keys of a bound's value or, if `isBehind`, greater than all of them.
 */
function side(path: number, { key }: Bound, isBehind: boolean): string {
  const start = valueStart(path, key)
  return isBehind ? afterStart(start) : start
}

/**
 * Returns a function that makes the keys of the entries of one value. `start`: key prefix of the
 * value. The bytes of a key are valid until the next call.
 */
function seekKeysOf(start: string, tie: Tie): (owner: EntryOwner) => SeekKey {
  if (tie === 'id') return (owner) => seekKeyOf(start + tieText(owner, tie))
  const bytes = Buffer.alloc(start.length + docSize)
  bytes.write(start, 'latin1')
  return ({ seq }) => {
    bytes.writeUIntBE(seq, start.length, docSize)
    return { text: bytes.toString('latin1'), bytes }
  }
}
