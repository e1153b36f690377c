/**
 * Compiled analyzers, by the keys of their definitions. Collections with equal definitions share
 * one. Those that take more bytes together than they may are evicted, the least recently used
 * first. An evicted analyzer is compiled again for the next text.
 */
export class AnalyzerCache<Analyzer> {
  /** Bytes of all, at most. */
  readonly sizeMax: number
  /** In the order of their use, the latest last. */
  readonly #entries = new Map<string, Entry<Analyzer>>()
  #latest: string | undefined
  #size = 0
  #loads = 0

  constructor(sizeMax: number) {
    this.sizeMax = sizeMax
  }

  /** Bytes of those that it holds. */
  get size(): number {
    return this.#size
  }

  /** Analyzers that were added so far. */
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
    for (const oldest of this.#entries.keys()) {
      if (this.#size + size <= this.sizeMax) break
      this.#remove(oldest)
    }
    this.#entries.set(key, { analyzer, size })
    this.#latest = key
    this.#size += size
    this.#loads++
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
