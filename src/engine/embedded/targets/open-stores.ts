/**
 * The stores that the thread that answers requests has open. An open one takes memory and
 * handles of files here and in other threads, so they are kept few: those that were not used
 * for longest are evicted, and opened again when they are needed.
 */
import { setImmediate } from 'node:timers/promises'
import type { RecordView } from '../../record-view.ts'
import { viewOf } from '../format/views.ts'
import type { StoredTarget } from '../schema/stored-schema.ts'
import type { KnownFiles } from '../files/known-files.ts'
import { KeptRows } from '../store/kept-rows.ts'
import { readerCache, SharedCache } from '../store/shared-cache.ts'
import { StoreReader } from '../read/store-reader.ts'

export interface OpenStore {
  readonly file: string
  readonly reader: StoreReader
  /** What the store holds, as it is now. */
  target: StoredTarget
  /** How records are written: while an index is filled, as if it were there. */
  writeView: RecordView
  /** Of all uses of stores, the number of its latest. */
  lastUse: number
  /** What other threads are doing with it, or is still to be done when they have. */
  busy: number
}

/** How long reads share a state of a store that nobody writes to. */
const stateHeldMs = 50

export interface OpenStoresOptions {
  /** As many are kept open. */
  readonly max: number
  readonly files: KnownFiles
  /** Whether stores can be evicted: on a disk that is full they might not open again. */
  readonly mayRelease: () => boolean
  /** Has other threads close a store, after this one has. */
  readonly release: (file: string) => Promise<void>
}

export class OpenStores {
  readonly #options: OpenStoresOptions
  /** By the ids of their targets. */
  readonly #stores = new Map<string, OpenStore>()
  readonly #cache = new SharedCache(readerCache)
  #uses = 0
  #releasing: Promise<void> | undefined
  /** How many other threads have not closed yet. */
  #leaving = 0
  #endOfReads: NodeJS.Timeout | undefined

  constructor(options: OpenStoresOptions) {
    this.#options = options
  }

  get size(): number {
    return this.#stores.size
  }

  /** The store of a target if it is open, for those who only look at it. */
  find({ uid }: StoredTarget): OpenStore | undefined {
    return this.#stores.get(uid)
  }

  /** The store of a target, which is as given; undefined when it is not open. */
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

  /** Fails as reads and writes do. */
  open(target: StoredTarget, file: string, kind: 'read' | 'write'): OpenStore {
    const { files } = this.#options
    const view = viewOf(target)
    const kept = target.kind === 'collection' ? new KeptRows() : undefined
    const reader = files.open(file, kind, () => new StoreReader(file, view, kept))
    const lastUse = ++this.#uses
    const store = { file, target, writeView: view, reader, lastUse, busy: 0 }
    this.#stores.set(target.uid, store)
    this.#cache.add(reader)
    this.#releaseSoon()
    return store
  }

  /** Keeps a store open while other threads work on it. */
  async keeping<T>(store: OpenStore, act: () => Promise<T>): Promise<T> {
    this.begin(store)
    try {
      return await act()
    } finally {
      this.end(store)
    }
  }

  /** The same for what has a beginning and an end. */
  begin(store: OpenStore): void {
    store.busy++
  }

  end(store: OpenStore): void {
    if (--store.busy === 0) this.#releaseSoon()
  }

  /** Resolves when what is being evicted has been. */
  async released(): Promise<void> {
    await this.#releasing
  }

  /** Resolves when another may be opened: at once, unless too many are being evicted. */
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
    // Not before the caller that asked for a store has begun to use it.
    this.#releasing = setImmediate()
      .then(() => this.#release())
      .finally(() => {
        this.#releasing = undefined
        // Others were opened, or are no longer in use, since.
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
    // A thread that has died has closed its stores as well.
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

  /** Returns what they were the stores of. */
  closeAll(): StoredTarget[] {
    const targets = Array.from(this.#stores.values(), ({ target }) => target)
    for (const target of targets) this.close(target)
    return targets
  }

  /** While more are open than should be: the one that can best be spared. */
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
   * Reads share a state of the store until something is written, which spares them its
   * locks. A write ends it, so that nobody reads an older state after the write was
   * answered; so does time, because a state that is held keeps the log from being emptied.
   */
  beginRead(store: OpenStore): void {
    store.reader.store.beginRead()
    this.#endOfReads ??= setTimeout(() => {
      this.#endOfReads = undefined
      for (const { reader } of this.#stores.values()) reader.store.endRead()
    }, stateHeldMs).unref()
  }
}
