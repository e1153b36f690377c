/** Page cache of SQLite that all stores opened by a thread share. */

/** A connection whose page cache can be resized. */
export interface Sharing {
  /** Sets the maximum size of the page cache in kilobytes. */
  setCache(kilobytes: number): void
}

/** Sizes in kilobytes: of all connections together, and the limits of each connection. */
export interface CacheSize {
  readonly all: number
  readonly eachMax: number
  readonly eachMin: number
}

/** Cache of a thread that writes: holds the indexes that a large insert changes. */
export const writerCache: CacheSize = { all: 262_144, eachMax: 131_072, eachMin: 512 }

/** Cache of a thread that reads: small, because most reads are memory-mapped. */
export const readerCache: CacheSize = { all: 65_536, eachMax: 16_384, eachMin: 256 }

export class SharedCache {
  readonly #size: CacheSize
  readonly #sharing = new Set<Sharing>()
  #share: number

  constructor(size: CacheSize) {
    this.#size = size
    this.#share = size.eachMax
  }

  add(one: Sharing): void {
    this.#sharing.add(one)
    if (!this.#isDividedAnew()) one.setCache(this.#share)
  }

  remove(one: Sharing): void {
    if (this.#sharing.delete(one)) this.#isDividedAnew()
  }

  /**
   * Divides the cache by a power of two, so that shares change only when the number of stores
   * doubles or halves. Returns whether the shares have changed.
   */
  #isDividedAnew(): boolean {
    const parts = 2 ** Math.ceil(Math.log2(Math.max(1, this.#sharing.size)))
    const { all, eachMax, eachMin } = this.#size
    const share = Math.max(eachMin, Math.min(eachMax, Math.floor(all / parts)))
    if (share === this.#share) return false
    this.#share = share
    for (const one of this.#sharing) one.setCache(share)
    return true
  }
}
