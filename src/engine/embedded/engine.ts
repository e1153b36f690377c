/**
 * The embedded engine: SQLite files in a local folder.
 *
 * Short reads run on the main thread, long reads on reader threads, and writes on the writer
 * thread. Each target has its own store file (store/layout.ts).
 */
import { ownCaller, type Caller } from '../../caller/caller.ts'
import { existsSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import type { Filter } from '../../language/filters/filter.ts'
import { andThen, neverThrowing } from '../../runtime/steps.ts'
import { defaultLimits } from '../../limits.ts'
import { kernelFile } from '../../search/vector/segment.ts'
import type { KeyConditions } from '../../language/columns/key-conditions.ts'
import type { RowFilter } from '../../language/columns/row-filter.ts'
import { viewOf } from './format/views.ts'
import type {
  Engine,
  MergeOptions,
  MergeOutcome,
  Outcome,
  Page,
  Query,
  RowMerge,
  RowPage,
  RowQuery,
  RowSearch,
  RowSearchResult,
  Search,
  SearchResult,
  Setting,
  Write,
  WriteOptions,
} from '../contract.ts'
import { EngineError } from '../errors.ts'
import type { RecordView } from '../record-view.ts'
import type {
  Collection,
  KeyspaceOptions,
  KeyspaceSchema,
  Table,
  Target,
} from '../schema.ts'
import type { SchemaPlan } from '../schema-change.ts'
import type { EngineOperations } from '../operations.ts'
import { Backups } from './backup/backup.ts'
import { unsupportedFeatures } from './schema/unsupported-features.ts'
import { Catalog } from './catalog/catalog.ts'
import { changeCatalog } from './catalog/change-catalog.ts'
import type { StoredTable, StoredTarget } from './schema/stored-schema.ts'
import { Settings } from './catalog/settings.ts'
import { asEngineError } from './files/disk-trouble.ts'
import type { EmbeddedOptions } from './schema/options.ts'
import { hasLog } from './store/layout.ts'
import { EmbeddedRecord, RecordPage } from './read/record-page.ts'
import { FolderMeter } from './catalog/folder-sizes.ts'
import { Rows } from './targets/rows.ts'
import { RecordReads } from './targets/record-reads.ts'
import { RecordWrites } from './targets/record-writes.ts'
import { KnownFiles } from './files/known-files.ts'
import { DamageCount } from './format/damage.ts'
import type { DocRow } from './format/doc-row.ts'
import { OpenStores, type OpenStore } from './targets/open-stores.ts'
import { Readers } from './reader-threads/readers.ts'
import { SchemaChanges } from './schema-changes.ts'
import { SchemaLocks } from './schema-locks.ts'
import { SchemaTurns } from './schema-turns.ts'
import { statisticsOf } from './targets/statistics.ts'
import { targetSize } from './targets/target-size.ts'
import { upgradeStores } from './targets/upgrade.ts'
import { TableAlterations } from './targets/table-alterations.ts'
import { StoreHealth } from './catalog/store-health.ts'
import { recordVersions, reportLostWrites } from './catalog/store-versions.ts'
import { Vectors } from './vectors/vectors.ts'
import { Writer } from './write/writer.ts'

/**
 * Opens a data folder. Rejects with an EngineError that states the reason when the folder cannot be
 * served.
 */
export async function openEmbeddedEngine(options: EmbeddedOptions): Promise<Engine> {
  if (!existsSync(kernelFile))
    throw new EngineError(
      'damaged',
      'this installation has no vector kernel. Run `npm run build` in its folder',
    )
  const catalog = await Catalog.open(options)
  try {
    const lostWrites = reportLostWrites(catalog, options.log)
    upgradeStores(catalog, options.log)
    return new EmbeddedEngine(options, catalog, lostWrites)
  } catch (error) {
    await catalog.close()
    throw error
  }
}

class EmbeddedEngine implements Engine {
  readonly #catalog: Catalog
  readonly #lostWrites: number
  readonly #settings: Settings
  readonly #files: KnownFiles
  readonly #folder: FolderMeter
  readonly #health: StoreHealth
  readonly #damage = new DamageCount()
  readonly #writer: Writer
  readonly #vectors: Vectors
  readonly #readers: Readers
  readonly #backups: Backups
  readonly #stores: OpenStores
  readonly #records: RecordReads
  readonly #writes: RecordWrites
  readonly #rows: Rows
  readonly #alterations: TableAlterations
  readonly #changes: SchemaChanges
  readonly #turns = new SchemaTurns()
  readonly #schemas = new SchemaLocks()
  /** Pending preparations for the opening of stores, by kind of access and uid of the target. */
  readonly #preparing = new Map<string, Promise<void>>()
  #closing: Promise<void> | undefined

  constructor(options: EmbeddedOptions, catalog: Catalog, lostWrites: number) {
    const { dataDir, durable, searchThreads, log } = options
    const { openStoresMax = Infinity, waitingReadsMax = Infinity } = options
    this.#catalog = catalog
    this.#lostWrites = lostWrites
    this.#settings = new Settings(this.#catalog)
    const { identity } = this.#catalog
    this.#folder = new FolderMeter(dataDir)
    this.#health = new StoreHealth(identity, log)
    this.#files = new KnownFiles(identity)
    this.#stores = new OpenStores({
      ...{ max: openStoresMax, files: this.#files },
      mayRelease: () => this.#health.isWell && this.#closing === undefined,
      release: (file) => this.#release(file),
    })
    this.#writer = new Writer({
      ...{ durable, files: this.#files, health: this.#health, damage: this.#damage },
      analyzerMemoryMax: options.analyzerMemoryMax ?? defaultLimits.analyzerMemoryMax,
    })
    this.#backups = new Backups({
      ...{ dataDir, catalog: this.#catalog, writer: this.#writer, files: this.#files },
      inTurn: (act) => this.#inTurn(ownCaller(), act),
    })
    this.#readers = new Readers({
      // At least two reads run at a time, because a hybrid search runs two searches at once.
      runningMax: searchThreads ?? Math.max(2, availableParallelism() - 1),
      ...{ waitingMax: waitingReadsMax, spareThreadMs: options.spareThreadMs },
      ...{ files: this.#files, damage: this.#damage },
      checkCurrent: (target) => this.#stored(target),
    })
    this.#vectors = new Vectors({
      ...{ log, files: this.#files, damage: this.#damage, searchers: this.#readers.size },
      memory: options.vectorMemory ?? 'fast',
      // The feed drops changes that are saved in the index. If trimming fails, the feed keeps the
      // changes longer.
      onSaved: ({ file, suffix }, version) =>
        void this.#writer.trim(file, suffix, version).catch(() => undefined),
    })
    this.#records = new RecordReads({
      ...{ stores: this.#stores, readers: this.#readers, vectors: this.#vectors },
      damage: this.#damage,
      using: (target, act) => this.#using(target, act),
      checkCurrent: (target) => this.#stored(target),
    })
    this.#writes = new RecordWrites({
      ...{ stores: this.#stores, writer: this.#writer, vectors: this.#vectors },
      using: (target, act) => this.#using(target, act, 'write'),
      checkCurrent: (target) => this.#stored(target),
    })
    this.#rows = new Rows(this.#records, this.#writer, {
      write: (table, writing, act) => this.#writes.take(table, writing, act),
      stored: (table) => this.#stored(table) as StoredTable,
    })
    this.#alterations = new TableAlterations({
      ...{ catalog: this.#catalog, stores: this.#stores, writer: this.#writer },
      ...{ readers: this.#readers, vectors: this.#vectors },
      changeTables: (...given) => this.#changes.changeTables(...given),
      holding: (target, act) => this.#turns.holding([target.uid], ownCaller(), act),
    })
    this.#changes = new SchemaChanges({
      ...{ catalog: this.#catalog, health: this.#health, alterations: this.#alterations },
      ...{ turns: this.#turns, locks: this.#schemas },
      keeping: (table, act) =>
        this.#using(
          table,
          (store) => this.#stores.keeping(store, () => act(store)),
          'write',
        ),
      closeStores: (targets) => this.#closeStores(targets),
    })
  }

  /** The same engine for all credentials: the embedded engine has no accounts. */
  as(): Engine {
    return this
  }

  listKeyspaces(): Promise<readonly string[]> {
    return this.#attempt(() => this.#catalog.keyspaces)
  }

  async createKeyspace(
    name: string,
    _options?: KeyspaceOptions,
    caller: Caller = ownCaller(),
  ): Promise<boolean> {
    this.#refuseIfClosed()
    return this.#changes.createKeyspace(name, caller)
  }

  async dropKeyspace(name: string, caller: Caller = ownCaller()): Promise<boolean> {
    this.#refuseIfClosed()
    return this.#changes.dropKeyspace(name, caller)
  }

  listTargets(keyspace: string): Promise<readonly Target[] | undefined> {
    return this.#attempt(() => this.#catalog.schema(keyspace)?.targets)
  }

  findTarget(
    keyspace: string,
    name: string,
  ): Target | undefined | Promise<Target | undefined> {
    // After close, the error must be a rejection and not an exception.
    return this.#closing === undefined
      ? this.#catalog.find(keyspace, name)?.target
      : Promise.reject(closed())
  }

  readSchema(keyspace: string): Promise<KeyspaceSchema | undefined> {
    return this.#attempt(() => this.#catalog.schema(keyspace))
  }

  async changeSchema(
    keyspace: string,
    plan: SchemaPlan,
    caller: Caller = ownCaller(),
  ): Promise<boolean> {
    this.#refuseIfClosed()
    return this.#changes.change(keyspace, plan, caller)
  }

  async lockSchema<T>(
    keyspace: string,
    act: () => Promise<T>,
    { signal }: Caller,
  ): Promise<T> {
    this.#refuseIfClosed()
    return this.#schemas.share(keyspace, act, signal)
  }

  readonly unsupportedFeatures = unsupportedFeatures

  async #closeStores(targets: readonly StoredTarget[]): Promise<void> {
    for (const target of targets) this.#stores.close(target)
    // The eviction of a store may still be saving a vector index of a target to close, so it has to
    // finish first.
    await this.#stores.released()
    for (const target of targets) {
      const file = this.#catalog.storeFile(target)!
      this.#alterations.forget(target)
      await this.#vectors.closeAll(file)
      await this.#writer.close(file)
      await this.#readers.close(file)
      this.#files.forget(file)
    }
  }

  read(collection: Collection, query: Query, caller: Caller): Page | Promise<Page> {
    return neverThrowing(() => {
      const view = viewOf(collection)
      return andThen(
        this.#records.read(collection, query, caller),
        (rows) => new RecordPage(rows, view, makeRecord),
      )
    })
  }

  readRows(table: Table, query: RowQuery, caller: Caller): RowPage | Promise<RowPage> {
    return neverThrowing(() => this.#rows.read(table, query, caller))
  }

  count(
    collection: Collection,
    filter: Filter,
    stopAt: number,
    caller: Caller,
  ): Promise<number> {
    return this.#records.count(collection, filter, stopAt, caller)
  }

  countRows(
    table: Table,
    filter: RowFilter,
    stopAt: number,
    caller: Caller,
  ): Promise<number> {
    return this.#rows.count(table, filter, stopAt, caller)
  }

  async search(
    collection: Collection,
    search: Search,
    caller: Caller,
  ): Promise<SearchResult> {
    const view = viewOf(collection)
    const { hits, statistics } = await this.#records.search(collection, search, caller)
    const found = hits.map(({ row, score }) => {
      return { record: new EmbeddedRecord(row, view), score }
    })
    return { hits: found, statistics }
  }

  searchRows(table: Table, search: RowSearch, caller: Caller): Promise<RowSearchResult> {
    return this.#rows.search(table, search, caller)
  }

  estimateCount(target: Target): Promise<number> {
    const estimate = (store: OpenStore) => {
      this.#stores.beginRead(store)
      return store.reader.store.documentCount()
    }
    return this.#attempt(() => this.#using(target, estimate))
  }

  write(
    collection: Collection,
    writes: readonly Write[],
    options: WriteOptions = {},
  ): Promise<readonly Outcome[]> {
    return this.#writes.write(collection, writes, options)
  }

  mergeRows(
    table: Table,
    merges: readonly RowMerge[],
    options: MergeOptions,
  ): Promise<readonly MergeOutcome[]> {
    return this.#rows.merge(table, merges, options)
  }

  deleteRows(table: Table, conditions: KeyConditions, caller: Caller): Promise<void> {
    return this.#rows.delete(table, conditions, caller)
  }

  truncate(target: Target, caller: Caller = ownCaller()): Promise<void> {
    return this.#writes.truncate(target, caller)
  }

  readSetting(name: string): Promise<Setting | undefined> {
    return this.#attempt(() => this.#settings.read(name))
  }

  async writeSetting(...given: Parameters<Settings['write']>): Promise<string | undefined> {
    await this.#backups.stillness
    this.#refuseIfClosed()
    return this.#change(() => this.#settings.write(...given))
  }

  watchSettings(listener: (name: string) => void): () => void {
    return this.#settings.watch(listener)
  }

  readonly operations: EngineOperations = {
    statistics: () =>
      this.#attempt(() =>
        statisticsOf({
          catalog: this.#catalog,
          stores: this.#stores,
          writer: this.#writer,
          writes: this.#writes,
          readers: this.#readers,
          vectors: this.#vectors,
          folder: this.#folder,
          ...{ movedReads: this.#records.moved, damagedRecords: this.#damage.count },
          lostWrites: this.#lostWrites,
        }),
      ),
    sizeOf: (target) =>
      this.#attempt(() => {
        const stored = this.#stored(target)
        const file = this.#catalog.storeFile(stored)!
        const [stores, readers, vectors] = [this.#stores, this.#readers, this.#vectors]
        return targetSize(stored, file, { stores, readers, vectors })
      }),
    backup: (have, signal) => this.#backups.run(have, signal),
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
    await this.#turns.end()
    await this.#stores.released()
    await this.#writes.drained()
    // Vector indexes stop before the writer thread, because the writer thread trims the feed of an
    // index that is saved.
    await this.#vectors.stop()
    await this.#writer.stop()
    await this.#readers.stop()
    await recordVersions(this.#catalog, this.#stores.closeAll())
    await this.#catalog.close()
  }

  /** Runs `act` while no other caller changes the catalog. */
  async #inTurn<T>(caller: Caller, act: () => Promise<T>): Promise<T> {
    this.#refuseIfClosed()
    return this.#turns.inTurn(caller, act)
  }

  /** The open store of a target, or undefined when the caller has to open it. */
  #openStore(target: Target): OpenStore | undefined {
    this.#refuseIfClosed()
    return this.#stores.use(this.#stored(target))
  }

  /**
   * Runs `act` on the store of a target, and opens it if needed. `act` starts in the same turn of
   * the event loop as the check that the target exists, so its requests reach the threads before a
   * request to close the store.
   */
  #using<T>(
    target: Target,
    act: (store: OpenStore) => T | Promise<T>,
    kind: 'read' | 'write' = 'read',
  ): T | Promise<T> {
    const store = this.#openStore(target)
    if (store !== undefined) return act(store)
    return this.#prepare(target, kind).then(() =>
      act(this.#openStore(target) ?? this.#open(target, kind)),
    )
  }

  /**
   * Waits until a store can be opened. Concurrent callers share the wait, so that their requests
   * reach the threads in the order in which they were made.
   */
  #prepare(target: Target, kind: 'read' | 'write'): Promise<void> {
    const key = `${kind} ${target.uid}`
    const running = this.#preparing.get(key)
    if (running !== undefined) return running
    const prepared = this.#stores
      .room()
      .then(() => this.#recover(target, kind))
      .finally(() => this.#preparing.delete(key))
    this.#preparing.set(key, prepared)
    return prepared
  }

  /**
   * Lets the writer thread open a store with a write-ahead log before the main thread does. The
   * first thread that opens the store has to read the log, which may have megabytes.
   */
  async #recover(target: Target, kind: 'read' | 'write'): Promise<void> {
    const file = this.#catalog.storeFile(this.#stored(target))!
    if (!(await hasLog(file)) || this.#openStore(target) !== undefined) return
    this.#files.open(file, kind, () => undefined)
    await this.#writer.open(file)
  }

  #open(target: Target, kind: 'read' | 'write'): OpenStore {
    const stored = this.#stored(target)
    const store = this.#stores.open(stored, this.#catalog.storeFile(stored)!, kind)
    this.#alterations.sweepSoon(store)
    return store
  }

  /** Closes the store on the other threads; it is reopened on the next use. */
  async #release(file: string): Promise<void> {
    await this.#vectors.releaseAll(file)
    await this.#readers.close(file)
    // The writer thread releases the store last, because it marks the store as closed.
    await this.#writer.release(file)
  }

  /**
   * The current stored form of a target, which is given in the form of the contract or in its
   * stored form. Throws 'gone' when the target was dropped and 'changed' when the table has another
   * schema.
   */
  #stored(target: Target): StoredTarget {
    const known = this.#catalog.find(target.keyspace, target.name)
    if (known?.target.uid !== target.uid)
      throw new EngineError('gone', `${target.name} no longer exists`)
    const isCurrent = target === known.target || target === known.stored
    if (target.kind === 'table' && !isCurrent)
      throw new EngineError('changed', `the schema of ${target.name} has changed`)
    return known.stored
  }

  async #attempt<T>(act: () => T | Promise<T>): Promise<T> {
    this.#refuseIfClosed()
    try {
      return await Promise.resolve(act())
    } catch (error) {
      throw asEngineError('read', error, this.#catalog.identity.path)
    }
  }

  /** Changes the catalog, and reports failures to `StoreHealth`. */
  #change<T>(act: () => Promise<T>): Promise<T> {
    return changeCatalog(this.#catalog, this.#health, act)
  }

  #refuseIfClosed(): void {
    if (this.#closing !== undefined) throw closed()
  }
}

function makeRecord(row: DocRow, view: RecordView): EmbeddedRecord {
  return new EmbeddedRecord(row, view)
}

function closed(): EngineError {
  return new EngineError('closed', 'the server is shutting down')
}
