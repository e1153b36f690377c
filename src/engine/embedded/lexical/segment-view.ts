/** A segment as one state of the store has it: some of its documents may have changed since. */
import type { BestScores } from './best-scores.ts'
import type { TextSegment } from './segment.ts'

export class SegmentView {
  readonly segment: TextSegment
  /** By place: 1 for documents that later segments have anew, or that are gone. */
  readonly #replaced: Uint8Array | undefined
  /** Documents that wait. */
  readonly #waiting: ReadonlySet<number>

  constructor(
    segment: TextSegment,
    replaced: Uint8Array | undefined,
    waiting: ReadonlySet<number>,
  ) {
    this.segment = segment
    this.#replaced = replaced
    this.#waiting = waiting
  }

  /** The document at a place, if what the segment says of it holds. */
  seqAt(place: number): number | undefined {
    if (this.#replaced !== undefined && this.#replaced[place] === 1) return undefined
    const seq = this.segment.documents.seqAt(place)
    return this.#waiting.has(seq) ? undefined : seq
  }

  addTo(best: BestScores, place: number, score: number): void {
    const seq = this.seqAt(place)
    if (seq !== undefined) best.add(seq, score)
  }
}

/** Notes which documents of a segment a later one has anew. */
export function markReplaced(
  segment: TextSegment,
  later: TextSegment,
  replaced: Uint8Array | undefined,
): Uint8Array | undefined {
  let marks = replaced
  for (const seq of later.replaced) {
    const place = segment.documents.placeOf(seq)
    if (place < 0) continue
    marks ??= new Uint8Array(segment.documents.size)
    marks[place] = 1
  }
  return marks
}

/** Says of each segment which documents later ones have replaced. They come oldest first. */
export function replacedIn(
  segments: readonly TextSegment[],
): readonly (Uint8Array | undefined)[] {
  return segments.map((segment, i) =>
    segments
      .slice(i + 1)
      .reduce<Uint8Array | undefined>(
        (marks, later) => markReplaced(segment, later, marks),
        undefined,
      ),
  )
}
