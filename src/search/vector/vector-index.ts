/**
 * All vectors of a collection: one segment, and further segments when its memory is full. The
 * writing thread has a VectorIndex; searching threads have VectorViews of it.
 */
import type { CodeBits } from './code-width.ts'
import {
  Segment,
  type FoundDocuments,
  type DocumentTest,
  type SegmentShape,
  type SharedSegment,
} from './segment.ts'

/** Nodes per step of a repair: about a millisecond. */
const repairStep = 256
/**
 * A repair starts when 1 / `repairShare` of the vectors was removed, and at least `repairMin`
 * vectors.
 */
const repairShare = 10
const repairMin = 100

export class VectorIndex {
  readonly #shape: SegmentShape
  readonly #segments: Segment[]
  readonly #center: Float32Array | undefined

  private constructor(
    shape: SegmentShape,
    segments: readonly Segment[],
    center: Float32Array | undefined,
  ) {
    this.#shape = shape
    this.#segments = [...segments]
    this.#center = center
  }

  /** An index without vectors. Short codes are relative to the center. */
  static create(shape: SegmentShape, center?: Float32Array): VectorIndex {
    return new VectorIndex(shape, [], center)
  }

  /** An index with saved segments, at least one. */
  static restore(segments: readonly Segment[]): VectorIndex {
    const [first] = segments
    return new VectorIndex(first!.shape, segments, first!.center)
  }

  /** Bits per number of the codes. */
  get bits(): CodeBits {
    return this.#shape.bits
  }

  /** Number of vectors that are not linked into a graph yet. */
  get pendingCount(): number {
    return this.#segments.reduce((sum, { pendingCount }) => sum + pendingCount, 0)
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

  /** Replaces the vector of a document; undefined removes it. */
  put(document: number, vector: Float32Array | undefined): void {
    for (const segment of this.#segments) if (segment.remove(document)) break
    if (vector === undefined) return
    // The newest segment usually has room; older segments have room if vectors were removed.
    for (let i = this.#segments.length - 1; i >= 0; i--)
      if (this.#segments[i]!.add(document, vector)) return
    const segment = Segment.create(this.#shape, this.#center)
    segment.add(document, vector)
    this.#segments.push(segment)
  }

  /** Does a small part of the pending work; false when nothing is left. */
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

/** An index in the form that is passed between threads. */
export type SharedIndex = readonly SharedSegment[]

/** A document that may be among the closest, with the distance of its code to the query. */
export interface Candidate {
  readonly document: number
  readonly distance: number
}

/**
 * Maximum vectors for which a search is a scan: a scan is then as fast as a walk, and misses no
 * vector.
 */
export const scanMax = 10_000
/**
 * Like `scanMax`, for searches with a filter: a scan tests each document, so it takes longer.
 */
const scanMatchingMax = 1_000

export class VectorView {
  readonly #segments: readonly Segment[]
  #remembered: string | undefined

  /** `thread`: number of the searching thread, from 1. */
  constructor(index: SharedIndex, thread: number) {
    this.#segments = index.map((segment) => Segment.attach(segment, thread))
  }

  get count(): number {
    return this.#segments.reduce((sum, { liveCount }) => sum + liveCount, 0)
  }

  /** About `breadth` candidates, closest first by their codes. */
  search(query: Float32Array, breadth: number): Candidate[] {
    const isSmall = this.count <= scanMax
    return this.#merge((segment) =>
      isSmall ? segment.scanAll(query, breadth) : segment.search(query, breadth),
    )
  }

  /**
   * Like `search`, for documents that match. Results of `matches` are cached as long as successive
   * searches pass the same `name` for the filter.
   */
  searchMatching(
    query: Float32Array,
    breadth: number,
    matches: DocumentTest,
    name: string,
  ): Candidate[] {
    this.#remember(name)
    const isSmall = this.count <= scanMatchingMax
    return this.#merge((segment) =>
      isSmall
        ? segment.scanAll(query, breadth, matches)
        : segment.search(query, breadth, matches),
    )
  }

  /**
   * Like `search`, but compares every vector: a walk misses vectors that no link leads to, and may
   * end early during writes.
   */
  scanAll(query: Float32Array, breadth: number): Candidate[] {
    return this.#merge((segment) => segment.scanAll(query, breadth))
  }

  /**
   * Like `scanAll`, but for documents that match. Results of `matches` are cached by the `name` of
   * the filter.
   */
  scanMatching(
    query: Float32Array,
    breadth: number,
    matches: DocumentTest,
    name: string,
  ): Candidate[] {
    this.#remember(name)
    return this.#merge((segment) => segment.scanAll(query, breadth, matches))
  }

  /** Drops the cached results of `matches` if they are from another filter or no longer valid. */
  #remember(name: string): void {
    // A reused node may hold another document, so a changed `takenCount` invalidates the results.
    const taken = this.#segments.map(({ takenCount }) => takenCount)
    const known = `${taken.join()} ${name}`
    if (this.#remembered !== known) for (const segment of this.#segments) segment.forget()
    this.#remembered = known
  }

  /** Like `search`, but compares the given documents only. */
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
