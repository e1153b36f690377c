/** Memory for the pages of files, which all stores that a thread has open share. */

/** A connection to a store, as far as this is concerned. */
export interface Sharing {
  /** Pages are kept in as many kilobytes at most. */
  setCache(kilobytes: number): void
}

/** In kilobytes. */
export interface CacheSize {
  readonly all: number
  readonly eachMax: number
  readonly eachMin: number
}

/** For a thread that writes: enough for the indexes that a large insert changes. */
export const writerCache: CacheSize = { all: 262_144, eachMax: 131_072, eachMin: 512 }

/** For a thread that reads: most of what it reads is mapped instead. */
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

  /** By powers of two, so that it does not happen with every store that comes or goes. */
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
