/** The open stores of a thread, by file. They share one page cache. */
import { SharedCache, type CacheSize, type Sharing } from './shared-cache.ts'

export class StoresByFile<S extends Sharing & { close(): void }> {
  readonly #stores = new Map<string, S>()
  readonly #cache: SharedCache

  constructor(cache: CacheSize) {
    this.#cache = new SharedCache(cache)
  }

  get files(): readonly string[] {
    return [...this.#stores.keys()]
  }

  get(file: string): S | undefined {
    return this.#stores.get(file)
  }

  add(file: string, store: S): S {
    this.#stores.set(file, store)
    this.#cache.add(store)
    return store
  }

  close(file: string): void {
    const store = this.#stores.get(file)
    if (store === undefined) return
    this.#stores.delete(file)
    this.#cache.remove(store)
    store.close()
  }

  closeAll(): void {
    for (const file of this.files) this.close(file)
  }
}
