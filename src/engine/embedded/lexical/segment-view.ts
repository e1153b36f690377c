/**
 * A segment as a reader sees it. Postings of documents that have changed since the segment was
 * written are void. Void postings never become valid again, so marks are only added.
 */
import type { TopScores } from './top-scores.ts'
import type { Budget } from '../store/budget.ts'
import { PostingCursor } from './cursor.ts'
import { keep } from './list-cache.ts'
import { Postings } from './postings.ts'
import type { List, TextSegment } from './segment.ts'

export class SegmentView {
  readonly segment: TextSegment
  /** Marks by place: 1 for a void document. */
  #marks: Uint8Array | undefined
  /** Places of void documents, in the order in which they became void. */
  readonly #voids: number[] = []
  /** Cached counts by term: `count` of the first `upTo` void documents have the term. */
  readonly #counted = new Map<number, { readonly upTo: number; readonly count: number }>()

  constructor(segment: TextSegment) {
    this.segment = segment
  }

  /** Marks the postings of a document in this segment, if any, as void. */
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

  /** Place of a document; -1 when it is void or not in the segment. */
  placeOf(seq: number): number {
    const place = this.segment.documents.placeOf(seq)
    return place >= 0 && this.#marks?.[place] === 1 ? -1 : place
  }

  /** Document at a place; undefined when it is void. */
  seqAt(place: number): number | undefined {
    return this.#marks?.[place] === 1 ? undefined : this.segment.documents.seqAt(place)
  }

  /** Number of documents that have a term and are not void. */
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

  /** Number of void documents in a list. Decodes the whole list. */
  #voidsIn(list: List): number {
    const postings = new Postings(list.size)
    this.segment.decode(list, postings)
    let count = 0
    for (let i = 0; i < postings.size; i++)
      if (this.#marks![postings.places[i]!] === 1) count++
    return count
  }

  /**
   * Number of documents in `list` that are among `#voids` from index `from` on. Looks up each of
   * these documents instead of decoding the whole list.
   */
  #countVoids(list: List, from: number): number {
    const places = Uint32Array.from(this.#voids.slice(from)).sort()
    const found = { places, slots: new Uint32Array(places.length), size: places.length }
    new PostingCursor(this.segment, list).keep(found, new Uint32Array(places.length))
    return found.size
  }

  addTo(best: TopScores, place: number, score: number): void {
    const seq = this.seqAt(place)
    if (seq !== undefined) best.add(seq, score)
  }
}

/** Number of void documents that are looked up in the time of an index lookup. */
const voidsAtOnce = 64

/** Bytes of memory per cached count. */
const countedSize = 120

/** Views of segments, oldest first; documents that later segments replace are void. */
export function viewsOf(segments: readonly TextSegment[]): readonly SegmentView[] {
  return segments.map((segment, i) => {
    const view = new SegmentView(segment)
    for (const { replaced } of segments.slice(i + 1))
      for (const seq of replaced) view.markVoid(seq)
    return view
  })
}
