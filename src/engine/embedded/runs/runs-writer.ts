/**
 * Writes an index in sorted runs. A commit appends its changes to the table `recent`. All other
 * work is done in steps of bounded size: flushing the memtable to a run, merging runs, deleting
 * merged runs. Every step leaves a valid index, so a crash after any transaction does, too.
 */
import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { blockEntriesMax, BlockWriter, changesIn, countOf } from './block.ts'
import {
  added,
  isElement,
  kindOf,
  kinds,
  removed,
  type Change,
  type State,
} from './change.ts'
import type { Found } from './cursor.ts'
import { entryKey, packedKey, type EntryOwner, type KeySpan } from '../format/entry-key.ts'
import { bytesChecksum } from '../format/checksums.ts'
import { segmentChecksum, type RunRow, type SegmentRow } from './layout.ts'
import { MergedChanges } from './merge.ts'
import { sharedBy, type ChangeSource, type PackedChange } from './packed-change.ts'
import { seekKeyOf, type Run } from './run.ts'
import { RunsReader, type RunsReaderOptions } from './runs-reader.ts'
import { encodeSegment, type EncodedSegment, type SegmentOptions } from './segment.ts'

export interface RunsWriterOptions extends RunsReaderOptions {
  /** Number of changes in `recent` that causes a flush. */
  readonly recentMax?: number | undefined
  /** Number of runs of a level that are merged into one. */
  readonly fanout?: number
  /** Size of a block in bytes, and blocks per segment. */
  readonly blockSize?: number
  readonly blocksMax?: number
}

const defaultRecentMax = 16_384
const defaultFanout = 4
/** Maximum size of a row of `recent` in bytes. */
const recentSizeMax = 1_000_000
/** Maximum number of segments that one step deletes. */
const droppedMax = 8

interface Merge {
  readonly target: RunRow
  readonly changes: ChangeSource
  readonly withFilter: boolean
}

/** Pending work of flushes and merges. */
export interface Debt {
  /** Number of changes that wait for a flush. */
  readonly recent: number
  readonly runs: number
  readonly levels: number
  /** Number of runs per level. */
  readonly runsOf: readonly number[]
  /** Number of entries in runs that are due for a merge or being merged. */
  readonly waiting: number
}

export class RunsWriter {
  readonly reader: RunsReader
  readonly #recentMax: number
  readonly #fanout: number
  readonly #sizes: Pick<SegmentOptions, 'blockSize' | 'blocksMax'>
  readonly #database: DatabaseSync
  readonly #statements: Record<
    'recent' | 'block' | 'segment' | 'run' | 'state' | 'rows' | 'numbers',
    StatementSync
  >
  /** Running merges, by number of the target run. */
  readonly #merges = new Map<number, Merge>()
  #known: readonly RunRow[] | undefined
  /** Changes of the current transaction: full blocks, and the block that is being filled. */
  #pending: Buffer[] = []
  readonly #block: BlockWriter
  /**
   * Latest state of each entry changed in the current transaction; built by the first call of
   * `has`.
   */
  #pendingStates: Map<string, State> | undefined
  /** Number of entries that `keepUp` has to process because of earlier writes. */
  #owed = 0

  constructor(database: DatabaseSync, options: RunsWriterOptions = {}) {
    const { recentMax = defaultRecentMax, fanout = defaultFanout } = options
    this.#database = database
    this.#recentMax = recentMax
    this.#fanout = fanout
    this.#sizes = { blockSize: options.blockSize, blocksMax: options.blocksMax }
    this.reader = new RunsReader(database, options)
    this.reader.begin()
    this.#block = new BlockWriter(this.reader.tie)
    this.#statements = prepare(database)
  }

  /** Adds an entry, which must not exist. */
  put(path: number, value: KeySpan, owner: EntryOwner, element: boolean): void {
    this.#change(path, value, owner, added(element))
  }

  /** Removes an entry, which must exist with this `element` flag. */
  remove(path: number, value: KeySpan, owner: EntryOwner, element: boolean): void {
    this.#change(path, value, owner, removed(element))
  }

  /** Whether a document has an entry, changes of the current transaction included. */
  has(path: number, value: Uint8Array, owner: EntryOwner): boolean {
    const key = entryKey(path, value, owner, this.reader.tie)
    const pending = (this.#pendingStates ??= this.#statesPending()).get(key)
    if (pending !== undefined) return kindOf(pending) !== kinds.remove
    return this.reader.find(path, value, owner) !== undefined
  }

  #statesPending(): Map<string, State> {
    this.#endBlock()
    const changes = this.#pending.flatMap((block) => changesIn(block, this.reader.tie))
    return new Map(changes.map(({ key, state }) => [key, state]))
  }

  /** Removes an entry that a read returned. */
  drop({ key, state, doc }: Found): void {
    this.#note({ ...packed(key), state: removed(isElement(state)), doc })
  }

  #change(path: number, value: KeySpan, owner: EntryOwner, state: State): void {
    const { bytes, start, size } = packedKey(path, value, owner, this.reader.tie)
    this.#note({ bytes, start, size, state, doc: owner.seq })
  }

  #note(change: PackedChange): void {
    const { bytes, start, size, state } = change
    if (this.#block.count === blockEntriesMax || !this.#addToBlock(change)) {
      this.#endBlock()
      this.#addToBlock(change)
    }
    this.#pendingStates?.set(
      Buffer.from(bytes.buffer, bytes.byteOffset + start, size).toString('latin1'),
      state,
    )
  }

  #addToBlock(change: PackedChange): boolean {
    // Consecutive changes have different paths, so their keys share almost no bytes.
    return this.#block.add(change, 0, recentSizeMax)
  }

  #endBlock(): void {
    if (this.#block.count > 0) this.#pending.push(this.#block.finish().bytes)
  }

  /** Writes the changes to `recent`. Must be called before the transaction ends. */
  finish(): void {
    this.#endBlock()
    if (this.#pending.length === 0) return
    // If no step is due, the work for earlier writes is done.
    if (!this.isDue) this.#owed = 0
    for (const block of this.#pending) {
      const id = this.reader.seen + 1
      this.#statements.recent.run(id, block, bytesChecksum(block, id))
      this.reader.takeIn(id, block)
      // A change is processed once by the flush, and once for each level that it rises.
      this.#owed += countOf(block) * (this.#levels() + 2)
    }
    this.#forgetPending()
  }

  #forgetPending(): void {
    this.#pending = []
    this.#pendingStates = undefined
  }

  /**
   * Flushes and merges in proportion to recent writes, so that pending work stays bounded: about as
   * many entries are processed per level as were written.
   */
  keepUp(): void {
    while (this.#owed > 0) {
      const worked = this.step()
      this.#owed = worked === undefined ? 0 : this.#owed - worked
    }
  }

  get isDue(): boolean {
    if (this.reader.memtable.count >= this.#recentMax) return true
    const rows = this.#rows()
    if (rows.some(({ state }) => state !== 'made')) return true
    return rows.some(({ level }) => this.#idle(rows, level).length >= this.#fanout)
  }

  /**
   * Does one step in the caller's transaction. Returns the number of entries that it processed;
   * undefined when no step is due.
   */
  step(): number | undefined {
    if (this.reader.memtable.count >= this.#recentMax) return this.flush()
    const rows = this.#rows()
    const dropped = rows.find(({ state }) => state === 'dropped')
    if (dropped !== undefined) return this.#drop(dropped)
    const target = this.#dueMerge(rows)
    return target === undefined ? undefined : this.#mergeOn(target)
  }

  debt(): Debt {
    const { runs, memtable } = this.reader
    const busy = this.#busy(this.#rows())
    const levels = new Map<number, Run[]>()
    for (const run of runs) levels.set(run.level, [...(levels.get(run.level) ?? []), run])
    let waiting = 0
    for (const own of levels.values()) {
      const due = own.filter(({ number }) => busy.has(number))
      const idle = own.filter(({ number }) => !busy.has(number))
      if (idle.length >= this.#fanout) due.push(...idle)
      for (const { entries } of due) waiting += entries
    }
    const runsOf = Array.from(
      { length: this.#levels() },
      (_, i) => levels.get(i)?.length ?? 0,
    )
    return {
      ...{ recent: memtable.count, runs: runs.length, levels: this.#levels() },
      ...{ runsOf, waiting },
    }
  }

  clear(): void {
    this.#endBlock()
    this.#forgetPending()
    this.#merges.clear()
    this.#database.exec('DELETE FROM recent; DELETE FROM segment; DELETE FROM block')
    this.#database.exec('DELETE FROM run; UPDATE manifest SET version = version + 1')
    this.#known = undefined
    this.#setFlushed()
    this.reader.begin()
  }

  /** Writes the memtable as a run; returns the number of its changes. */
  flush(): number {
    const { memtable } = this.reader
    const { count } = memtable
    const isOldest = this.reader.runs.length === 0
    this.#writeRun(memtable.changes(isOldest), true, () => 0)
    this.#database.exec('DELETE FROM recent')
    this.#setFlushed()
    this.#show()
    return count
  }

  /** Writes sorted entries as the first run of an empty index. */
  load(entries: Iterable<Change>): void {
    this.#writeRun(new PackedChanges(entries), false, (count) => {
      let level = 0
      while (count > this.#recentMax * this.#fanout ** level) level++
      return level
    })
    this.#show()
  }

  #writeRun(
    changes: ChangeSource,
    withFilter: boolean,
    levelOf: (entries: number) => number,
  ): void {
    const number = this.#nextRun()
    let count = 0
    for (let part; (part = this.#encode(changes, withFilter)) !== undefined;) {
      this.#writeSegment(number, part)
      count += part.entries
    }
    if (count > 0) this.#statements.run.run(number, levelOf(count), 'made', '[]')
    this.#known = undefined
  }

  #setFlushed(): void {
    this.#database.prepare('UPDATE manifest SET flushed = ?').run(this.reader.seen)
  }

  /** Makes a changed set of runs visible to readers. */
  #show(): void {
    this.#database.exec('UPDATE manifest SET version = version + 1')
    this.reader.begin()
  }

  /** The rows of all runs, cached until a run changes; only this writer changes runs. */
  #rows(): readonly RunRow[] {
    return (this.#known ??= this.#statements.rows.all() as unknown as RunRow[])
  }

  #levels(): number {
    return (this.reader.runs.at(-1)?.level ?? -1) + 1
  }

  /** Numbers of the runs that are being merged. */
  #busy(rows: readonly RunRow[]): ReadonlySet<number> {
    const making = rows.filter(({ state }) => state === 'making')
    return new Set(making.flatMap(sourcesOf))
  }

  /** Runs of a level that are not being merged. */
  #idle(rows: readonly RunRow[], level: number): RunRow[] {
    const busy = this.#busy(rows)
    return rows.filter(
      (row) => row.state === 'made' && row.level === level && !busy.has(row.number),
    )
  }

  /**
   * Target of the merge to continue or to start: on the lowest level that has a running merge or
   * enough runs for one.
   */
  #dueMerge(rows: readonly RunRow[]): RunRow | undefined {
    for (let level = 0; level < this.#levels(); level++) {
      const target = rows.find((row) => row.state === 'making' && row.level === level)
      if (target !== undefined) return target
      const idle = this.#idle(rows, level)
      if (idle.length < this.#fanout) continue
      const sources = JSON.stringify(idle.map(({ number }) => number))
      const number = this.#nextRun()
      this.#statements.run.run(number, level, 'making', sources)
      this.#known = undefined
      return { number, level, state: 'making', sources }
    }
    return undefined
  }

  /** Writes the next segment of a merge, or completes the merge. */
  #mergeOn(target: RunRow): number {
    let merge = this.#merges.get(target.number)
    if (merge === undefined)
      this.#merges.set(target.number, (merge = this.#openMerge(target)))
    const { changes, withFilter } = merge
    const segment = this.#encode(changes, withFilter)
    if (segment === undefined) {
      this.#endMerge(target)
      return 1
    }
    this.#writeSegment(target.number, segment)
    return segment.entries
  }

  /** Opens a merge so that it continues after the last key that it has written. */
  #openMerge(target: RunRow): Merge {
    const numbers = new Set(sourcesOf(target))
    const runs = this.reader.runs.filter(({ number }) => numbers.has(number))
    const [last] = this.#database
      .prepare('SELECT last FROM segment WHERE run = ? ORDER BY block DESC LIMIT 1')
      .all(target.number) as unknown as SegmentRow[]
    const from = last === undefined ? '' : `${Buffer.from(last.last).toString('latin1')}\0`
    const isOldest = this.reader.runs.at(-1) === runs.at(-1)
    const sources = runs.map((run) => run.changesFrom(seekKeyOf(from)))
    // The oldest run needs no filter: a value that exists at all is most likely in it.
    return {
      target,
      changes: new MergedChanges(sources, { tie: this.reader.tie, isOldest }),
      withFilter: !isOldest,
    }
  }

  #endMerge(target: RunRow): void {
    const { number, level } = target
    this.#merges.delete(number)
    for (const source of sourcesOf(target))
      this.#statements.state.run('dropped', level, source)
    const { entries } = this.#database
      .prepare('SELECT total(entries) AS entries FROM segment WHERE run = ?')
      .get(number) as { entries: number }
    // A run that has shrunk to the size of the runs of its level stays on that level.
    const sizeMax = this.#recentMax * this.#fanout ** level
    const state = entries === 0 ? 'dropped' : 'made'
    this.#statements.state.run(state, entries > sizeMax ? level + 1 : level, number)
    this.#known = undefined
    this.#show()
  }

  #drop({ number }: RunRow): number {
    const segments = this.#database
      .prepare('SELECT block, blocks FROM segment WHERE run = ? ORDER BY block LIMIT ?')
      .all(number, droppedMax) as unknown as SegmentRow[]
    for (const { block, blocks } of segments) {
      this.#database
        .prepare('DELETE FROM block WHERE id >= ? AND id < ?')
        .run(block, block + blocks)
      this.#database
        .prepare('DELETE FROM segment WHERE run = ? AND block = ?')
        .run(number, block)
    }
    if (segments.length < droppedMax) {
      this.#database.prepare('DELETE FROM run WHERE number = ?').run(number)
      this.#known = undefined
    }
    return 1
  }

  #nextRun(): number {
    const sql = 'UPDATE manifest SET next_run = next_run + 1 RETURNING next_run - 1 AS next'
    return Number(this.#database.prepare(sql).get()!['next'])
  }

  #encode(changes: ChangeSource, withFilter: boolean): EncodedSegment | undefined {
    return encodeSegment(changes, { ...this.#sizes, tie: this.reader.tie, withFilter })
  }

  #writeSegment(run: number, segment: EncodedSegment): void {
    const { blocks, entries, sum, values, docMin, docMax, first, last, detail } = segment
    const { numbers, block: insert, segment: note } = this.#statements
    const block = Number(numbers.get(blocks.length)!['next']) - blocks.length
    for (const [i, bytes] of blocks.entries())
      insert.run(block + i, bytes, bytesChecksum(bytes, block + i))
    const detailSum = bytesChecksum(detail, block)
    const checksum = segmentChecksum(run, {
      ...{ block, blocks: blocks.length, entries, sum, values, first, last },
      ...{ doc_min: docMin, doc_max: docMax, detail_checksum: detailSum },
    })
    note.run(
      ...[run, block, blocks.length, entries, sum, values, docMin, docMax],
      ...[first, last, detail, detailSum, checksum],
    )
  }
}

function prepare(database: DatabaseSync) {
  return {
    recent: database.prepare('INSERT INTO recent VALUES (?, ?, ?)'),
    block: database.prepare('INSERT INTO block VALUES (?, ?, ?)'),
    segment: database.prepare(
      'INSERT INTO segment VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)',
    ),
    run: database.prepare('INSERT INTO run VALUES (?, ?, ?, ?)'),
    state: database.prepare('UPDATE run SET state = ?, level = ? WHERE number = ?'),
    rows: database.prepare('SELECT number, level, state, sources FROM run ORDER BY number'),
    numbers: database.prepare(
      'UPDATE manifest SET next_block = next_block + ? RETURNING next_block AS next',
    ),
  }
}

function sourcesOf({ sources }: RunRow): number[] {
  return JSON.parse(sources) as number[]
}

function packed(key: string) {
  const bytes = Buffer.from(key, 'latin1')
  return { bytes, start: 0, size: bytes.length }
}

/** Adapts sorted changes with text keys to `ChangeSource`. */
class PackedChanges implements ChangeSource {
  readonly #changes: Iterator<Change>
  readonly start = 0
  isAt = true
  bytes: Uint8Array = new Uint8Array()
  size = 0
  shared = 0
  state: State = 0
  doc = 0

  constructor(changes: Iterable<Change>) {
    this.#changes = changes[Symbol.iterator]()
    this.next()
  }

  next(): void {
    const next = this.#changes.next()
    if (next.done === true) {
      this.isAt = false
      return
    }
    const { key, state, doc } = next.value
    const { bytes, start, size } = packed(key)
    this.shared = sharedBy(this, { bytes, start, size }, 0)
    this.bytes = bytes
    this.size = size
    this.state = state
    this.doc = doc
  }
}
