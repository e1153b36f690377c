/**
 * The embedded engine: SQLite files in a folder of this machine.
 *
 * Short reads run here, on the thread that answers requests; long ones on reading threads;
 * writes on the writing thread. Every target has a store of its own (layout.ts).
 */
import { existsSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import type { Filter } from '../../query/filter.ts'
import { kernelFile } from '../../search/vector/segment.ts'
import {
  EngineError,
  type Engine,
  type EngineStatistics,
  type Hit,
  type Outcome,
  type Page,
  type Query,
  type SchemaChange,
  type Search,
  type SearchBy,
  type Write,
} from '../engine.ts'
import { viewOf, type RecordView, type VectorField } from '../record-view.ts'
import type {
  CollectionOptions,
  KeyspaceSchema,
  Table,
  TableDefinition,
  Target,
} from '../schema.ts'
import type { BackupPart } from '../backup.ts'
import { Backups } from './backup.ts'
import { Catalog } from './catalog.ts'
import { asEngineError, troubleOf } from './disk-trouble.ts'
import { EmbeddedPage, EmbeddedRecord } from './embedded-page.ts'
import { decodePosition } from './position.ts'
import { recast } from './recast.ts'
import { KnownFiles } from './known-files.ts'
import { Readers } from './readers.ts'
import { mainThreadBudget, OverBudget, type Budget } from './budget.ts'
import type { ScoredRow, StoreQuery } from './store-query.ts'
import { StoreReader } from './store-reader.ts'
import { upgradeStores } from './upgrade.ts'
import type { IndexOptions } from './indexer-thread.ts'
import type { IndexStep } from './reindex.ts'
import { changesOf } from './table-changes.ts'
import { StoreHealth } from './store-health.ts'
import { Vectors } from './vectors.ts'
import { Writer } from './writer.ts'

export interface EmbeddedOptions {
  readonly dataDir: string
  /** False: an answered write may be lost in a power cut, though never in a crash. */
  readonly durable: boolean
  /** Threads for searches and long reads; undefined: by the machine. */
  readonly searchThreads?: number | undefined
  readonly log: (level: 'info' | 'warn' | 'error', message: string) => void
}

/** Throws an EngineError that says why, when the folder cannot be served. */
export function openEmbeddedEngine(options: EmbeddedOptions): Promise<Engine> {
  // Inside a promise, so that a refusal is a rejection like any other.
  return Promise.resolve().then(() => {
    if (!existsSync(kernelFile))
      throw new EngineError(
        'damaged',
        'this installation has no vector kernel. Run `npm run build` in its folder',
      )
    return new EmbeddedEngine(options)
  })
}

interface Store {
  readonly file: string
  readonly reader: StoreReader
  /** What the store holds, as it is now. */
  target: Target
  /** How records are written: while an index is filled, as if it were there. */
  writeView: RecordView
}

/** How long reads share a state of a store that nobody writes to. */
const stateHeldMs = 50

class EmbeddedEngine implements Engine {
  readonly #catalog: Catalog
  readonly #files: KnownFiles
  readonly #health: StoreHealth
  readonly #writer: Writer
  readonly #vectors: Vectors
  readonly #readers: Readers
  readonly #backups: Backups
  readonly #stores = new Map<string, Store>()
  #endOfReads: NodeJS.Timeout | undefined
  #movedReads = 0
  #lastChange: Promise<unknown> = Promise.resolve()
  #closing: Promise<void> | undefined

  constructor({ dataDir, durable, searchThreads, log }: EmbeddedOptions) {
    this.#catalog = new Catalog(dataDir)
    try {
      upgradeStores(this.#catalog, log)
    } catch (error) {
      this.#catalog.close()
      throw error
    }
    const { identity } = this.#catalog
    this.#health = new StoreHealth(identity, log)
    this.#files = new KnownFiles(identity)
    this.#writer = new Writer(durable, this.#files, this.#health)
    this.#backups = new Backups({
      ...{ dataDir, catalog: this.#catalog, writer: this.#writer, files: this.#files },
      inTurn: (act) => this.#inTurn(act),
    })
    // Two at least: a hybrid search makes two searches at once.
    this.#readers = new Readers(
      searchThreads ?? Math.max(2, availableParallelism() - 1),
      this.#files,
    )
    this.#vectors = new Vectors({
      ...{ log, files: this.#files },
      // What is saved need not be remembered. If this fails, it is remembered for longer.
      onSaved: ({ file, suffix }, version) =>
        void this.#writer.trim(file, suffix, version).catch(() => undefined),
    })
  }

  listKeyspaces(): Promise<readonly string[]> {
    return this.#attempt(() => this.#catalog.keyspaces)
  }

  createKeyspace(name: string): Promise<void> {
    return this.#inTurn(() => this.#change(() => this.#catalog.createKeyspace(name)))
  }

  dropKeyspace(name: string): Promise<void> {
    return this.#inTurn(async () => {
      const dropped = await this.#change(() => this.#catalog.startDropKeyspace(name))
      await this.#finishDrop(dropped)
    })
  }

  listTargets(keyspace: string): Promise<readonly Target[] | undefined> {
    return this.#attempt(() => this.#catalog.targets(keyspace))
  }

  // Every command asks for this first, and it is only a look into a Map.
  // eslint-disable-next-line @typescript-eslint/require-await
  async findTarget(keyspace: string, name: string): Promise<Target | undefined> {
    this.#refuseIfClosed()
    return this.#catalog.target(keyspace, name)
  }

  createCollection(
    keyspace: string,
    name: string,
    options: CollectionOptions,
  ): Promise<Target | undefined> {
    return this.#inTurn(() =>
      this.#change(() => {
        const existing = this.#catalog.target(keyspace, name)
        if (existing !== undefined) return existing
        this.#catalog.createCollection(keyspace, name, options)
        return undefined
      }),
    )
  }

  readSchema(keyspace: string): Promise<KeyspaceSchema | undefined> {
    return this.#attempt(() => this.#catalog.schema(keyspace))
  }

  changeSchema(
    keyspace: string,
    plan: (schema: KeyspaceSchema) => SchemaChange | undefined,
  ): Promise<void> {
    return this.#inTurn(async () => {
      const schema = this.#catalog.schema(keyspace)
      if (schema === undefined) throw new EngineError('gone', `${keyspace} is gone`)
      const change = plan(schema)
      switch (change?.kind) {
        case 'createTable': {
          const { name, definition } = change
          await this.#change(() => this.#catalog.createTable(keyspace, name, definition))
          return
        }
        case 'alterTable':
          await this.#alter(change.table, change.definition)
          return
        case 'putType':
          await this.#change(() => this.#catalog.putType(keyspace, change.type))
          return
        case 'dropType':
          await this.#change(() => this.#catalog.dropType(keyspace, change.name))
          return
        case undefined:
      }
    })
  }

  /** Fills new indexes before the new definition holds, removes old ones after. */
  async #alter(table: Table, definition: TableDefinition): Promise<void> {
    const store = this.#store(table, 'write')
    const { file } = store
    const altered = this.#catalog.altered(table, definition)
    const { before, after, opened, closed } = changesOf(table, altered)
    const current = store.writeView
    store.writeView = viewOf(altered)
    try {
      for (const step of before) await this.#reindex(file, step)
      await this.#change(() => this.#catalog.alterTable(altered))
    } catch (error) {
      store.writeView = current
      throw error
    }
    // Nobody may read a state from before the new parts of the store were there.
    this.#store(altered).reader.store.endRead()
    try {
      for (const suffix of closed) {
        await this.#readers.forget({ file, suffix })
        await this.#vectors.drop({ file, suffix })
      }
      for (const step of after) await this.#reindex(file, step)
    } catch {
      // The change holds. What could not be removed is swept away at the next start.
    }
    for (const { suffix, ...field } of viewOf(altered).vectors.values())
      if (opened.includes(suffix))
        await this.#vectors.current({ file, suffix }, this.#indexOptions(field))
  }

  async #reindex(file: string, step: IndexStep): Promise<void> {
    let next: number | undefined = 0
    while (next !== undefined) {
      const part: IndexStep = 'after' in step ? { ...step, after: next } : step
      next = await this.#writer.reindex(file, part)
    }
  }

  dropTarget(target: Target): Promise<void> {
    return this.#inTurn(async () => {
      const known = this.#catalog.target(target.keyspace, target.name)
      if (known?.uid !== target.uid) return
      await this.#change(() => this.#catalog.startDrop(target))
      await this.#finishDrop([target])
    })
  }

  async #finishDrop(targets: readonly Target[]): Promise<void> {
    for (const target of targets) {
      const file = this.#catalog.storeFile(target)!
      this.#stores.get(target.uid)?.reader.close()
      this.#stores.delete(target.uid)
      await this.#vectors.closeAll(file)
      await this.#writer.close(file)
      await this.#readers.close(file)
      this.#files.forget(file)
    }
    await this.#change(() => this.#catalog.finishDrop(targets))
  }

  async read(target: Target, query: Query, signal: AbortSignal): Promise<Page> {
    signal.throwIfAborted()
    const store = this.#store(target)
    const storeQuery: StoreQuery = {
      ...query,
      // What a position follows has skipped already.
      skip: query.after === undefined ? query.skip : 0,
      after: query.after === undefined ? undefined : decodePosition(query.after),
    }
    const result = await this.#shortOrLong(
      target,
      store,
      (budget) => store.reader.read(storeQuery, budget),
      () => this.#readers.read(sourceOf(store), storeQuery, signal),
    )
    return new EmbeddedPage(result, viewOf(target))
  }

  async count(
    target: Target,
    filter: Filter,
    stopAt: number,
    signal: AbortSignal,
  ): Promise<number> {
    signal.throwIfAborted()
    const store = this.#store(target)
    return this.#shortOrLong(
      target,
      store,
      (budget) => store.reader.count(filter, stopAt, budget),
      () => this.#readers.count(sourceOf(store), filter, stopAt, signal),
    )
  }

  async search(
    target: Target,
    search: Search,
    signal: AbortSignal,
  ): Promise<readonly Hit[] | undefined> {
    signal.throwIfAborted()
    const store = this.#store(target)
    const { by } = search
    const view = viewOf(target)
    const hits =
      by.kind === 'vector'
        ? await this.#orGone(target, () => this.#searchVectors(target, search, by, signal))
        : await this.#shortOrLong(
            target,
            store,
            (budget): readonly ScoredRow[] => store.reader.search(search, budget),
            () => this.#readers.search(sourceOf(store), search, signal),
          )
    return hits.map(({ row, score }) => ({ record: new EmbeddedRecord(row, view), score }))
  }

  async #searchVectors(
    target: Target,
    search: Search,
    { path }: Extract<SearchBy, { readonly kind: 'vector' }>,
    signal: AbortSignal,
  ) {
    const { suffix, ...field } = viewOf(target).vectors.get(path)!
    const options = this.#indexOptions(field)
    const { file } = this.#store(target)
    const current = await this.#vectors.current({ file, suffix }, options)
    const index = { ...current, suffix, metric: options.metric }
    // Asked for again: the schema may have changed meanwhile.
    return this.#readers.search(sourceOf(this.#store(target)), search, signal, index)
  }

  estimateCount(target: Target): Promise<number> {
    return this.#attempt(() => {
      const store = this.#store(target)
      this.#beginRead(store)
      return store.reader.store.documentCount()
    })
  }

  async write(
    target: Target,
    writes: readonly Write[],
    options: { readonly ordered?: boolean } = {},
  ): Promise<readonly Outcome[]> {
    const store = this.#store(target, 'write')
    const { ordered = false } = options
    const { outcomes, version } = await this.#writer.write(
      store.file,
      store.writeView,
      // What was made by the present schema lacks what an index that is being filled needs.
      store.writeView === viewOf(target) ? writes : recast(writes, store.writeView),
      ordered,
    )
    this.#noteWrite(target, store, version)
    return outcomes
  }

  async truncate(target: Target): Promise<void> {
    const store = this.#store(target, 'write')
    const { version } = await this.#writer.truncate(store.file)
    this.#noteWrite(target, store, version)
  }

  /** Nobody reads an older state from here on, nor searches in one. */
  #noteWrite(target: Target, store: Store, version: number): void {
    // Dropped meanwhile: its file may soon be that of another.
    if (this.#stores.get(target.uid) !== store) return
    const { file, reader } = store
    reader.store.endRead()
    for (const { suffix, ...field } of reader.view.vectors.values())
      if (field.metric !== undefined)
        this.#vectors.noteWrite({ file, suffix }, this.#indexOptions(field), version)
  }

  readSetting(name: string): Promise<string | undefined> {
    return this.#attempt(() => this.#catalog.readSetting(name))
  }

  async writeSetting(name: string, value: string): Promise<void> {
    await this.#backups.stillness
    this.#refuseIfClosed()
    return this.#change(() => this.#catalog.writeSetting(name, value))
  }

  statistics(): Promise<EngineStatistics> {
    return this.#attempt(() => {
      const { keyspaces } = this.#catalog
      const targets = keyspaces.flatMap((name) => this.#catalog.targets(name) ?? [])
      const tables = targets.filter(({ kind }) => kind === 'table').length
      return {
        keyspaces: keyspaces.length,
        collections: targets.length - tables,
        tables,
        ...this.#writer.counts,
        movedReads: this.#movedReads,
        indexedVectors: this.#vectors.count,
      }
    })
  }

  backup(have: ReadonlySet<string>, signal: AbortSignal): AsyncIterable<BackupPart> {
    return this.#backups.run(have, signal)
  }

  health(): Promise<string | undefined> {
    return this.#health.problem()
  }

  close(): Promise<void> {
    this.#closing ??= this.#finish()
    return this.#closing
  }

  async #finish(): Promise<void> {
    await this.#backups.close()
    await this.#lastChange
    // Indexes first: what they save, the writer notes.
    await this.#vectors.stop()
    await this.#writer.stop()
    await this.#readers.stop()
    for (const { reader } of this.#stores.values()) reader.close()
    this.#stores.clear()
    this.#catalog.close()
  }

  /**
   * Reads share a state of the store until something is written, which spares them its
   * locks. Whoever writes ends it, so that nobody reads an older state after the write was
   * answered; so does time, because a state that is held keeps the log from being emptied.
   */
  #beginRead(store: Store): void {
    store.reader.store.beginRead()
    this.#endOfReads ??= setTimeout(() => {
      this.#endOfReads = undefined
      for (const { reader } of this.#stores.values()) reader.store.endRead()
    }, stateHeldMs).unref()
  }

  /** Tries here first; what turns out to be long starts again on a reading thread. */
  async #shortOrLong<T>(
    target: Target,
    store: Store,
    short: (budget: Budget) => T,
    long: () => Promise<T>,
  ): Promise<T> {
    try {
      this.#beginRead(store)
      return short(mainThreadBudget())
    } catch (error) {
      if (!(error instanceof OverBudget)) throw asEngineError('read', error, store.file)
    }
    this.#movedReads++
    return this.#orGone(target, long)
  }

  async #orGone<T>(target: Target, act: () => Promise<T>): Promise<T> {
    try {
      return await act()
    } catch (error) {
      // A store that was dropped or changed meanwhile fails in many ways, all of which mean this.
      this.#checkCurrent(target)
      throw error
    }
  }

  /** Changes of what exists happen one after the other, whole. */
  async #inTurn<T>(change: () => Promise<T>): Promise<T> {
    this.#refuseIfClosed()
    const turn = this.#lastChange.then(change)
    this.#lastChange = turn.catch(() => undefined)
    return turn
  }

  #store(target: Target, kind: 'read' | 'write' = 'read'): Store {
    this.#refuseIfClosed()
    this.#checkCurrent(target)
    const open = this.#stores.get(target.uid)
    if (open !== undefined) {
      if (target.kind === 'table' && open.target !== target) {
        open.target = target
        open.writeView = open.reader.view = viewOf(target)
      }
      return open
    }
    const file = this.#catalog.storeFile(target)!
    const view = viewOf(target)
    const reader = this.#files.open(file, kind, () => new StoreReader(file, view))
    const store = { file, target, writeView: view, reader }
    this.#stores.set(target.uid, store)
    if (target.kind === 'table') this.#sweepSoon(store)
    return store
  }

  /** An index that was being made or removed when the process died left something behind. */
  #sweepSoon(store: Store): void {
    const sweep = async () => {
      const { file, target } = store
      if (this.#stores.get(target.uid) === store && target.kind === 'table')
        await this.#reindex(file, { kind: 'sweep', table: target })
    }
    // If it fails, the next start tries again; meanwhile it only takes space.
    void this.#inTurn(sweep).catch(() => undefined)
  }

  #checkCurrent(target: Target): void {
    const current = this.#catalog.target(target.keyspace, target.name)
    if (current?.uid !== target.uid) throw new EngineError('gone', `${target.name} is gone`)
    if (target.kind === 'table' && current !== target)
      throw new EngineError('changed', `${target.name} has another schema by now`)
  }

  #indexOptions({ dimension, metric }: Omit<VectorField, 'suffix'>): IndexOptions {
    return { dimension, metric: metric!, searchers: this.#readers.size }
  }

  async #attempt<T>(act: () => T): Promise<T> {
    this.#refuseIfClosed()
    try {
      return await Promise.resolve(act())
    } catch (error) {
      throw asEngineError('read', error, this.#catalog.identity.path)
    }
  }

  /** Changes the catalog. */
  async #change<T>(act: () => T): Promise<T> {
    const { commits, identity } = this.#catalog
    const { path } = identity
    try {
      const done = await Promise.resolve(act())
      if (this.#catalog.commits > commits) this.#health.noteSuccess(path)
      return done
    } catch (error) {
      const trouble = troubleOf(error, path)
      if (trouble !== undefined) this.#health.noteFailure(path, trouble)
      throw asEngineError('write', error, path)
    }
  }

  #refuseIfClosed(): void {
    if (this.#closing !== undefined) throw new EngineError('closed', 'the store is closed')
  }
}

function sourceOf({ file, target }: Store) {
  return { file, target }
}
