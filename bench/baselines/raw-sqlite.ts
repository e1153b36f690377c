/**
 * Baseline for the disk and SQLite. One loop over prepared statements writes documents and an index
 * row per value, with the same durability as the server. Documents are converted to rows before the
 * clock starts.
 */
import type { DatabaseSync } from 'node:sqlite'
import { keyOf } from '../../src/language/values/key.ts'
import { isElement } from '../../src/engine/embedded/runs/change.ts'
import { pathIn, valueIn } from '../../src/engine/embedded/format/entry-key.ts'
import { RunsReader } from '../../src/engine/embedded/runs/runs-reader.ts'
import { openToWrite } from '../../src/engine/embedded/store/layout.ts'
import { packWrites } from '../../src/engine/embedded/write/pack-writes.ts'
import { atOnce } from '../../src/runtime/steps.ts'
import {
  operationsIn,
  type Operation,
  type WriteBatch,
} from '../../src/engine/embedded/write/write-batch.ts'
import type { Write } from '../../src/engine/contract.ts'
import { parseStored } from '../../src/json/parse.ts'
import type { JsonObject } from '../../src/json/value.ts'
import { documentView } from '../../src/engine/record-view.ts'
import type { Tally } from '../drive.ts'
import { Picks } from '../documents.ts'
import type { RawWrite } from '../workloads/workload.ts'

export type SqliteQuestion =
  /** Opens a writable store with `size` documents, numbered from 0. */
  | { readonly open: string; readonly seed: number; readonly size: number }
  | { readonly write: RawWrite; readonly forMs: number }

export type SqliteAnswer = Tally

class RawStore {
  readonly #database: DatabaseSync
  readonly #statements: ReturnType<typeof prepareStatements>
  readonly #pathIds = new Map<string, number>()
  readonly #picks: Picks
  /** Transactions to prepare per second: the rate of the previous turn. */
  readonly #perSecond = new Map<RawWrite, number>()
  #documents: number
  #version: number

  constructor(file: string, seed: number, size: number) {
    this.#database = openToWrite(file, true)
    makeEntries(this.#database)
    this.#statements = prepareStatements(this.#database)
    this.#picks = new Picks(seed, size)
    for (const { id, path } of this.#statements.paths.all())
      this.#pathIds.set(path as string, id as number)
    this.#documents = this.#version = size
  }

  run(write: RawWrite, forMs: number): Tally {
    const count = Math.ceil(((this.#perSecond.get(write) ?? 1000) * 1.5 * forMs) / 1000)
    const work = Array.from({ length: count }, () => this.#prepare(write))
    const startedAt = performance.now()
    const endsAt = startedAt + forMs
    let requests = 0
    let now = startedAt
    while (requests < work.length && now < endsAt) {
      this.#database.exec('BEGIN IMMEDIATE')
      work[requests++]!()
      this.#database.exec('COMMIT')
      now = performance.now()
    }
    const elapsedMs = now - startedAt
    this.#perSecond.set(write, (requests / elapsedMs) * 1000)
    return { requests, elapsedMs }
  }

  #prepare(write: RawWrite): () => void {
    if (write === 'increment') {
      const id = keyOf(this.#picks.id())
      return () => this.#increment(id)
    }
    const size = write === 'insert one' ? 1 : 100
    const packing = packWrites(
      Array.from({ length: size }, () => insertOf(this.#picks.newDocument())),
      documentView({}),
      false,
    )
    const batch = atOnce(packing)
    const operations = operationsIn(batch)
    return () => this.#insert(batch, operations)
  }

  #insert({ entries, keys, paths }: WriteBatch, operations: readonly Operation[]): void {
    const { insert, put, meta, count } = this.#statements
    const pathIds = paths.map((path) => this.#pathIds.get(path)!)
    const counts = new Map<number, number>()
    for (const { idStart, idEnd, text, from, to } of operations) {
      const id = keys.subarray(idStart, idEnd)
      const seq = insert.run(id, ++this.#version, text).lastInsertRowid
      for (let i = from; i < to; i++) {
        const path = pathIds[entries[i * 4]!]!
        const element = entries[i * 4 + 3]!
        put.run(path, keys.subarray(entries[i * 4 + 1], entries[i * 4 + 2]), seq, element)
        if (element === 0) counts.set(path, (counts.get(path) ?? 0) + 1)
      }
    }
    this.#documents += operations.length
    meta.run(this.#documents, 'documents')
    meta.run(this.#version, 'version')
    for (const [path, more] of counts) count.run(more, path)
  }

  #increment(id: Uint8Array): void {
    const { find, update, put, remove, meta } = this.#statements
    const found = find.get(id) as { seq: number; text: string }
    const document = JSON.parse(found.text) as { age: number }
    const path = this.#pathIds.get('age')!
    remove.run(path, keyOf(document.age), found.seq)
    document.age++
    put.run(path, keyOf(document.age), found.seq, 0)
    update.run(++this.#version, JSON.stringify(document), found.seq)
    meta.run(this.#version, 'version')
  }
}

/** Copies the index entries of the store's runs into a table. */
function makeEntries(database: DatabaseSync): void {
  const reader = new RunsReader(database)
  reader.begin()
  database.exec(`
    BEGIN;
    CREATE TABLE entry(
      path INTEGER NOT NULL,
      value BLOB NOT NULL,
      doc INTEGER NOT NULL,
      element INTEGER NOT NULL,
      PRIMARY KEY (path, value, doc)
    ) WITHOUT ROWID, STRICT;
  `)
  const put = database.prepare('INSERT INTO entry VALUES (?, ?, ?, ?)')
  for (const { key, state, doc } of reader.all())
    put.run(pathIn(key), valueIn(key), doc, Number(isElement(state)))
  database.exec('COMMIT')
}

function prepareStatements(database: DatabaseSync) {
  return {
    paths: database.prepare('SELECT id, path FROM path'),
    insert: database.prepare('INSERT INTO doc(id, version, text) VALUES (?, ?, ?)'),
    find: database.prepare('SELECT seq, text FROM doc WHERE id = ?'),
    update: database.prepare('UPDATE doc SET version = ?, text = ? WHERE seq = ?'),
    put: database.prepare(
      'INSERT INTO entry(path, value, doc, element) VALUES (?, ?, ?, ?)',
    ),
    remove: database.prepare('DELETE FROM entry WHERE path = ? AND value = ? AND doc = ?'),
    meta: database.prepare('UPDATE meta SET value = ? WHERE name = ?'),
    count: database.prepare('UPDATE path SET documents = documents + ? WHERE id = ?'),
  }
}

function insertOf(text: string): Write {
  const document = parseStored(text) as JsonObject
  return {
    kind: 'insert',
    record: { id: document.get('_id')!, text, document, search: {} },
  }
}

let store: RawStore | undefined

process.on('message', (question: SqliteQuestion) => {
  let answer: SqliteAnswer = { requests: 0, elapsedMs: 0 }
  if ('open' in question) store = new RawStore(question.open, question.seed, question.size)
  else answer = store!.run(question.write, question.forMs)
  process.send!(answer)
})
process.on('disconnect', () => process.exit())
