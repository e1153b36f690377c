/** Writes one store, through the only connection that does. */
import { randomInt } from 'node:crypto'
import type { DatabaseSync } from 'node:sqlite'
import type { Outcome } from '../../contract.ts'
import type { OpenedFiles } from '../files/disk-trouble.ts'
import { busyTimeoutMs, openToWrite, setCache, storedPath } from './layout.ts'
import { LexicalWriter } from '../lexical/writer.ts'
import { takeIndexStep, type IndexStep } from './reindex.ts'
import { vectorForm } from '../vectors/vector-bytes.ts'
import {
  termsIn,
  type Operation,
  type SearchColumns,
  type WriteBatch,
} from '../threads/write-batch.ts'
import {
  prepareStatements,
  prepareVectors,
  type EntryOwner,
  type Statements,
  type VectorStatements,
} from './writer-statements.ts'

export class StoreWriter {
  readonly #files: OpenedFiles
  readonly #database: DatabaseSync
  readonly #statements: Statements
  /** By the suffixes of what they belong to. */
  readonly #lexical = new Map<string, LexicalWriter>()
  readonly #vectors = new Map<string, VectorStatements>()
  readonly #pathIds = new Map<string, number>()
  readonly #pathCounts = new Map<number, number>()
  #documents = 0
  #version = 0
  /** The version that somebody else wrote; undefined once ours is stamped. */
  #unstamped: number | undefined

  constructor(files: OpenedFiles, durable: boolean) {
    this.#files = files
    this.#database = openToWrite(files.identity.path, durable)
    try {
      this.#statements = prepareStatements(this.#database)
      this.#readMeta()
    } catch (error) {
      this.#database.close()
      throw error
    }
  }

  get version(): number {
    return this.#version
  }

  /**
   * Runs all tasks in one transaction: either all are durable or none happened. If it throws,
   * what is remembered here may no longer hold, and the store is to be closed.
   */
  commit<T>(tasks: readonly ((store: StoreWriter) => T)[]): T[] {
    this.#database.exec('BEGIN IMMEDIATE')
    const outcomes = tasks.map((task) => task(this))
    for (const lexical of this.#lexical.values()) lexical.finish()
    this.#writeMeta()
    this.#files.refuseIfLost()
    this.#database.exec('COMMIT')
    this.#files.refuseIfLost('after commit')
    return outcomes
  }

  write(batch: WriteBatch): Outcome[] {
    const pathIds = batch.paths.map((path) => this.#pathId(path))
    const outcomes: Outcome[] = []
    let stopped = false
    for (const operation of batch.operations) {
      const outcome = stopped ? 'skipped' : this.#apply(operation, batch, pathIds)
      if (batch.ordered && outcome !== 'done') stopped = true
      outcomes.push(outcome)
    }
    return outcomes
  }

  truncate(): Outcome[] {
    // Paths stay: readers remember their numbers.
    this.#database.exec(
      'DELETE FROM doc; DELETE FROM search; DELETE FROM entry; UPDATE path SET documents = 0',
    )
    this.#pathCounts.clear()
    this.#documents = 0
    this.#version++
    for (const table of this.#tables('term*')) this.#terms(table.slice(4)).clear()
    for (const table of this.#tables('vector_*'))
      this.#database.exec(`DELETE FROM ${table}`)
    for (const table of this.#tables('feed*')) this.trim(table.slice(4), this.#version)
    return []
  }

  /** Forgets what a vector index has taken in for good. */
  trim(suffix: string, version: number): Outcome[] {
    const { raise } = this.#statements.meta
    // The index may be gone by now.
    if (raise.run(version, `feed${suffix}`).changes > 0)
      this.#database.prepare(`DELETE FROM feed${suffix} WHERE version <= ?`).run(version)
    return []
  }

  /** Does a part of a change of indexes; returns where the next part starts. */
  reindex(step: IndexStep): number | undefined {
    return takeIndexStep(step, {
      database: this.#database,
      pathId: (path) => this.#pathId(path),
      countPath: (id, change) => this.#countPath(id, change),
      forgetCount: (id) => this.#pathCounts.delete(id),
      terms: (suffix) => this.#terms(suffix),
      forget: (suffix) => {
        this.#lexical.delete(suffix)
        this.#vectors.delete(suffix)
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

  /** Does what makes reading faster: folds terms, and moves the log into the file. */
  tidy(): void {
    const waiting = [...this.#lexical.values()].filter(({ isWaiting }) => isWaiting)
    if (waiting.length > 0)
      this.commit([() => waiting.forEach((lexical) => lexical.fold())])
    this.#database.exec('PRAGMA wal_checkpoint(PASSIVE)')
  }

  /** Moves the log into the file and gives its space back, unless somebody reads for long. */
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
    this.#database.close()
  }

  #apply(operation: Operation, batch: WriteBatch, pathIds: readonly number[]): Outcome {
    const { doc } = this.#statements
    const version = this.#version + 1
    const id = batch.keys.subarray(operation.idStart, operation.idEnd)
    let seq: number | bigint
    switch (operation.kind) {
      case 'insert': {
        const result = doc.insert.run(id, version, operation.text)
        if (result.changes === 0) return 'exists'
        seq = result.lastInsertRowid
        this.#documents++
        break
      }
      case 'replace': {
        const found = doc.find.get(id, operation.version)
        if (found === undefined) return 'conflict'
        seq = found['seq'] as number
        doc.update.run(version, operation.text, seq)
        break
      }
      case 'delete': {
        const found = doc.find.get(id, operation.version)
        if (found === undefined) return 'conflict'
        seq = found['seq'] as number
        doc.remove.run(seq)
        this.#documents--
        break
      }
    }
    this.#version = version
    if (operation.search !== undefined)
      this.#writeSearch(Number(seq), version, operation, operation.search, batch)
    this.#writeVectors(Number(seq), version, operation)
    for (const { suffix, terms } of operation.texts)
      if (terms === null) this.#terms(suffix).remove(Number(seq))
      else this.#terms(suffix).put(Number(seq), termsIn(batch, terms))
    this.#writeEntries({ seq: Number(seq), id }, operation, batch, pathIds)
    return 'done'
  }

  #writeSearch(
    seq: number,
    version: number,
    { kind, textTerms }: Operation,
    search: SearchColumns | null,
    batch: WriteBatch,
  ): void {
    const { find, put, remove } = this.#statements.search
    const before = kind === 'insert' ? undefined : find.get(seq)
    if (search !== null)
      put.run(seq, search.form, search.vector, search.vectorize, search.lexical)
    else if (before !== undefined) remove.run(seq)
    if (!isSame(before?.['vector'] as Uint8Array | null | undefined, search?.vector))
      this.#statements.feed.add.run(version, seq)
    if ((before?.['lexical'] ?? null) === (search?.lexical ?? null)) return
    if (textTerms === null) this.#terms('').remove(seq)
    else this.#terms('').put(seq, termsIn(batch, textTerms))
  }

  #writeVectors(seq: number, version: number, { vectors }: Operation): void {
    for (const { suffix, isIndexed, bytes } of vectors) {
      const { find, put, remove, feed } = this.#vectorStatements(suffix)
      const before = find.get(seq)?.['vector'] as Uint8Array | undefined
      if (isSame(before, bytes)) continue
      if (bytes === null) remove.run(seq)
      else put.run(seq, vectorForm.arrayOfSingles, bytes)
      if (isIndexed) feed().run(version, seq)
    }
  }

  #vectorStatements(suffix: string): VectorStatements {
    let known = this.#vectors.get(suffix)
    if (known === undefined)
      this.#vectors.set(suffix, (known = prepareVectors(this.#database, suffix)))
    return known
  }

  #writeEntries(
    owner: EntryOwner,
    { from, middle, to }: Operation,
    { entries, keys }: WriteBatch,
    pathIds: readonly number[],
  ): void {
    const { put, remove } = this.#statements.entry
    for (let i = from; i < to; i++) {
      const path = pathIds[entries[i * 4]!]!
      const key = keys.subarray(entries[i * 4 + 1], entries[i * 4 + 2])
      const element = entries[i * 4 + 3]!
      // While an index is being filled it may not have what goes yet.
      const change = i < middle ? -remove(path, key, owner) : put(path, key, owner, element)
      if (element === 0) this.#countPath(path, change)
    }
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
    this.#documents = Number(read.get('documents')!['value'])
    this.#version = Number(read.get('version')!['value'])
    this.#unstamped = this.#version
  }

  #writeMeta(): void {
    const { meta, path } = this.#statements
    meta.write.run(this.#documents, 'documents')
    meta.write.run(this.#version, 'version')
    // Another process may have written these versions, before the folder was set back to an
    // earlier state: backups must not take what follows for that.
    if (this.#unstamped !== undefined && this.#unstamped !== this.#version) {
      meta.stamp.run(randomInt(2 ** 48 - 1))
      this.#unstamped = undefined
    }
    for (const [id, change] of this.#pathCounts)
      if (change !== 0) path.count.run(change, id)
    this.#pathCounts.clear()
  }
}

function isSame(a: Uint8Array | null | undefined, b: Uint8Array | null | undefined) {
  return (a ?? null) === null || (b ?? null) === null
    ? (a ?? null) === (b ?? null)
    : Buffer.compare(a!, b!) === 0
}
