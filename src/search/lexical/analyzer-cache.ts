/**
 * Least-recently-used cache of compiled analyzers by the key of their definition, limited by total
 * size. Collections with equal definitions share an analyzer. An evicted analyzer is compiled again
 * for the next text.
 */
export class AnalyzerCache<Analyzer> {
  #sizeMax: number
  /** Entries in order of their last use, the most recent one last. */
  readonly #entries = new Map<string, Entry<Analyzer>>()
  #latest: string | undefined
  #size = 0
  #loads = 0

  constructor(sizeMax: number) {
    this.#sizeMax = sizeMax
  }

  /** Maximum total size in bytes. */
  get sizeMax(): number {
    return this.#sizeMax
  }

  set sizeMax(sizeMax: number) {
    this.#sizeMax = sizeMax
    this.#makeRoom(0)
  }

  /** Total size in bytes. */
  get size(): number {
    return this.#size
  }

  /** Number of analyzers added so far. */
  get loads(): number {
    return this.#loads
  }

  get(key: string): Analyzer | undefined {
    const entry = this.#entries.get(key)
    if (entry !== undefined && key !== this.#latest) {
      this.#entries.delete(key)
      this.#entries.set(key, entry)
      this.#latest = key
    }
    return entry?.analyzer
  }

  add(key: string, analyzer: Analyzer, size: number): void {
    this.#remove(key)
    this.#makeRoom(size)
    this.#entries.set(key, { analyzer, size })
    this.#latest = key
    this.#size += size
    this.#loads++
  }

  clear(): void {
    this.#entries.clear()
    this.#latest = undefined
    this.#size = 0
  }

  #makeRoom(size: number): void {
    for (const oldest of this.#entries.keys()) {
      if (this.#size + size <= this.#sizeMax) return
      this.#remove(oldest)
    }
  }

  #remove(key: string): void {
    const entry = this.#entries.get(key)
    if (entry === undefined) return
    this.#entries.delete(key)
    this.#size -= entry.size
  }
}

interface Entry<Analyzer> {
  readonly analyzer: Analyzer
  readonly size: number
}
