/**
 * A segment as a reader sees it: some of its documents may have changed since, and then what it
 * says of them is void. What is void stays so, so more of it is noted as time goes by.
 */
import type { BestScores } from './best-scores.ts'
import type { Budget } from '../store/budget.ts'
import { PostingCursor } from './cursor.ts'
import { keep } from './list-cache.ts'
import { Postings } from './postings.ts'
import type { List, TextSegment } from './segment.ts'

export class SegmentView {
  readonly segment: TextSegment
  /** By place: 1 for documents that are void. */
  #marks: Uint8Array | undefined
  /** Their places, as they became so. */
  readonly #voids: number[] = []
  /** By term: how many of the first voids have it. */
  readonly #counted = new Map<number, { readonly upTo: number; readonly count: number }>()

  constructor(segment: TextSegment) {
    this.segment = segment
  }

  /** What the segment says of a document is void, if it says something. */
  markVoid(seq: number): void {
    const { documents } = this.segment
    if (seq > documents.last) return
    const place = documents.placeOf(seq)
    if (place < 0) return
    this.#marks ??= new Uint8Array(documents.size)
    if (this.#marks[place] === 1) return
    this.#marks[place] = 1
    this.#voids.push(place)
  }

  /** Where a document stands, if what the segment says of it holds; -1 otherwise. */
  placeOf(seq: number): number {
    const place = this.segment.documents.placeOf(seq)
    return place >= 0 && this.#marks?.[place] === 1 ? -1 : place
  }

  /** The document at a place, if what the segment says of it holds. */
  seqAt(place: number): number | undefined {
    return this.#marks?.[place] === 1 ? undefined : this.segment.documents.seqAt(place)
  }

  /** How many documents have a term, by its list. */
  countOf(term: number, list: List, budget: Budget): number {
    const voids = this.#voids.length
    if (voids === 0) return list.size
    const { upTo, count } = this.#counted.get(term) ?? { upTo: 0, count: 0 }
    if (upTo === voids) return list.size - count
    const isShort = list.size < voids - upTo
    budget.spend(Math.ceil(Math.min(list.size, voids - upTo) / voidsAtOnce))
    const found = isShort ? this.#voidsIn(list) : count + this.#countVoids(list, upTo)
    keep(this.#counted, term, { upTo: voids, count: found }, countedSize)
    return list.size - found
  }

  /** Goes through the documents of a list. */
  #voidsIn(list: List): number {
    const postings = new Postings(list.size)
    this.segment.decode(list, postings)
    let count = 0
    for (let i = 0; i < postings.size; i++)
      if (this.#marks![postings.places[i]!] === 1) count++
    return count
  }

  /** Looks up the voids from one on. */
  #countVoids(list: List, from: number): number {
    const places = Uint32Array.from(this.#voids.slice(from)).sort()
    const found = { places, slots: new Uint32Array(places.length), size: places.length }
    new PostingCursor(this.segment, list).keep(found, new Uint32Array(places.length))
    return found.size
  }

  addTo(best: BestScores, place: number, score: number): void {
    const seq = this.seqAt(place)
    if (seq !== undefined) best.add(seq, score)
  }
}

/** Documents that are looked up in the time of an index lookup. */
const voidsAtOnce = 64

/** Bytes of memory that a count takes. */
const countedSize = 120

/** Views of segments, oldest first, with what later ones have replaced. */
export function viewsOf(segments: readonly TextSegment[]): readonly SegmentView[] {
  return segments.map((segment, i) => {
    const view = new SegmentView(segment)
    for (const { replaced } of segments.slice(i + 1))
      for (const seq of replaced) view.markVoid(seq)
    return view
  })
}
