/**
 * Documents of a segment that have all of some terms. The rarest term leads, block by block;
 * the blocks of the others are taken apart only where they may hold what is left.
 *
 * Where only the best are wanted, a block is passed over when what it and those of the other
 * terms beside it can reach together is not enough: Ding and Suel, "Faster top-k document
 * retrieval using block-max indexes" (2011).
 */
import type { Budget } from '../plan/budget.ts'
import type { BestScores } from './best-scores.ts'
import { blockSize } from './blocks.ts'
import { emptyPlaces, type FoundPlaces, type PostingCursor } from './cursor.ts'
import { isTooLow, knownPlace, type TermScores } from './scores.ts'
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
  const { places, counts, blocks } = cursor
  for (let block = 0; block < blocks; block++) {
    let { floor } = best
    if (floor > 0 && isTooLow(cursor.bound(block, scores), floor)) continue
    budget.spend(0)
    cursor.load(block)
    const { size } = cursor
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
  const group = new Group(view, terms, blockSize)
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
    group.note(lead!, cursor.counts)
    group.dropBelow(floor, bounds[0]!)
    for (let i = 0; i < others.length && group.size > 0; i++) {
      group.keep(others[i]!)
      group.dropBelow(floor, bounds[i + 1]!)
    }
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
  const group = new Group(view, terms, sliceSize)
  for (let at = 0; at < among.length; at += sliceSize) {
    budget.spend(0)
    const slice = among.subarray(at, at + sliceSize)
    group.start(slice, slice.length)
    for (const term of bySize(terms)) if (group.size > 0) group.keep(term)
    group.scoreInto(best)
  }
}

function bySize(terms: readonly ScoredTerm[]): ScoredTerm[] {
  return terms.toSorted((a, b) => a.cursor.list.size - b.cursor.list.size)
}

const sliceSize = 1024

/** Some documents, with what each of the terms adds to their scores. */
class Group {
  readonly #view: SegmentView
  readonly #found: FoundPlaces
  /** What each term adds, by the slots of documents, in the order of the query. */
  readonly #parts: ReadonlyMap<ScoredTerm, Float64Array>
  /** What was added so far, in any order. */
  readonly #sums: Float64Array
  readonly #counts: Uint32Array

  constructor(view: SegmentView, terms: readonly ScoredTerm[], sizeMax: number) {
    this.#view = view
    this.#found = emptyPlaces(sizeMax)
    this.#parts = new Map(terms.map((term) => [term, new Float64Array(sizeMax)]))
    this.#sums = new Float64Array(sizeMax)
    this.#counts = new Uint32Array(sizeMax)
  }

  get size(): number {
    return this.#found.size
  }

  start(places: Uint32Array, size: number): void {
    const found = this.#found
    for (let i = 0; i < size; i++) {
      found.places[i] = places[i]!
      found.slots[i] = i
    }
    found.size = size
    this.#sums.fill(0, 0, size)
  }

  /** Keeps what has the term. */
  keep(term: ScoredTerm): void {
    term.cursor.keep(this.#found, this.#counts)
    this.note(term, this.#counts)
  }

  /** Notes what a term adds to all that are left, which have it so often. */
  note(term: ScoredTerm, counts: Uint32Array): void {
    const { places, slots, size } = this.#found
    const parts = this.#parts.get(term)!
    const sums = this.#sums
    const { scores } = term
    const { known } = scores
    const { segment } = this.#view
    const { lengths } = segment
    for (let i = 0; i < size; i++) {
      const place = places[i]!
      const count = counts[i]!
      const part =
        known[knownPlace(count, lengths[place]!)]! ||
        scores.of(count, segment.lengthAt(place))
      parts[slots[i]!] = part
      sums[slots[i]!]! += part
    }
  }

  /** Drops what cannot be among the best, whatever the other terms add. */
  dropBelow(floor: number, boundOfRest: number): void {
    if (floor === 0) return
    const { places, slots, size } = this.#found
    const sums = this.#sums
    let kept = 0
    for (let i = 0; i < size; i++) {
      const slot = slots[i]!
      if (isTooLow(sums[slot]! + boundOfRest, floor)) continue
      places[kept] = places[i]!
      slots[kept++] = slot
    }
    this.#found.size = kept
  }

  /** To be called when all terms were noted. */
  scoreInto(best: BestScores): void {
    const { places, slots, size } = this.#found
    for (let i = 0; i < size; i++) {
      // In the order of the query: a sum of floats depends on it.
      let score = 0
      for (const parts of this.#parts.values()) score += parts[slots[i]!]!
      if (score >= best.floor) this.#view.addTo(best, places[i]!, score)
    }
  }
}
