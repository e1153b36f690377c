/**
 * Builds an index with codes of another width from the stored vectors, beside the index in use. So
 * searches never wait for a conversion.
 */
import { centerOf } from '../../../search/vector/code-width.ts'
import type { SegmentShape } from '../../../search/vector/segment.ts'
import { VectorIndex } from '../../../search/vector/vector-index.ts'
import type { VectorFeed } from './feed.ts'

/** Vectors whose mean is the center of short codes. */
const centerSample = 1000
/** Vectors that are read, or linked, in one step: about a millisecond. */
const readAtOnce = 20
const linkedAtOnce = 4

/** An empty index of this shape for the vectors of a store. */
export function emptyIndex(shape: SegmentShape, feed: VectorFeed): VectorIndex {
  const { bits, metric, dimension } = shape
  return bits === 8
    ? VectorIndex.create(shape)
    : VectorIndex.create(shape, centerOf(feed.sample(centerSample), metric, dimension))
}

export class Conversion {
  readonly index: VectorIndex
  readonly #feed: VectorFeed
  /** The document that was read last. */
  #last = 0
  #isRead = false

  constructor(shape: SegmentShape, feed: VectorFeed) {
    this.#feed = feed
    this.index = emptyIndex(shape, feed)
  }

  /**
   * Applies a change of the old index to the new one. Vectors that are not read yet are skipped:
   * when they are read, the store has the change.
   */
  put(document: number, vector: Float32Array | undefined): void {
    if (this.#isRead || document <= this.#last) this.index.put(document, vector)
  }

  /**
   * Does a small part; returns whether the new index can replace one with this number of pending
   * vectors. The store may be newer than both indexes: then its feed repeats the changes.
   */
  work(pendingMax: number): boolean {
    if (!this.#isRead) {
      const rows = this.#feed.vectorsAfter(this.#last, readAtOnce)
      for (const [document, vector] of rows) this.index.put(document, vector)
      this.#last = rows.at(-1)?.[0] ?? this.#last
      this.#isRead = rows.length === 0
      return false
    }
    for (let i = 0; i < linkedAtOnce && this.index.work(); i++);
    return this.index.pendingCount <= pendingMax
  }
}
