/**
 * Reads of collections and tables: on the main thread if they are short, otherwise on a reader
 * thread.
 */
import type { Caller } from '../../../caller/caller.ts'
import type { Filter } from '../../../language/filters/filter.ts'
import type { Query, Search } from '../../contract.ts'
import type { StoredTarget } from '../schema/stored-schema.ts'
import { asEngineError } from '../files/disk-trouble.ts'
import { mainThreadBudget, OverBudget, type Budget } from '../store/budget.ts'
import type { Readers, ReadSource } from '../reader-threads/readers.ts'
import { ShortReads } from '../reader-threads/short-reads.ts'
import type { Vectors } from '../vectors/vectors.ts'
import type { DamageCount } from '../format/damage.ts'
import type { OpenStores, OpenStore } from './open-stores.ts'
import { decodePosition } from '../format/position.ts'
import { ExplainedRead, type Explained, type Result } from '../read/result.ts'
import type { ScoredRows, StoreQuery } from '../read/store-query.ts'
import { viewOf } from '../format/views.ts'

export interface RecordReadsOptions {
  readonly stores: OpenStores
  readonly readers: Readers
  readonly vectors: Vectors
  readonly damage: DamageCount
  /** Runs `act` on the store of a target, and opens it if needed. */
  readonly using: <T>(
    target: StoredTarget,
    act: (store: OpenStore) => T | Promise<T>,
  ) => T | Promise<T>
  /** Throws when the target was dropped or has another schema. */
  readonly checkCurrent: (target: StoredTarget) => void
}

export class RecordReads {
  readonly #options: RecordReadsOptions
  readonly #shortReads = new ShortReads()
  #moved = 0

  constructor(options: RecordReadsOptions) {
    this.#options = options
  }

  /** Number of reads that exceeded the main thread's budget and moved to another thread. */
  get moved(): number {
    return this.#moved
  }

  read(target: StoredTarget, query: Query, caller: Caller): Result | Promise<Result> {
    caller.check()
    const { using, readers } = this.#options
    const startedAt = performance.now()
    return using(target, (store) => {
      const storeQuery: StoreQuery = {
        ...query,
        // Pages after the first start at a position that is after the skipped records.
        skip: query.after === undefined ? query.skip : 0,
        after: query.after === undefined ? undefined : decodePosition(query.after),
      }
      return this.#shortOrLong(
        target,
        store,
        caller,
        (budget) => noted(store.reader.read(storeQuery, budget), caller, startedAt),
        async (source) =>
          noted(await readers.read(source, storeQuery, caller), caller, startedAt),
      )
    })
  }

  async count(
    target: StoredTarget,
    filter: Filter,
    stopAt: number,
    caller: Caller,
  ): Promise<number> {
    caller.check()
    const { using, readers } = this.#options
    const startedAt = performance.now()
    const counted = await using(target, (store) =>
      this.#shortOrLong(
        target,
        store,
        caller,
        (budget) => store.reader.count(filter, stopAt, budget),
        (source) => readers.count(source, filter, stopAt, caller),
      ),
    )
    return noted(counted, caller, startedAt).count
  }

  async search(target: StoredTarget, search: Search, caller: Caller): Promise<ScoredRows> {
    caller.check()
    const { using, readers } = this.#options
    const { by } = search
    return using(target, (store) =>
      by.kind === 'vector'
        ? this.#long(target, store, (source) =>
            this.#searchVectors(source, search, by.path, caller),
          )
        : this.#shortOrLong(
            target,
            store,
            caller,
            (budget) => store.reader.search(search, budget),
            (source) => readers.search(source, search, caller),
          ),
    )
  }

  async #searchVectors(
    source: ReadSource,
    search: Search,
    path: string,
    caller: Caller,
  ): Promise<ScoredRows> {
    const { vectors, readers } = this.#options
    const { file, target } = source
    const field = viewOf(target).vectors.get(path)!
    const current = await vectors.current(file, field)
    const index = { ...current, suffix: field.suffix, metric: field.metric! }
    return readers.search(source, search, caller, index)
  }

  /** Reads on the main thread; a read that turns out to be long restarts on a reader thread. */
  #shortOrLong<T>(
    target: StoredTarget,
    store: OpenStore,
    { principalName }: Caller,
    short: (budget: Budget) => T,
    long: (source: ReadSource) => Promise<T>,
  ): T | Promise<T> {
    if (this.#shortReads.mayTry(principalName))
      try {
        this.#options.stores.beginRead(store)
        return short(mainThreadBudget())
      } catch (error) {
        if (!(error instanceof OverBudget))
          throw this.#options.damage.note(asEngineError('read', error, store.file))
        this.#shortReads.noteFailure(principalName)
      }
    this.#moved++
    return this.#long(target, store, long)
  }

  /** Reads on a reader thread, and keeps the store open while the read waits for its turn. */
  #long<T>(
    target: StoredTarget,
    store: OpenStore,
    read: (source: ReadSource) => Promise<T>,
  ): Promise<T> {
    const { stores, checkCurrent } = this.#options
    return stores.keeping(store, async () => {
      try {
        return await read({ file: store.file, target })
      } catch (error) {
        // The store may have been dropped or changed meanwhile. Reads then fail in many ways, so
        // `checkCurrent` reports the cause.
        checkCurrent(target)
        throw error
      }
    })
  }
}

/** Reports a read to its caller. */
function noted<R extends Explained>(result: R, caller: Caller, startedAt: number): R {
  caller.noteRead?.(new ExplainedRead(result, performance.now() - startedAt))
  return result
}
