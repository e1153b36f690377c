/**
 * The segments of a term index on the writer thread. New segments are added, and merges in steps
 * keep their number small. Each step is part of a transaction and saves the progress of its merge,
 * so a merge continues after a crash.
 */
import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { bytesChecksum, type RowChecksum } from '../format/checksums.ts'
import { damagedIndex, termIndex } from '../format/damage.ts'
import type { DocumentList } from './document-list.ts'
import { SegmentMerge } from './merge.ts'
import { TextSegment } from './segment.ts'
import {
  isTextSegmentSound,
  rowsMax,
  textSegmentChecksum,
  verifiedPostings,
  type SegmentState,
  type TextSegmentRow,
} from './segment-layout.ts'
import { encodeNumbers, SegmentWriter } from './segment-writer.ts'

/** Number of segments of about the same size that are merged into one. */
const fanout = 4
/** Up to this number, replaced documents never cause a merge. */
const replacedMin = 500
/** Maximum rows of a merged segment that one step deletes. */
const droppedMax = 64

/** A merge, and the row of its target. */
type RunningMerge = SegmentMerge & { readonly row: TextSegmentRow }

export class Segments {
  readonly #statements: Statements
  /** Name of the index in errors. */
  readonly #index: string
  readonly #sizeMin: number
  /** Readable segments, oldest first. */
  #made: TextSegment[] = []
  #dropped: number[] = []
  #merge: RunningMerge | undefined
  #next = 0

  /** `sizeMin` is the approximate number of postings of a new segment. */
  constructor(database: DatabaseSync, suffix: string, sizeMin: number) {
    this.#statements = prepareStatements(database, suffix)
    this.#index = termIndex(suffix)
    this.#sizeMin = sizeMin
  }

  /** Reloads all state from the store. */
  reload(): void {
    this.#merge = undefined
    this.#made = []
    this.#dropped = []
    this.#next = this.#statements.next.get()!['next'] as number
    for (const row of this.#rows())
      if (row.state === 'made') this.#made.push(this.#open(row))
      else if (row.state === 'dropped') this.#dropped.push(row.id)
  }

  /** Readable segments, oldest first. */
  get made(): readonly TextSegment[] {
    return this.#made
  }

  /** Length of a document's text; undefined when no segment has it. */
  lengthOf(seq: number): number | undefined {
    for (let i = this.#made.length - 1; i >= 0; i--) {
      const segment = this.#made[i]!
      const place = segment.documents.placeOf(seq)
      if (place >= 0) return segment.lengthAt(place)
      if (segment.replaces(seq)) return undefined
    }
    return undefined
  }

  /** Adds a segment of the latest texts; `write` adds its terms. */
  add(
    documents: DocumentList,
    lengths: Uint32Array,
    replaced: readonly number[],
    write: (segment: SegmentWriter) => void,
  ): void {
    const id = this.#nextId()
    const writer = new SegmentWriter(id, this.#statements.rows)
    write(writer)
    const row: TextSegmentRow = {
      ...{ id, newest: id, state: 'made', sources: '[]', progress: 0 },
      documents: writer.finish(documents, lengths),
      size: writer.size,
      postings: writer.postings,
      directory: writer.directory,
      replaced: encodeNumbers(replaced),
    }
    this.#put(row)
    this.#made.push(this.#open(row))
  }

  /** Maximum number of merges of a posting until it is in the largest segment. */
  get levels(): number {
    const postings = this.#made.reduce((sum, segment) => sum + segment.postings, 0)
    return 2 + Math.ceil(Math.log(1 + postings / this.#sizeMin) / Math.log(fanout))
  }

  /**
   * Whether merges or deletions are due. While no writes arrive (`isIdle`), more merges are due.
   */
  isWorkDue(isIdle: boolean): boolean {
    return (
      this.#merge !== undefined ||
      this.#dropped.length > 0 ||
      this.#making() !== undefined ||
      this.#due(isIdle).length > 0
    )
  }

  /**
   * Number of postings in segments that are being merged or due for a merge, excluding merges that
   * only an idle writer does.
   */
  get waiting(): number {
    const making = this.#making()
    const busy = new Set(
      making === undefined ? [] : (JSON.parse(making.sources) as number[]),
    )
    const due =
      busy.size > 0 ? this.#made.filter(({ id }) => busy.has(id)) : this.#due(false)
    return due.reduce((sum, { postings }) => sum + postings, 0)
  }

  /**
   * Merges about `postings` postings, if merges are due. Returns the terms that no segment has any
   * more.
   */
  work(postings: number, isIdle: boolean): readonly number[] {
    const unused: number[] = []
    for (let left = postings; left > 0;) {
      if (this.#dropped.length > 0) {
        left -= this.#dropSome(this.#dropped[0]!)
        continue
      }
      this.#merge ??= this.#startMerge(isIdle)
      if (this.#merge === undefined) break
      const done = this.#merge.step(left)
      if (done === undefined) unused.push(...this.#endMerge(this.#merge))
      else {
        this.#saveProgress(this.#merge)
        left -= done
      }
    }
    return unused
  }

  /** Removes all segments. Their numbers are not reused, because readers cache rows by number. */
  clear(): void {
    this.#statements.clear()
    this.#made = []
    this.#dropped = []
    this.#merge = undefined
  }

  #rows(): TextSegmentRow[] {
    return this.#statements.all.all().map((row) => this.#verified(row))
  }

  #making(): TextSegmentRow | undefined {
    const row = this.#statements.making.get()
    return row && this.#verified(row)
  }

  #verified(found: unknown): TextSegmentRow {
    const { checksum, ...row } = found as TextSegmentRow & {
      readonly checksum: RowChecksum
    }
    if (!isTextSegmentSound(row, checksum))
      throw damagedIndex(this.#index, `segment ${row.id}`)
    return row
  }

  #open(row: TextSegmentRow): TextSegment {
    return new TextSegment(row, this.#statements.rows.read)
  }

  #put(row: TextSegmentRow): void {
    this.#statements.put.run(
      ...[row.id, row.newest, row.state, row.sources, row.progress, row.size],
      ...[row.postings, row.directory, row.documents, row.replaced],
      textSegmentChecksum(row),
    )
  }

  #nextId(): number {
    const id = this.#next++
    this.#statements.setNext.run(this.#next)
    return id
  }

  /**
   * The segments to merge next, so that fewer than `fanout` segments have about the same size, and
   * few documents are replaced. When idle, segments are also merged until each is more than twice
   * as large as all later segments together.
   */
  #due(isIdle: boolean): readonly TextSegment[] {
    const made = this.#made
    for (let level = 0, start = made.length; start > 0; level++) {
      const end = start
      while (start > 0 && this.#levelOf(made[start - 1]!) <= level) start--
      if (end - start >= fanout) return made.slice(start, end)
    }
    const outdated = this.#outdated()
    if (outdated.length > 0 || !isIdle) return outdated
    let sum = 0
    let from = made.length
    for (let i = made.length - 1; i >= 0; i--) {
      if (i < made.length - 1 && made[i]!.postings <= 2 * sum) from = i
      sum += made[i]!.postings
    }
    return made.slice(from)
  }

  /**
   * Segments of which later segments have replaced more than a third of the documents. Merging them
   * removes void postings, which reads have to skip.
   */
  #outdated(): readonly TextSegment[] {
    let replaced = 0
    let documents = 0
    for (let i = this.#made.length - 1; i >= 0; i--) {
      const segment = this.#made[i]!
      documents += segment.documents.size
      if (replaced > replacedMin && replaced * 3 > documents) return this.#made.slice(i)
      replaced += segment.replaced.length
    }
    return []
  }

  #levelOf({ postings }: TextSegment): number {
    const times = postings / this.#sizeMin
    return times <= 1 ? 0 : Math.round(Math.log(times) / Math.log(fanout))
  }

  #startMerge(isIdle: boolean): RunningMerge | undefined {
    let row = this.#making()
    if (row === undefined) {
      const sources = this.#due(isIdle)
      if (sources.length === 0) return undefined
      const nothing = new Uint8Array(0)
      row = {
        ...{ id: this.#nextId(), newest: sources.at(-1)!.newest, state: 'making' },
        ...{ sources: JSON.stringify(sources.map(({ id }) => id)), progress: 0, size: 0 },
        ...{ postings: 0, directory: nothing, documents: nothing, replaced: nothing },
      } satisfies TextSegmentRow
      this.#put(row)
    }
    const ids = new Set(JSON.parse(row.sources) as number[])
    const sources = this.#made.filter(({ id }) => ids.has(id))
    const target = new SegmentWriter(row.id, this.#statements.rows, row)
    const isOldest = sources[0] === this.#made[0]
    const merge = new SegmentMerge(sources, target, { isOldest, progress: row.progress })
    return Object.assign(merge, { row })
  }

  #saveProgress({ row, target, progress }: RunningMerge): void {
    const { size, postings, directory } = target
    const checksum = textSegmentChecksum({ ...row, progress, size, postings, directory })
    this.#statements.progress.run(progress, size, postings, directory, checksum, row.id)
  }

  #endMerge(merge: RunningMerge): readonly number[] {
    const { row, target, sources } = merge
    const documents = target.finish(merge.documents, merge.lengths)
    const made: TextSegmentRow = {
      ...{ ...row, state: 'made', sources: '[]', documents },
      ...{ size: target.size, postings: target.postings, directory: target.directory },
      replaced: encodeNumbers(merge.replaced),
    }
    this.#put(made)
    const start = this.#made.indexOf(sources[0]!)
    this.#made.splice(start, sources.length, this.#open(made))
    for (const { id } of sources) {
      this.#statements.setState.run('dropped' satisfies SegmentState, id)
      this.#dropped.push(id)
    }
    this.#merge = undefined
    const others = this.#made.filter(({ id }) => id !== made.id)
    return merge.unused.filter((term) => !others.some((one) => one.list(term)))
  }

  #dropSome(id: number): number {
    const { dropRows, dropSegment } = this.#statements
    const { changes } = dropRows.run(id * rowsMax, (id + 1) * rowsMax, droppedMax)
    if (Number(changes) < droppedMax) {
      dropSegment.run(id)
      this.#dropped.shift()
    }
    return 1000
  }
}

type Statements = ReturnType<typeof prepareStatements>

function prepareStatements(database: DatabaseSync, suffix: string) {
  const segment = `textsegment${suffix}`
  const posting = `posting${suffix}`
  const read = database.prepare(`SELECT bytes, checksum FROM ${posting} WHERE id = ?`)
  const put = database.prepare(
    `INSERT INTO ${posting} VALUES (?, ?, ?) ON CONFLICT DO UPDATE ` +
      'SET bytes = excluded.bytes, checksum = excluded.checksum',
  )
  const prepare = (sql: string): StatementSync => database.prepare(sql)
  return {
    rows: {
      read: (id: number): Uint8Array => {
        const found = read.get(id)
        return verifiedPostings(found?.['bytes'], found?.['checksum'], id, suffix)
      },
      put: (id: number, bytes: Uint8Array): void =>
        void put.run(id, bytes, bytesChecksum(bytes, id)),
    },
    all: prepare(`SELECT * FROM ${segment} ORDER BY newest, id`),
    making: prepare(`SELECT * FROM ${segment} WHERE state = 'making'`),
    put: prepare(
      `INSERT OR REPLACE INTO ${segment}(id, newest, state, sources, progress, size, ` +
        'postings, directory, documents, replaced, checksum) ' +
        'VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)',
    ),
    setState: prepare(`UPDATE ${segment} SET state = ? WHERE id = ?`),
    progress: prepare(
      `UPDATE ${segment} SET progress = ?, size = ?, postings = ?, directory = ?, ` +
        'checksum = ? WHERE id = ?',
    ),
    dropRows: prepare(
      `DELETE FROM ${posting} WHERE id IN ` +
        `(SELECT id FROM ${posting} WHERE id >= ? AND id < ? LIMIT ?)`,
    ),
    dropSegment: prepare(`DELETE FROM ${segment} WHERE id = ?`),
    next: prepare(`SELECT value AS next FROM meta WHERE name = 'segments${suffix}'`),
    setNext: prepare(`UPDATE meta SET value = ? WHERE name = 'segments${suffix}'`),
    clear: () => {
      database.exec(`DELETE FROM ${segment}; DELETE FROM ${posting}`)
    },
  }
}
