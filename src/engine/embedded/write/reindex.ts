/**
 * Builds and removes index structures of a table's store on the writer thread, in parts, so that
 * other writes continue in between.
 *
 * An index is filled row by row while writes maintain it already, so it does not matter whether the
 * fill or a write reaches a row first. No read uses the index before it is complete. If the process
 * dies before that, the schema does not name the index, and its remains are swept when the table is
 * opened.
 */
import type { DatabaseSync } from 'node:sqlite'
import { analyzerFor, evictAnalyzers } from '../../../search/lexical/analyzer.ts'
import { viewOf } from '../format/views.ts'
import type { StoredTable } from '../schema/stored-schema.ts'
import { isTextSound, type RowChecksum } from '../format/checksums.ts'
import { damagedRecord } from '../format/damage.ts'
import { EntryList } from '../format/entries.ts'
import {
  createFeed,
  createTerms,
  createVectors,
  dropFeed,
  dropTerms,
} from '../store/layout.ts'
import type { Found } from '../runs/cursor.ts'
import { countTerms, type LexicalWriter } from '../lexical/writer.ts'
import { spanOf, type EntryOwner } from '../format/entry-key.ts'
import type { RunsWriter } from '../runs/runs-writer.ts'

export type IndexStep =
  | { readonly kind: 'dropVectors'; readonly suffix: string }
  | LayoutStep
  | { readonly kind: 'clearEntries'; readonly path: string }
  /** Removes tables and entries that no column or index of the table uses. */
  | { readonly kind: 'sweep'; readonly table: StoredTable }
  /** `table` has the definition that the schema change will give it. */
  | {
      readonly kind: 'fillEntries' | 'fillTerms'
      readonly table: StoredTable
      readonly path: string
      readonly after: number
    }

interface LayoutStep {
  readonly kind: 'createVectors' | 'createFeed' | 'dropFeed' | 'createTerms' | 'dropTerms'
  readonly suffix: string
}

/** The parts of a store that a step changes. */
export interface Reindexed {
  readonly database: DatabaseSync
  readonly entries: RunsWriter
  pathId(path: string): number
  countPath(id: number, change: number): void
  /** Discards the counted changes of a path whose entries were removed. */
  forgetCount(id: number): void
  terms(suffix: string): LexicalWriter
  dropVectors(suffix: string): void
  /** Drops cached statements for tables with this suffix. */
  forget(suffix: string): void
}

/** Rows or entries per part: some tens of milliseconds of work. */
const partSize = 2000

/** Runs one part of a step. Returns the start of the next part, or undefined after the last. */
export function takeIndexStep(step: IndexStep, store: Reindexed): number | undefined {
  switch (step.kind) {
    case 'clearEntries':
      return clearEntries(step.path, store)
    case 'sweep':
      return sweep(step.table, store)
    case 'fillEntries':
      return fillEntries(step, store)
    case 'fillTerms':
      return fillTerms(step, store)
    case 'dropVectors':
      store.forget(step.suffix)
      store.dropVectors(step.suffix)
      return undefined
    default:
      store.forget(step.suffix)
      store.database.exec(layoutSql(step))
      return undefined
  }
}

function layoutSql({ kind, suffix }: LayoutStep): string {
  switch (kind) {
    case 'createVectors':
      return createVectors(suffix)
    // Before a feed or term index is created, the remains of an interrupted build are removed.
    case 'createFeed':
      return dropFeed(suffix) + createFeed(suffix)
    case 'dropFeed':
      return dropFeed(suffix)
    case 'createTerms':
      return dropTerms(suffix) + createTerms(suffix)
    case 'dropTerms':
      return dropTerms(suffix)
  }
}

function clearEntries(path: string, store: Reindexed): number | undefined {
  const { database, entries } = store
  const id = store.pathId(path)
  database.prepare('UPDATE path SET documents = 0 WHERE id = ?').run(id)
  store.forgetCount(id)
  // Pending changes are written first, so that the reader sees the entries of earlier writes in
  // this transaction.
  entries.finish()
  const part: Found[] = []
  for (const found of entries.reader.inRange({ path: id, withElements: true })) {
    part.push(found)
    if (part.length === partSize) break
  }
  for (const found of part) entries.drop(found)
  entries.finish()
  return part.length === partSize ? 0 : undefined
}

/** Prefixes of the names of tables that have a suffix. */
const parts = ['vector', 'feed', 'term', 'textsegment', 'posting', 'waiting']

function sweep(table: StoredTable, store: Reindexed): number | undefined {
  const { database, entries } = store
  const view = viewOf(table)
  for (const { id, path } of database.prepare('SELECT id, path FROM path').all()) {
    if (view.covers(String(path))) continue
    if (entries.reader.countRange({ path: Number(id), withElements: true }) === 0) continue
    clearEntries(String(path), store)
    return 0
  }
  const kept = new Set<string>()
  for (const { suffix, metric } of view.vectors.values())
    for (const part of metric === undefined ? ['vector'] : ['vector', 'feed'])
      kept.add(part + suffix)
  for (const { suffix } of view.texts.values())
    for (const part of parts.slice(2)) kept.add(part + suffix)
  const named = database
    .prepare("SELECT name FROM sqlite_schema WHERE type = 'table'")
    .all()
  for (const { name } of named) {
    const [, part, suffix] = /^([a-z]+)(_\d+)$/.exec(String(name)) ?? []
    if (part === undefined || !parts.includes(part) || kept.has(String(name))) continue
    store.forget(suffix!)
    if (part === 'vector') store.dropVectors(suffix!)
    else database.exec(`DROP TABLE ${String(name)}`)
  }
  return undefined
}

type Fill = Extract<IndexStep, { after: number }>

function fillEntries({ table, path, after }: Fill, store: Reindexed): number | undefined {
  const view = viewOf(table)
  const id = store.pathId(path)
  const names = new Set([path])
  const rows = rowsAfter(after, store)
  for (const row of rows) {
    const list = new EntryList()
    list.addDocument(view.see(row.text, names))
    for (const { start, end, element } of list.entries) {
      const key = list.bytes.view(start, end)
      // A row that was written meanwhile has its entries already.
      if (store.entries.has(id, key, row)) continue
      store.entries.put(id, spanOf(key), row, element)
      if (!element) store.countPath(id, 1)
    }
  }
  return nextAfter(rows)
}

function fillTerms({ table, path, after }: Fill, store: Reindexed): number | undefined {
  const view = viewOf(table)
  const { suffix, analyzer } = view.texts.get(path)!
  const analysis = analyzerFor(analyzer)
  const writer = store.terms(suffix)
  const names = new Set([path])
  const rows = rowsAfter(after, store)
  for (const { seq, text } of rows) {
    const value = view.see(text, names).get(path)
    if (typeof value === 'string' && value !== '')
      writer.put(seq, countTerms(analysis.terms(value)))
    if (writer.isDue) writer.keepUp()
  }
  const next = nextAfter(rows)
  // Analyzers are evicted, because no other step of this thread analyzes texts.
  if (next === undefined) evictAnalyzers()
  return next
}

interface StoredRow extends EntryOwner {
  readonly version: number
  readonly text: string
  readonly checksum: RowChecksum
}

function rowsAfter(after: number, store: Reindexed): readonly StoredRow[] {
  const sql =
    'SELECT seq, id, version, text, checksum FROM doc WHERE seq > ? ORDER BY seq LIMIT ?'
  const found: unknown = store.database.prepare(sql).all(after, partSize)
  const rows = found as readonly StoredRow[]
  for (const { id, version, text, checksum } of rows)
    if (!isTextSound(text, version, checksum))
      throw damagedRecord(id, store.entries.reader.tie, 'text')
  return rows
}

function nextAfter(rows: readonly StoredRow[]): number | undefined {
  return rows.length < partSize ? undefined : rows.at(-1)!.seq
}
