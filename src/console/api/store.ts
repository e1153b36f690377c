/** An observable value. */
export class Store<T> {
  #value: T
  readonly #watchers = new Set<() => void>()

  constructor(value: T) {
    this.#value = value
  }

  get(): T {
    return this.#value
  }

  set(value: T): void {
    if (Object.is(value, this.#value)) return
    this.#value = value
    for (const watcher of this.#watchers) watcher()
  }

  update(change: (value: T) => T): void {
    this.set(change(this.#value))
  }

  /** Calls the watcher on every change. Returns a function that removes the watcher. */
  watch(watcher: () => void): () => void {
    this.#watchers.add(watcher)
    return () => this.#watchers.delete(watcher)
  }
}
