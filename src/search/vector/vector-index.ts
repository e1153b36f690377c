/**
 * All vectors of a collection: one segment, or several when a memory is full. The thread
 * that changes the index has a VectorIndex; those that search have VectorViews of it.
 */
import {
  Segment,
  type FoundDocuments,
  type DocumentTest,
  type SegmentShape,
  type SharedSegment,
} from './segment.ts'

/** How many nodes are mended at a time: about a millisecond. */
const repairStep = 256
/** Repair begins when one vector in so many was removed, and at least so many were. */
const repairShare = 10
const repairMin = 100

export class VectorIndex {
  readonly #shape: SegmentShape
  readonly #segments: Segment[]

  /** Starts empty, or from segments that were saved. */
  constructor(shape: SegmentShape, segments: readonly Segment[] = []) {
    this.#shape = shape
    this.#segments = [...segments]
  }

  get segments(): readonly Segment[] {
    return this.#segments
  }

  get count(): number {
    return this.#segments.reduce((sum, { liveCount }) => sum + liveCount, 0)
  }

  /** Bytes in use. */
  get size(): number {
    return this.#segments.reduce((sum, { size }) => sum + size, 0)
  }

  /** Makes this the vector of a document; undefined: it has none any more. */
  put(document: number, vector: Float32Array | undefined): void {
    for (const segment of this.#segments) if (segment.remove(document)) break
    if (vector === undefined) return
    // The newest has room as a rule; older ones where vectors were removed.
    for (let i = this.#segments.length - 1; i >= 0; i--)
      if (this.#segments[i]!.add(document, vector)) return
    const segment = Segment.create(this.#shape)
    segment.add(document, vector)
    this.#segments.push(segment)
  }

  /** Does a little of what is left to do; false when nothing is. */
  work(): boolean {
    for (const segment of this.#segments)
      if (segment.linkNext() || this.#repair(segment)) return true
    return false
  }

  #repair(segment: Segment): boolean {
    const { deletedCount, liveCount, isRepairing } = segment
    if (!isRepairing && deletedCount < Math.max(repairMin, liveCount / repairShare))
      return false
    segment.repair(repairStep)
    return true
  }
}

/** An index as it goes from one thread to another. */
export type SharedIndex = readonly SharedSegment[]

/** A document that may be among the nearest, and how far its code is from the query. */
export interface Candidate {
  readonly document: number
  readonly distance: number
}

/** Below this many vectors, looking at each is as fast as walking, and misses none. */
export const scanMax = 10_000
/** The same where each has to be asked whether it matches. */
const scanMatchingMax = 1_000

export class VectorView {
  readonly #segments: readonly Segment[]
  #remembered: string | undefined

  /** `thread` is the number of the searching thread, from 1. */
  constructor(index: SharedIndex, thread: number) {
    this.#segments = index.map((segment) => Segment.attach(segment, thread))
  }

  get count(): number {
    return this.#segments.reduce((sum, { liveCount }) => sum + liveCount, 0)
  }

  /** About `breadth` candidates, nearest first by their codes. */
  search(query: Float32Array, breadth: number): Candidate[] {
    const isSmall = this.count <= scanMax
    return this.#merge((segment) =>
      isSmall ? segment.scanAll(query, breadth) : segment.search(query, breadth),
    )
  }

  /**
   * As `search`, among the documents that match. What was asked stays known while searches
   * come with the same name for what matches.
   */
  searchMatching(
    query: Float32Array,
    breadth: number,
    matches: DocumentTest,
    name: string,
  ): Candidate[] {
    // A place that changed hands may hold a document that was never asked about.
    const taken = this.#segments.map(({ takenCount }) => takenCount)
    const known = `${taken.join()} ${name}`
    if (this.#remembered !== known) for (const segment of this.#segments) segment.forget()
    this.#remembered = known
    const isSmall = this.count <= scanMatchingMax
    return this.#merge((segment) =>
      isSmall
        ? segment.scanAll(query, breadth, matches)
        : segment.search(query, breadth, matches),
    )
  }

  /** As the above, but each document is looked at: a walk may end early while others write. */
  scanAll(query: Float32Array, breadth: number, matches?: DocumentTest): Candidate[] {
    for (const segment of this.#segments) segment.forget()
    this.#remembered = undefined
    return this.#merge((segment) => segment.scanAll(query, breadth, matches))
  }

  /** As `search`, among some documents: each of them is looked at. */
  scan(query: Float32Array, breadth: number, documents: Float64Array): Candidate[] {
    return this.#merge((segment) => segment.scan(query, breadth, documents))
  }

  #merge(search: (segment: Segment) => FoundDocuments): Candidate[] {
    const candidates: Candidate[] = []
    for (const segment of this.#segments) {
      const found = search(segment)
      for (let i = 0; i < found.length; i += 2)
        candidates.push({ document: found[i]!, distance: found[i + 1]! })
    }
    return this.#segments.length === 1
      ? candidates
      : candidates.sort((a, b) => a.distance - b.distance)
  }
}
