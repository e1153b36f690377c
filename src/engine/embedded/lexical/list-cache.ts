/**
 * What a thread has read of segments, of all stores together, kept as long as there is room.
 * Segments never change and their numbers are not used again, so what was read once holds.
 */

/** Bytes that are kept. */
const sizeMax = 32 * 1024 * 1024

interface Kept {
  readonly owner: Map<number, unknown>
  readonly key: number
  readonly size: number
}

let kept: Kept[] = []
/** Those before it are gone. */
let oldest = 0
let keptSize = 0

/** Puts something into a map, from which it goes when there is no room for it any more. */
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
