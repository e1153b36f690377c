/**
 * Documents of a segment that have all of some terms. The rarest term leads, block by block;
 * the blocks of the others are taken apart only where they may hold what is left.
 *
 * Where only the best are wanted, a block is passed over when what it and those of the other
 * terms beside it can reach together is not enough: Ding and Suel, "Faster top-k document
 * retrieval using block-max indexes" (2011).
 */
import type { Budget } from '../store/budget.ts'
import type { BestScores } from './best-scores.ts'
import { blockSize } from './blocks.ts'
import { emptyPlaces, type FoundPlaces, type PostingCursor } from './cursor.ts'
import { isTooLow, knownPlace, lowestSum, type TermScores } from './scores.ts'
import type { SegmentView } from './segment-view.ts'

/** A term in a segment, with where it stands and what it adds. */
export interface ScoredTerm {
  readonly cursor: PostingCursor
  readonly scores: TermScores
}

/** The documents from a place on, some at a time. What it yields holds until the next. */
export function* placesWithAll(
  cursors: readonly PostingCursor[],
  from: number,
  budget: Budget,
): Generator<FoundPlaces> {
  const [lead, ...others] = cursors.toSorted((a, b) => a.list.size - b.list.size)
  const found = emptyPlaces(blockSize)
  const counts = new Uint32Array(blockSize)
  for (let next = from; lead!.next(next); next = lead!.last + 1) {
    budget.spend(cursors.length)
    const { places, size } = lead!
    let start = 0
    while (places[start]! < next) start++
    found.places.set(places.subarray(start, size))
    found.size = size - start
    for (const cursor of others) cursor.keep(found, counts)
    yield found
  }
}

/** Scores all documents, or those `among` some places, as far as they can be among the best. */
export function scoreAll(
  view: SegmentView,
  terms: readonly ScoredTerm[],
  among: Uint32Array | undefined,
  best: BestScores,
  budget: Budget,
): void {
  if (among !== undefined) scoreAmong(view, terms, among, best, budget)
  else if (terms.length === 1) scoreOne(view, terms[0]!, best, budget)
  else scoreSeveral(view, terms, best, budget)
}

function scoreOne(
  view: SegmentView,
  { cursor, scores }: ScoredTerm,
  best: BestScores,
  budget: Budget,
): void {
  const { lengths } = view.segment
  const { known } = scores
  const { places, blocks } = cursor
  for (let block = 0; block < blocks; block++) {
    let { floor } = best
    if (floor > 0 && isTooLow(cursor.bound(block, scores), floor)) continue
    budget.spend(0)
    cursor.load(block)
    const { size, counts } = cursor
    for (let i = 0; i < size; i++) {
      const place = places[i]!
      const count = counts[i]!
      const score =
        known[knownPlace(count, lengths[place]!)]! ||
        scores.of(count, view.segment.lengthAt(place))
      if (score < floor) continue
      view.addTo(best, place, score)
      floor = best.floor
    }
  }
}

function scoreSeveral(
  view: SegmentView,
  terms: readonly ScoredTerm[],
  best: BestScores,
  budget: Budget,
): void {
  const [lead, ...others] = bySize(terms)
  const { cursor, scores } = lead!
  const group = new Group(view, terms)
  /** What the other terms can add, from each on, in the documents of a block. */
  const bounds = new Float64Array(others.length + 1)
  let before = -1
  for (let block = 0; block < cursor.blocks; block++) {
    const last = cursor.lastOf(block)
    const from = before + 1
    before = last
    const { floor } = best
    if (floor > 0) {
      for (let i = others.length - 1; i >= 0; i--) {
        const other = others[i]!
        bounds[i] = bounds[i + 1]! + other.cursor.boundBetween(from, last, other.scores)
      }
      if (isTooLow(cursor.bound(block, scores) + bounds[0]!, floor)) continue
    }
    budget.spend(0)
    cursor.load(block)
    group.start(cursor.places, cursor.size)
    group.note(lead!, cursor.counts, lowestSum(floor, bounds[0]!))
    for (let i = 0; i < others.length && group.size > 0; i++)
      group.keep(others[i]!, lowestSum(floor, bounds[i + 1]!))
    group.scoreInto(best)
  }
}

function scoreAmong(
  view: SegmentView,
  terms: readonly ScoredTerm[],
  among: Uint32Array,
  best: BestScores,
  budget: Budget,
): void {
  const group = new Group(view, terms)
  const inOrder = bySize(terms)
  for (let at = 0; at < among.length; at += sliceSize) {
    budget.spend(0)
    const slice = among.subarray(at, at + sliceSize)
    group.start(slice, slice.length)
    for (const term of inOrder) if (group.size > 0) group.keep(term, 0)
    group.scoreInto(best)
  }
}

/** The rarest first. */
function bySize(terms: readonly ScoredTerm[]): ScoredTerm[] {
  return terms.toSorted((a, b) => a.cursor.list.size - b.cursor.list.size)
}

/** Documents that are scored at a time. */
const sliceSize = 1024

/**
 * Some documents, with what each of the terms adds to their scores. There is one at a time: what
 * it works with is made once.
 */
class Group {
  readonly #view: SegmentView
  readonly #terms: readonly ScoredTerm[]

  constructor(view: SegmentView, terms: readonly ScoredTerm[]) {
    this.#view = view
    this.#terms = terms
    while (parts.length < terms.length) parts.push(new Float64Array(sliceSize))
  }

  get size(): number {
    return found.size
  }

  start(places: Uint32Array, size: number): void {
    for (let i = 0; i < size; i++) {
      found.places[i] = places[i]!
      found.slots[i] = i
      sums[i] = 0
    }
    found.size = size
  }

  /** Keeps what has the term, and can be among the best with it. */
  keep(term: ScoredTerm, sumMin: number): void {
    term.cursor.keep(found, keptCounts)
    this.note(term, keptCounts, sumMin)
  }

  /**
   * Notes what a term adds to all that are left, which have it so often, and drops those whose
   * sums are too low then.
   */
  note(term: ScoredTerm, counts: Uint32Array, sumMin: number): void {
    const { places, slots, size } = found
    const own = parts[this.#terms.indexOf(term)]!
    const { scores } = term
    const { known } = scores
    const { segment } = this.#view
    const { lengths } = segment
    let kept = 0
    for (let i = 0; i < size; i++) {
      const place = places[i]!
      const count = counts[i]!
      const slot = slots[i]!
      const part =
        known[knownPlace(count, lengths[place]!)]! ||
        scores.of(count, segment.lengthAt(place))
      const sum = sums[slot]! + part
      own[slot] = part
      sums[slot] = sum
      places[kept] = place
      slots[kept] = slot
      // Nobody can guess which are kept, so no step depends on it.
      kept = (kept + Number(sum >= sumMin)) | 0
    }
    found.size = kept
  }

  /** To be called when all terms were noted. */
  scoreInto(best: BestScores): void {
    const { places, slots, size } = found
    const terms = this.#terms.length
    for (let i = 0; i < size; i++) {
      const slot = slots[i]!
      // In the order of the query: a sum of floats depends on it.
      let score = 0
      for (let term = 0; term < terms; term++) score += parts[term]![slot]!
      if (score >= best.floor) this.#view.addTo(best, places[i]!, score)
    }
  }
}

/** The documents of the group that are left. */
const found = emptyPlaces(sliceSize)
/** What each term adds, by the slots of documents, in the order of the query. */
const parts: Float64Array[] = []
/** What was added so far, in any order. */
const sums = new Float64Array(sliceSize)
const keptCounts = new Uint32Array(sliceSize)
