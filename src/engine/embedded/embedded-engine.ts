/**
 * The embedded engine: SQLite files in a folder of this machine.
 *
 * Short reads run here, on the thread that answers requests; long ones on reading threads;
 * writes on the writing thread. Every target has a store of its own (layout.ts).
 */
import { existsSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { JsonProblem } from '../../json/parse.ts'
import { storedFields } from '../../json/stored-fields.ts'
import type { Value } from '../../json/value.ts'
import type { Filter } from '../../query/filter.ts'
import { indexingRule, type IndexingRule } from '../../query/indexing.ts'
import { kernelFile } from '../../search/vector/segment.ts'
import {
  EngineError,
  type Engine,
  type Hit,
  type Joined,
  type Outcome,
  type Page,
  type Position,
  type Query,
  type Search,
  type SearchFields,
  type StoredRecord,
  type Write,
} from '../engine.ts'
import type { CollectionOptions, IndexingOptions, Target } from '../schema.ts'
import { Catalog } from './catalog.ts'
import { decodePosition, encodePosition, type Place } from './position.ts'
import { Readers } from './readers.ts'
import { placeOf } from './sorted-reader.ts'
import { OverBudget, type Budget } from './budget.ts'
import type { Row } from './store-connection.ts'
import type { Result, ScoredRow, StoreQuery } from './store-query.ts'
import { StoreReader } from './store-reader.ts'
import { upgradeStores } from './upgrade.ts'
import type { IndexOptions } from './indexer-thread.ts'
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
  readonly indexing: IndexingOptions | undefined
  readonly rule: IndexingRule
  readonly reader: StoreReader
  /** Undefined where the collection holds no vectors. */
  readonly vectors: IndexOptions | undefined
}

/** How long reads share a state of a store that nobody writes to. */
const stateHeldMs = 50

/** Index lookups that a read may make on the answering thread: about two milliseconds. */
const unitsOnMainThread = 2000

class EmbeddedEngine implements Engine {
  readonly #catalog: Catalog
  readonly #writer: Writer
  readonly #vectors: Vectors
  readonly #readers: Readers
  readonly #stores = new Map<string, Store>()
  #endOfReads: NodeJS.Timeout | undefined
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
    this.#writer = new Writer(durable)
    // Two at least: a hybrid search makes two searches at once.
    this.#readers = new Readers(searchThreads ?? Math.max(2, availableParallelism() - 1))
    this.#vectors = new Vectors({
      log,
      // What is saved need not be remembered. If this fails, it is remembered for longer.
      onSaved: (file, version) =>
        void this.#writer.trim(file, version).catch(() => undefined),
    })
  }

  listKeyspaces(): Promise<readonly string[]> {
    return this.#attempt('read', () => this.#catalog.keyspaces)
  }

  createKeyspace(name: string): Promise<void> {
    return this.#inTurn(() => attempt('write', () => this.#catalog.createKeyspace(name)))
  }

  dropKeyspace(name: string): Promise<void> {
    return this.#inTurn(async () => {
      for (const target of this.#catalog.targets(name) ?? []) await this.#drop(target)
      await attempt('write', () => this.#catalog.dropKeyspace(name))
    })
  }

  listTargets(keyspace: string): Promise<readonly Target[] | undefined> {
    return this.#attempt('read', () => this.#catalog.targets(keyspace))
  }

  // Every command asks for this first, and it is only a look into a Map.
  // eslint-disable-next-line @typescript-eslint/require-await
  async findTarget(keyspace: string, name: string): Promise<Target | undefined> {
    this.#refuseIfClosed()
    return this.#catalog.target(keyspace, name)
  }

  countTargets(): Promise<number> {
    return this.#attempt('read', () => this.#catalog.targetCount)
  }

  createCollection(
    keyspace: string,
    name: string,
    options: CollectionOptions,
  ): Promise<Target | undefined> {
    return this.#inTurn(() =>
      attempt('write', () => {
        const existing = this.#catalog.target(keyspace, name)
        if (existing !== undefined) return existing
        this.#catalog.createCollection(keyspace, name, options)
        return undefined
      }),
    )
  }

  dropTarget(target: Target): Promise<void> {
    return this.#inTurn(() => this.#drop(target))
  }

  async #drop(target: Target): Promise<void> {
    const known = this.#catalog.target(target.keyspace, target.name)
    if (known?.uid !== target.uid) return
    const file = this.#catalog.storeFile(target)
    await attempt('write', () => this.#catalog.startDrop(target))
    this.#stores.get(target.uid)?.reader.close()
    this.#stores.delete(target.uid)
    if (file !== undefined) {
      await this.#vectors.close(file)
      await this.#writer.close(file)
      await this.#readers.close(file)
    }
    await attempt('write', () => this.#catalog.finishDrop(target))
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
    return new EmbeddedPage(result, query)
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
    const hits =
      search.by.kind === 'vector'
        ? await this.#orGone(target, () => this.#searchVectors(store, search, signal))
        : await this.#shortOrLong(
            target,
            store,
            (budget): readonly ScoredRow[] => store.reader.search(search, budget),
            () => this.#readers.search(sourceOf(store), search, signal),
          )
    return hits.map(({ row, score }) => ({ record: new EmbeddedRecord(row), score }))
  }

  async #searchVectors(store: Store, search: Search, signal: AbortSignal) {
    const { file, vectors } = store
    const current = await this.#vectors.current(file, vectors!)
    const { metric } = vectors!
    return this.#readers.search(sourceOf(store), search, signal, { ...current, metric })
  }

  estimateCount(target: Target): Promise<number> {
    return this.#attempt('read', () => {
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
    const store = this.#store(target)
    const { ordered = false } = options
    const { outcomes, version } = await this.#writer.write(
      store.file,
      store.rule,
      writes,
      ordered,
    )
    this.#noteWrite(target, store, version)
    return outcomes
  }

  async truncate(target: Target): Promise<void> {
    const store = this.#store(target)
    const { version } = await this.#writer.truncate(store.file)
    this.#noteWrite(target, store, version)
  }

  /** Nobody reads an older state from here on, nor searches in one. */
  #noteWrite(target: Target, store: Store, version: number): void {
    // Dropped meanwhile: its file may soon be that of another.
    if (this.#stores.get(target.uid) !== store) return
    const { file, reader, vectors } = store
    reader.store.endRead()
    if (vectors !== undefined) this.#vectors.noteWrite(file, vectors, version)
  }

  readSetting(name: string): Promise<string | undefined> {
    return this.#attempt('read', () => this.#catalog.readSetting(name))
  }

  writeSetting(name: string, value: string): Promise<void> {
    return this.#attempt('write', () => this.#catalog.writeSetting(name, value))
  }

  close(): Promise<void> {
    this.#closing ??= this.#finish()
    return this.#closing
  }

  async #finish(): Promise<void> {
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
      if (!(error instanceof OverBudget)) throw asEngineError('read', error)
    }
    return this.#orGone(target, long)
  }

  async #orGone<T>(target: Target, act: () => Promise<T>): Promise<T> {
    try {
      return await act()
    } catch (error) {
      // A store that was dropped meanwhile fails in many ways, all of which mean this.
      if (this.#catalog.target(target.keyspace, target.name)?.uid !== target.uid)
        throw new EngineError('gone', `${target.name} is gone`)
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

  #store(target: Target): Store {
    this.#refuseIfClosed()
    const open = this.#stores.get(target.uid)
    if (open !== undefined) return open
    const file = this.#catalog.storeFile(target)
    if (
      file === undefined ||
      this.#catalog.target(target.keyspace, target.name)?.uid !== target.uid
    )
      throw new EngineError('gone', `${target.name} is gone`)
    const { indexing } = target.options
    const rule = indexingRule(indexing)
    const reader = new StoreReader(file, rule)
    const store = { file, indexing, rule, reader, vectors: this.#indexOptions(target) }
    this.#stores.set(target.uid, store)
    return store
  }

  #indexOptions({ options }: Target): IndexOptions | undefined {
    if (options.vector === undefined) return undefined
    const { dimension, metric } = options.vector
    return { dimension, metric, searchers: this.#readers.size }
  }

  async #attempt<T>(kind: 'read' | 'write', act: () => T): Promise<T> {
    this.#refuseIfClosed()
    return attempt(kind, act)
  }

  #refuseIfClosed(): void {
    if (this.#closing !== undefined) throw new EngineError('closed', 'the store is closed')
  }
}

class EmbeddedPage implements Page {
  readonly records: readonly EmbeddedRecord[]
  readonly joined: Joined | undefined
  readonly served = { filter: true, sort: true }
  readonly next: Position | undefined
  readonly #order: Result['order']
  readonly #query: Query

  constructor({ rows, joined, more, order }: Result, query: Query) {
    this.joined = joined?.joined
    this.records = rows.map((row) => new EmbeddedRecord(row))
    this.#order = order
    this.#query = query
    const last = this.records.at(-1)
    if (!more) this.next = undefined
    else if (joined?.next !== undefined)
      this.next = encodePosition({ by: 'seq', seq: joined.next })
    else this.next = last === undefined ? undefined : this.positionAfter(last)
  }

  positionAfter(record: StoredRecord): Position {
    return encodePosition(this.#placeOf((record as EmbeddedRecord).row))
  }

  #placeOf(row: Row): Place {
    switch (this.#order.by) {
      case 'seq':
        return { by: 'seq', seq: row.seq }
      case 'range':
        return { by: 'range', path: this.#order.path, value: row.value!, seq: row.seq }
      case 'sort':
        return placeOf(row, this.#query.sort)
    }
  }
}

class EmbeddedRecord implements StoredRecord {
  readonly row: Row

  constructor(row: Row) {
    this.row = row
  }

  /** Read from the text when it is asked for: most finds pass the text on unread. */
  get id(): Value {
    return storedFields(this.row.text, idOnly).get('_id')!
  }

  get text(): string {
    return this.row.text
  }

  get version(): number {
    return this.row.version
  }

  get search(): SearchFields {
    return this.row.search ?? {}
  }
}

async function attempt<T>(kind: 'read' | 'write', act: () => T): Promise<T> {
  try {
    return await Promise.resolve(act())
  } catch (error) {
    throw asEngineError(kind, error)
  }
}

const idOnly: ReadonlySet<string> = new Set(['_id'])

function mainThreadBudget(): Budget {
  let left = unitsOnMainThread
  return {
    step: unitsOnMainThread,
    spend(units) {
      left -= units
      // One full step is always allowed; needing a second says that the read is long.
      if (left < -unitsOnMainThread / 2) throw new OverBudget()
    },
  }
}

function sourceOf({ file, indexing }: Store) {
  return { file, indexing }
}

function asEngineError(kind: 'read' | 'write', error: unknown): unknown {
  if (error instanceof EngineError || !(error instanceof Error)) return error
  if (error instanceof JsonProblem)
    return new EngineError('damaged', `a stored document cannot be read: ${error.message}`)
  // SQLite's own failures carry a code; anything else is a bug of ours and stays one.
  if (!('errcode' in error)) return error
  return new EngineError(kind, error.message, { cause: error })
}
