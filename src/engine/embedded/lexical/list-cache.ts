/**
 * Cache of rows, posting lists and counts of segments: one per thread, for all stores. Segments
 * never change and their numbers are not reused, so entries are never invalidated. The oldest
 * entries are evicted first.
 */

/** Maximum size in bytes. */
const sizeMax = 32 * 1024 * 1024

interface Kept {
  readonly owner: Map<number, unknown>
  readonly key: number
  readonly size: number
}

let kept: Kept[] = []
/** Index of the oldest entry in `kept`; the entries before it were evicted. */
let oldest = 0
let keptSize = 0

/** Adds an entry of `size` bytes to a map. Its eviction deletes it from the map. */
export function keep<T>(owner: Map<number, T>, key: number, value: T, size: number): void {
  owner.set(key, value)
  kept.push({ owner, key, size })
  keptSize += size
  while (keptSize > sizeMax && oldest < kept.length - 1) {
    const gone = kept[oldest++]!
    gone.owner.delete(gone.key)
    keptSize -= gone.size
  }
  if (oldest > 1024 && oldest * 2 > kept.length) {
    kept = kept.slice(oldest)
    oldest = 0
  }
}
