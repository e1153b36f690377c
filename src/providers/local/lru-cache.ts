/** Least-recently-used cache with a maximum total weight. */
export class LruCache<V> {
  readonly #weightMax: number
  readonly #weightOf: (value: V) => number
  readonly #entries = new Map<string, V>()
  #weight = 0

  constructor(weightMax: number, weightOf: (value: V) => number = () => 1) {
    this.#weightMax = weightMax
    this.#weightOf = weightOf
  }

  get(key: string): V | undefined {
    const value = this.#entries.get(key)
    if (value === undefined) return undefined
    // A Map preserves insertion order, so the oldest entry comes first.
    this.#entries.delete(key)
    this.#entries.set(key, value)
    return value
  }

  set(key: string, value: V): void {
    this.#delete(key)
    this.#entries.set(key, value)
    this.#weight += this.#weightOf(value)
    for (const oldest of this.#entries.keys()) {
      if (this.#weight <= this.#weightMax) break
      this.#delete(oldest)
    }
  }

  #delete(key: string): void {
    const value = this.#entries.get(key)
    if (value === undefined) return
    this.#entries.delete(key)
    this.#weight -= this.#weightOf(value)
  }
}
