/**
 * Finds the documents of a segment that have all terms of a query. The rarest term leads, block by
 * block; the blocks of the other terms are unpacked only when they may have remaining candidates.
 *
 * When only the best documents are wanted, a block of the rarest term is skipped if its highest
 * score plus the highest scores of the other terms among the same places cannot reach the lowest
 * wanted score: Ding and Suel, "Faster top-k document retrieval using block-max indexes" (2011).
 */
import type { Budget } from '../store/budget.ts'
import type { TopScores } from './top-scores.ts'
import { blockSize } from './blocks.ts'
import { emptyPlaces, type FoundPlaces, type PostingCursor } from './cursor.ts'
import { isTooLow, knownPlace, lowestSum, type TermScores } from './scores.ts'
import type { SegmentView } from './segment-view.ts'

/** A term in a segment: the cursor over its postings, and its scores. */
export interface ScoredTerm {
  readonly cursor: PostingCursor
  readonly scores: TermScores
}

/**
 * Yields the documents at place `from` or later that have all terms, in batches. A batch is valid
 * until the next batch is requested.
 */
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

/**
 * Scores the documents that have all terms and, if `among` is given, are in `among`. Documents that
 * cannot be among the best may be left out.
 */
export function scoreAll(
  view: SegmentView,
  terms: readonly ScoredTerm[],
  among: Uint32Array | undefined,
  best: TopScores,
  budget: Budget,
): void {
  if (among !== undefined) scoreAmong(view, terms, among, best, budget)
  else if (terms.length === 1) scoreOne(view, terms[0]!, best, budget)
  else scoreSeveral(view, terms, best, budget)
}

function scoreOne(
  view: SegmentView,
  { cursor, scores }: ScoredTerm,
  best: TopScores,
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
  best: TopScores,
  budget: Budget,
): void {
  const [lead, ...others] = bySize(terms)
  const { cursor, scores } = lead!
  const group = new Group(view, terms)
  /**
   * For each index in `others`: the maximum that the terms from this index on can add to a
   * document's score in the block.
   */
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
  best: TopScores,
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

/** The rarest term first. */
function bySize(terms: readonly ScoredTerm[]): ScoredTerm[] {
  return terms.toSorted((a, b) => a.cursor.list.size - b.cursor.list.size)
}

/** Number of documents that are scored at a time. */
const sliceSize = 1024

/**
 * A batch of documents with the score of each term. Only one group is used at a time, because all
 * groups share the buffers below.
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

  /** Keeps the documents that have the term and whose sum is at least `sumMin`. */
  keep(term: ScoredTerm, sumMin: number): void {
    term.cursor.keep(found, keptCounts)
    this.note(term, keptCounts, sumMin)
  }

  /**
   * Adds the score of a term to all remaining documents. `counts` are the counts of the term in
   * these documents. Drops documents whose sum is below `sumMin`.
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
      // Branchless, because the processor cannot predict which documents are kept.
      kept = (kept + Number(sum >= sumMin)) | 0
    }
    found.size = kept
  }

  /** Adds the scored documents to `best`. Must be called after `note` was called for all terms. */
  scoreInto(best: TopScores): void {
    const { places, slots, size } = found
    const terms = this.#terms.length
    for (let i = 0; i < size; i++) {
      const slot = slots[i]!
      // The scores are summed in the order of the query, because a sum of floats depends on the
      // order.
      let score = 0
      for (let term = 0; term < terms; term++) score += parts[term]![slot]!
      if (score >= best.floor) this.#view.addTo(best, places[i]!, score)
    }
  }
}

/** The remaining documents of the group. */
const found = emptyPlaces(sliceSize)
/** Per term, in the order of the query: its scores, by slot of the document. */
const parts: Float64Array[] = []
/** Sum of a document's scores so far, by slot; the scores are added in any order. */
const sums = new Float64Array(sliceSize)
const keptCounts = new Uint32Array(sliceSize)
