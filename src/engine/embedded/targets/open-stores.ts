/**
 * Open stores of the main thread. An open store takes memory and file handles here and on other
 * threads, so their number is limited: the least recently used stores are evicted, and reopened on
 * the next use.
 */
import { setImmediate } from 'node:timers/promises'
import type { RecordView } from '../../record-view.ts'
import { viewOf } from '../format/views.ts'
import type { StoredTarget } from '../schema/stored-schema.ts'
import type { KnownFiles } from '../files/known-files.ts'
import { RowCache } from '../store/row-cache.ts'
import { readerCache, SharedCache } from '../store/shared-cache.ts'
import { StoreReader } from '../read/store-reader.ts'

export interface OpenStore {
  readonly file: string
  readonly reader: StoreReader
  /** The current target of the store. */
  target: StoredTarget
  /** View for writes: while an index is being built, it includes that index. */
  writeView: RecordView
  /** Sequence number of the latest use. */
  lastUse: number
  /** Number of users that keep the store open, such as other threads. */
  busy: number
}

/** Maximum milliseconds for which reads share a snapshot of a store. */
const stateHeldMs = 50

export interface OpenStoresOptions {
  /** Maximum number of open stores. */
  readonly max: number
  readonly files: KnownFiles
  /** Whether stores may be evicted: on a full disk they might not open again. */
  readonly mayRelease: () => boolean
  /** Closes a store on other threads, after the main thread has closed it. */
  readonly release: (file: string) => Promise<void>
}

export class OpenStores {
  readonly #options: OpenStoresOptions
  /** Open stores, by uid of the target. */
  readonly #stores = new Map<string, OpenStore>()
  readonly #cache = new SharedCache(readerCache)
  #uses = 0
  #releasing: Promise<void> | undefined
  /** Number of evicted stores that other threads have not closed yet. */
  #leaving = 0
  #endOfReads: NodeJS.Timeout | undefined

  constructor(options: OpenStoresOptions) {
    this.#options = options
  }

  get size(): number {
    return this.#stores.size
  }

  /** The open store of a target, if any; does not count as a use. */
  find({ uid }: StoredTarget): OpenStore | undefined {
    return this.#stores.get(uid)
  }

  /**
   * The store of a target, with the target's given schema; undefined when the store is not open.
   */
  use(target: StoredTarget): OpenStore | undefined {
    const store = this.#stores.get(target.uid)
    if (store === undefined) return undefined
    store.lastUse = ++this.#uses
    if (target.kind === 'table' && store.target !== target) {
      store.target = target
      store.writeView = store.reader.view = viewOf(target)
    }
    return store
  }

  /** Opens the store of a target. Failures become errors of a read or write. */
  open(target: StoredTarget, file: string, kind: 'read' | 'write'): OpenStore {
    const { files } = this.#options
    const view = viewOf(target)
    const rowCache = target.kind === 'collection' ? new RowCache() : undefined
    const reader = files.open(file, kind, () => new StoreReader(file, view, rowCache))
    const lastUse = ++this.#uses
    const store = { file, target, writeView: view, reader, lastUse, busy: 0 }
    this.#stores.set(target.uid, store)
    this.#cache.add(reader)
    this.#releaseSoon()
    return store
  }

  /** Prevents the eviction of a store while other threads work on it. */
  async keeping<T>(store: OpenStore, act: () => Promise<T>): Promise<T> {
    this.begin(store)
    try {
      return await act()
    } finally {
      this.end(store)
    }
  }

  /** Like `keeping`, for work with a separate start and end. */
  begin(store: OpenStore): void {
    store.busy++
  }

  end(store: OpenStore): void {
    if (--store.busy === 0) this.#releaseSoon()
  }

  /** Resolves when the running evictions have finished. */
  async released(): Promise<void> {
    await this.#releasing
  }

  /**
   * Resolves when another store may be opened: at once, unless too many stores are being evicted.
   */
  async room(): Promise<void> {
    const { max } = this.#options
    while (
      this.#stores.size + this.#leaving > max + Math.ceil(max / 8) &&
      this.#releasing !== undefined
    )
      await this.#releasing
  }

  #releaseSoon(): void {
    if (this.#releasing !== undefined || this.#superfluous === undefined) return
    // The eviction is deferred, so that the caller that opened the store can start to use it.
    this.#releasing = setImmediate()
      .then(() => this.#release())
      .finally(() => {
        this.#releasing = undefined
        // While stores were evicted, more stores may have been opened or become idle.
        this.#releaseSoon()
      })
  }

  async #release(): Promise<void> {
    const released: Promise<void>[] = []
    for (let store; (store = this.#superfluous) !== undefined;) {
      this.close(store.target)
      released.push(this.#options.release(store.file))
    }
    this.#leaving = released.length
    // Failures are ignored: the stores of a dead thread are closed as well.
    await Promise.allSettled(released)
    this.#leaving = 0
  }

  isOpen(store: OpenStore): boolean {
    return this.#stores.get(store.target.uid) === store
  }

  close({ uid }: StoredTarget): void {
    const store = this.#stores.get(uid)
    if (store === undefined) return
    this.#stores.delete(uid)
    this.#cache.remove(store.reader)
    store.reader.close()
  }

  /** Closes all stores, and returns their targets. */
  closeAll(): StoredTarget[] {
    const targets = Array.from(this.#stores.values(), ({ target }) => target)
    for (const target of targets) this.close(target)
    return targets
  }

  /** The least recently used idle store, while more than `max` stores are open. */
  get #superfluous(): OpenStore | undefined {
    const { max, mayRelease } = this.#options
    if (this.#stores.size <= max || !mayRelease()) return undefined
    return this.#stores
      .values()
      .filter(({ busy }) => busy === 0)
      .reduce<OpenStore | undefined>(
        (oldest, store) =>
          oldest === undefined || store.lastUse < oldest.lastUse ? store : oldest,
        undefined,
      )
  }

  /**
   * Starts a read. Reads share a snapshot until the store is written to, which avoids a lock per
   * read. A write ends the snapshot, so that later reads see the write. A timer ends it, too,
   * because a snapshot prevents the checkpoint of the write-ahead log.
   */
  beginRead(store: OpenStore): void {
    store.reader.store.beginRead()
    this.#endOfReads ??= setTimeout(() => {
      this.#endOfReads = undefined
      for (const { reader } of this.#stores.values()) reader.store.endRead()
    }, stateHeldMs).unref()
  }
}
