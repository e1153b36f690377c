/** Writes one store, through its only writing connection. */
import { randomInt } from 'node:crypto'
import type { DatabaseSync } from 'node:sqlite'
import type { JsonObject } from '../../../json/value.ts'
import { rootFields } from '../../../language/filters/filter.ts'
import { matches } from '../../../language/filters/matches.ts'
import { atOnce } from '../../../runtime/steps.ts'
import type { TermsDebt } from '../../operations.ts'
import type { OpenedFiles } from '../files/disk-trouble.ts'
import { busyTimeoutMs, openToWrite, setCache, storedPath } from '../store/layout.ts'
import { VersionFile } from '../store/version-file.ts'
import { LexicalWriter } from '../lexical/writer.ts'
import { hasValues, mergedRow, type StoredMerge } from '../format/merge-row.ts'
import { readStoredRow, rowText } from '../format/row-text.ts'
import type { RowView } from '../format/row-view.ts'
import { spanOf, type EntryOwner, type KeySpan } from '../format/entry-key.ts'
import { RunsWriter, type Debt } from '../runs/runs-writer.ts'
import { difference, EntryList, type Entry } from '../format/entries.ts'
import { takeIndexStep, type IndexStep } from './reindex.ts'
import { RecordWriter, type WrittenRow } from './record-writer.ts'
import {
  operationsIn,
  termsIn,
  type Deletion,
  type IdRange,
  type Operation,
  type SearchColumns,
  type VectorChange,
  type WriteBatch,
  type WriteOutcome,
} from './write-batch.ts'
import { prepareStatements, type Statements } from './writer-statements.ts'

export class StoreWriter {
  readonly #files: OpenedFiles
  readonly #database: DatabaseSync
  readonly #statements: Statements
  readonly #entries: RunsWriter
  readonly #records: RecordWriter
  /** Writers of term indexes by suffix. */
  readonly #lexical = new Map<string, LexicalWriter>()
  readonly #pathIds = new Map<string, number>()
  readonly #pathCounts = new Map<number, number>()
  #documents = 0
  /**
   * The number of documents in `meta`. It is written only when it has changed: updates do not
   * change it.
   */
  #storedDocuments = 0
  #version = 0
  /**
   * Version of the store when it was opened; undefined once this connection has written a stamp.
   */
  #unstamped: number | undefined
  readonly #synchronous: string
  readonly #versionFile: VersionFile

  constructor(files: OpenedFiles, durable: boolean) {
    this.#files = files
    this.#synchronous = durable ? 'FULL' : 'NORMAL'
    this.#database = openToWrite(files.identity.path, durable)
    try {
      this.#statements = prepareStatements(this.#database)
      this.#entries = new RunsWriter(this.#database, { recentMax: memtableMax() })
      this.#records = new RecordWriter(this.#database, this.#entries.reader.tie)
      this.#readMeta()
    } catch (error) {
      this.#database.close()
      throw error
    }
    this.#versionFile = new VersionFile(files.identity.path)
  }

  get version(): number {
    return this.#version
  }

  /**
   * Runs all tasks in one transaction. If `commit` throws, no task has taken effect or, after some
   * disk failures, the outcome is unknown. Cached state may be wrong then, so the store must be
   * closed.
   */
  commit<T>(tasks: readonly ((store: StoreWriter) => T)[]): T[] {
    const { begin, end } = this.#statements
    begin.run()
    const outcomes = tasks.map((task) => task(this))
    for (const lexical of this.#lexical.values()) lexical.finish()
    this.#entries.finish()
    this.#writeMeta()
    this.#files.refuseIfLost()
    end.run()
    this.#files.refuseIfLost('after commit')
    this.#versionFile.note(this.#version)
    return outcomes
  }

  /** Makes the writes of a batch. `view`: the row view for merges. */
  write(batch: WriteBatch, view?: RowView): WriteOutcome[] {
    const pathIds = batch.paths.map((path) => this.#pathId(path))
    const outcomes: WriteOutcome[] = []
    let stopped = false
    for (const [position, operation] of operationsIn(batch).entries()) {
      const merge = batch.merges?.each[position]
      const outcome = stopped
        ? 'skipped'
        : merge === undefined
          ? this.#apply(operation, batch, pathIds)
          : this.#merge(operation, merge, batch, pathIds, view!)
      if (batch.ordered && outcome !== 'done') stopped = true
      outcomes.push(outcome)
    }
    return outcomes
  }

  truncate(): WriteOutcome[] {
    // Paths stay, because readers cache their numbers.
    this.#records.clear()
    this.#database.exec('UPDATE path SET documents = 0')
    this.#entries.clear()
    this.#pathCounts.clear()
    this.#documents = 0
    this.#version++
    for (const table of this.#tables('term*')) this.#terms(table.slice(4)).clear()
    for (const table of this.#tables('vector_*'))
      this.#database.exec(`DELETE FROM ${table}`)
    for (const table of this.#tables('feed*')) this.trim(table.slice(4), this.#version)
    return []
  }

  /**
   * Removes the changes up to `version` from a feed, because the saved vector index contains them.
   */
  trim(suffix: string, version: number): WriteOutcome[] {
    const { raise } = this.#statements.meta
    // The vector index may have been dropped, and its feed with it.
    if (raise.run(version, `feed${suffix}`).changes > 0)
      this.#database.prepare(`DELETE FROM feed${suffix} WHERE version <= ?`).run(version)
    return []
  }

  /** Runs one part of an index step; returns the start of the next part. */
  reindex(step: IndexStep): number | undefined {
    return takeIndexStep(step, {
      database: this.#database,
      entries: this.#entries,
      pathId: (path) => this.#pathId(path),
      countPath: (id, change) => this.#countPath(id, change),
      forgetCount: (id) => this.#pathCounts.delete(id),
      terms: (suffix) => this.#terms(suffix),
      dropVectors: (suffix) => this.#records.dropVectors(suffix),
      forget: (suffix) => {
        this.#lexical.delete(suffix)
        this.#records.forgetVectors(suffix)
      },
    })
  }

  #tables(pattern: string): string[] {
    return this.#statements.tables.all(pattern).map(({ name }) => String(name))
  }

  #terms(suffix: string): LexicalWriter {
    let lexical = this.#lexical.get(suffix)
    if (lexical === undefined)
      this.#lexical.set(suffix, (lexical = new LexicalWriter(this.#database, suffix)))
    return lexical
  }

  /** Pending work of the indexes. */
  get debt(): StoreDebt {
    const terms = Array.from(this.#lexical.values(), (lexical) => lexical.debt)
    return { entries: this.#entries.debt(), terms }
  }

  /**
   * Merges indexes in proportion to the preceding writes. Does not sync: losing a merge in a crash
   * loses no data.
   */
  keepUp(): void {
    const indexes = [this.#entries, ...this.#lexical.values()].filter(({ isDue }) => isDue)
    if (indexes.length === 0) return
    this.#merging(() => {
      for (const index of indexes) index.keepUp()
    })
  }

  /** Merges for at most `idleMergeMs`; returns whether more work is due. */
  mergeWhileIdle(): boolean {
    if (!this.#entries.isDue) return false
    const until = performance.now() + idleMergeMs
    let isLeft = true
    this.#merging(() => {
      while (isLeft && performance.now() < until)
        isLeft = this.#entries.step() !== undefined
    })
    return isLeft
  }

  #merging(work: () => void): void {
    // The next commit syncs the merged pages together with its own. Until then, losing these pages
    // loses no data.
    this.#database.exec('PRAGMA synchronous = NORMAL; BEGIN IMMEDIATE')
    work()
    this.#files.refuseIfLost()
    this.#database.exec(`COMMIT; PRAGMA synchronous = ${this.#synchronous}`)
    this.#files.refuseIfLost('after commit')
  }

  /**
   * Speeds up later reads: folds and merges term indexes, and checkpoints the log. Returns whether
   * more work is due.
   */
  tidy(): boolean {
    const lexical = [...this.#lexical.values()]
    const waiting = lexical.filter(({ isWaiting }) => isWaiting)
    if (waiting.length > 0) this.commit([() => waiting.forEach((one) => one.fold())])
    const due = lexical.filter(({ isMergeDue }) => isMergeDue)
    if (due.length > 0) this.commit([() => due.forEach((one) => one.mergeWhileIdle())])
    this.#database.exec('PRAGMA wal_checkpoint(PASSIVE)')
    return lexical.some(({ isMergeDue }) => isMergeDue)
  }

  /** Checkpoints and truncates the log, unless a long read prevents it. */
  emptyLog(): void {
    this.#database.exec(`
      PRAGMA busy_timeout = 100;
      PRAGMA wal_checkpoint(TRUNCATE);
      PRAGMA busy_timeout = ${busyTimeoutMs};
    `)
  }

  setCache(kilobytes: number): void {
    setCache(this.#database, kilobytes)
  }

  close(): void {
    this.#versionFile.close()
    this.#database.close()
  }

  #apply(
    operation: Operation,
    batch: WriteBatch,
    pathIds: readonly number[],
  ): WriteOutcome {
    if (operation.kind === 'insert')
      return this.#insert(operation, batch, pathIds) ? 'done' : 'exists'
    const id = idIn(batch, operation)
    const { kind, text, version: expected } = operation
    const before = this.#records.findUnchanged(operation.seq, id, expected)
    if (before === undefined) return 'conflict'
    const { seq } = before
    const version = ++this.#version
    if (kind === 'replace') this.#records.update(before, version, text)
    else {
      this.#records.remove(before)
      this.#documents--
    }
    const search = operation.kind === 'delete' ? null : operation.search
    if (search !== undefined) this.#writeSearch(seq, version, operation, search, batch)
    this.#writeEntries({ seq, id }, operation, batch, pathIds)
    return 'done'
  }

  /** Inserts a record. Returns false when its id is taken. */
  #insert(operation: Operation, batch: WriteBatch, pathIds: readonly number[]): boolean {
    const id = idIn(batch, operation)
    const version = this.#version + 1
    const seq = this.#records.insert(id, version, operation.text)
    if (seq === undefined) return false
    this.#version = version
    this.#documents++
    if (operation.search !== undefined)
      this.#writeSearch(seq, version, operation, operation.search, batch)
    this.#writeVectors(seq, version, operation)
    this.#writeTexts(seq, operation, batch)
    this.#writeEntries({ seq, id }, operation, batch, pathIds)
    return true
  }

  /** Creates the row, or merges into the existing row. */
  #merge(
    operation: Operation,
    merge: StoredMerge,
    batch: WriteBatch,
    pathIds: readonly number[],
    view: RowView,
  ): WriteOutcome {
    const { sizeMax } = batch.merges!
    if (operation.text.length > sizeMax) return { tooLarge: operation.text.length }
    if (operation.text !== '' && this.#insert(operation, batch, pathIds)) return 'done'
    const id = idIn(batch, operation)
    const found = this.#records.byId(id)
    if (found === undefined) return 'done'
    const { seq, text: before } = found
    const row = atOnce(mergedRow(readStoredRow(before), merge, view))
    const text = atOnce(rowText(row, view))
    if (text.length > sizeMax) return { tooLarge: text.length }
    const version = this.#version + 1
    const hasMoved = this.#writeVectors(seq, version, operation)
    if (!row.wasInserted && !hasValues(row, view) && !this.#hasVectors(seq, view)) {
      this.#removeRow(found, view)
      return 'done'
    }
    if (text === before && !hasMoved) return 'done'
    this.#version = version
    this.#records.update(found, version, text)
    this.#writeTexts(seq, operation, batch)
    const list = new EntryList()
    const old = entriesOf(view.indexed(before), list, view)
    const now = entriesOf(atOnce(view.indexedRow(row.values)), list, view)
    const { removed, added } = atOnce(difference(list, old, now))
    this.#changeEntries({ seq, id }, list, removed, added)
    return 'done'
  }

  /** Deletes rows for some milliseconds, and returns the ranges that remain. */
  deleteRows(
    { ranges, filter }: Deletion,
    view: RowView,
  ): { readonly outcomes: WriteOutcome[]; readonly left: readonly IdRange[] | undefined } {
    const fields = rootFields(filter)
    const { rows, left } = this.#records.inRanges(ranges)
    const outcomes: WriteOutcome[] = []
    for (const row of rows) {
      if (!matches(filter, view.see(row.text, fields))) continue
      this.#removeRow(row, view)
      outcomes.push('done')
    }
    return { outcomes, left }
  }

  #removeRow(row: WrittenRow, view: RowView): void {
    const { seq, id, text } = row
    const version = ++this.#version
    this.#records.remove(row)
    this.#documents--
    for (const { suffix, metric } of view.vectors.values())
      this.#writeVector(seq, version, {
        ...{ suffix, isIndexed: metric !== undefined, bytes: null },
      })
    for (const { suffix } of view.texts.values()) this.#terms(suffix).remove(seq)
    const list = new EntryList()
    this.#changeEntries({ seq, id }, list, entriesOf(view.indexed(text), list, view), [])
  }

  #hasVectors(seq: number, view: RowView): boolean {
    return view.table.definition.columns.some((column) => {
      if (!view.isBeside(column)) return false
      const { suffix } = view.vectors.get(view.path(column).text)!
      return this.#records.hasVector(seq, suffix)
    })
  }

  #writeTexts(seq: number, { texts }: Operation, batch: WriteBatch): void {
    for (const { suffix, terms } of texts)
      if (terms === null) this.#terms(suffix).remove(seq)
      else this.#terms(suffix).put(seq, termsIn(batch, terms))
  }

  #writeSearch(
    seq: number,
    version: number,
    { kind, textTerms }: Operation,
    search: SearchColumns | null,
    batch: WriteBatch,
  ): void {
    const changed = this.#records.writeSearch(seq, search, kind === 'insert')
    if (changed.vector) this.#statements.feed.add.run(version, seq)
    if (!changed.lexical) return
    if (textTerms === null) this.#terms('').remove(seq)
    else this.#terms('').put(seq, termsIn(batch, textTerms))
  }

  /** Writes the changed vectors of a row. Returns whether any vector has changed. */
  #writeVectors(seq: number, version: number, { vectors }: Operation): boolean {
    return vectors.filter((change) => this.#writeVector(seq, version, change)).length > 0
  }

  #writeVector(seq: number, version: number, change: VectorChange): boolean {
    const { suffix, isIndexed, bytes } = change
    if (!this.#records.writeVector(seq, suffix, bytes)) return false
    if (isIndexed) this.#records.vectors(suffix).feed().run(version, seq)
    return true
  }

  #writeEntries(
    owner: EntryOwner,
    { from, middle, to }: Operation,
    { entries, keys }: WriteBatch,
    pathIds: readonly number[],
  ): void {
    for (let i = from; i < to; i++) {
      const path = pathIds[entries[i * 4]!]!
      const key = { bytes: keys, start: entries[i * 4 + 1]!, end: entries[i * 4 + 2]! }
      const element = entries[i * 4 + 3] === 1
      if (i < middle) this.#removeEntry(path, key, owner, element)
      else this.#putEntry(path, key, owner, element)
    }
  }

  /** Like `#writeEntries`, for entries that were computed on this thread. */
  #changeEntries(
    owner: EntryOwner,
    list: EntryList,
    removed: readonly Entry[],
    added: readonly Entry[],
  ): void {
    const keyOf = ({ start, end }: Entry) => spanOf(list.bytes.view(start, end))
    for (const entry of removed)
      this.#removeEntry(this.#pathId(entry.path), keyOf(entry), owner, entry.element)
    for (const entry of added)
      this.#putEntry(this.#pathId(entry.path), keyOf(entry), owner, entry.element)
  }

  /** Adds an entry that the document does not have: its value is new. */
  #putEntry(path: number, key: KeySpan, owner: EntryOwner, element: boolean): void {
    this.#entries.put(path, key, owner, element)
    if (!element) this.#countPath(path, 1)
  }

  /** Removes an entry that the document has in the version that was read. */
  #removeEntry(path: number, key: KeySpan, owner: EntryOwner, element: boolean): void {
    // While an index of a table is being built, the entry may be missing.
    if (this.#entries.reader.tie === 'id') {
      const value = key.bytes.subarray(key.start, key.end)
      if (!this.#entries.has(path, value, owner)) return
    }
    this.#entries.remove(path, key, owner, element)
    if (!element) this.#countPath(path, -1)
  }

  #countPath(id: number, change: number): void {
    this.#pathCounts.set(id, (this.#pathCounts.get(id) ?? 0) + change)
  }

  #pathId(path: string): number {
    const known = this.#pathIds.get(path)
    if (known !== undefined) return known
    const { find, insert } = this.#statements.path
    const stored = storedPath(path)
    const found = find.get(stored)?.['id'] ?? insert.run(stored).lastInsertRowid
    const id = Number(found)
    this.#pathIds.set(path, id)
    return id
  }

  #readMeta(): void {
    const { read } = this.#statements.meta
    this.#documents = this.#storedDocuments = Number(read.get('documents')!['value'])
    this.#version = Number(read.get('version')!['value'])
    this.#records.digest = Number(read.get('digest')!['value'])
    this.#unstamped = this.#version
  }

  #writeMeta(): void {
    const { meta, path } = this.#statements
    if (this.#documents !== this.#storedDocuments)
      meta.write.run((this.#storedDocuments = this.#documents), 'documents')
    meta.write.run(this.#version, 'version')
    meta.write.run(this.#records.digest, 'digest')
    // Before the folder was restored to an earlier state, another process may have written the same
    // versions. The stamp lets backups distinguish those versions from the versions of this
    // process.
    if (this.#unstamped !== undefined && this.#unstamped !== this.#version) {
      meta.stamp.run(randomInt(2 ** 48 - 1))
      this.#unstamped = undefined
    }
    for (const [id, change] of this.#pathCounts)
      if (change !== 0) path.count.run(change, id)
    this.#pathCounts.clear()
  }
}

/** Pending work of the indexes of a store: the value index and the term indexes. */
export interface StoreDebt {
  readonly entries: Debt
  readonly terms: readonly TermsDebt[]
}

/** Maximum delay of a write by an idle merge, in milliseconds. */
const idleMergeMs = 20

/** Size of the memtable that tests set, to get many runs; undefined: the default. */
function memtableMax(): number | undefined {
  const given = process.env['STELA_TEST_MEMTABLE']
  return given === undefined ? undefined : Number(given)
}

function idIn({ keys }: WriteBatch, { idStart, idEnd }: Operation): Uint8Array {
  return keys.subarray(idStart, idEnd)
}

function entriesOf(
  comparables: JsonObject,
  list: EntryList,
  view: RowView,
): readonly Entry[] {
  const start = list.addDocument(view.indexed(comparables))
  return list.entries.slice(start)
}
