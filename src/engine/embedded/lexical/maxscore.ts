/**
 * Scores the documents that have some terms but not all, unless they cannot be among the best.
 *
 * The algorithm is MaxScore by Turtle and Flood, "Query evaluation: strategies and optimizations"
 * (1995), applied to windows of documents. A term adds less to a score than its weight. Once the
 * wanted number of documents scores higher than the weights of some terms together, a document that
 * has only these terms cannot be among the best. So the postings of these terms are no longer
 * walked, only looked up for candidates of the other terms. If the query is a sentence, these terms
 * are the common words, whose posting lists are long.
 */
import type { Budget } from '../store/budget.ts'
import type { TopScores } from './top-scores.ts'
import type { ScoredTerm } from './conjunction.ts'
import { emptyPlaces, type FoundPlaces } from './cursor.ts'
import { isTooLow } from './scores.ts'
import { firstFrom } from './segment.ts'
import type { SegmentView } from './segment-view.ts'

/** Scores the documents of one segment. */
export class MaxScore {
  readonly #view: SegmentView
  /** Terms in the order of the query, because a sum of floats depends on the order. */
  readonly #terms: readonly ScoredTerm[]
  /** Indexes of the terms by ascending weight. */
  readonly #byBound: readonly number[]
  /**
   * For each index in `byBound`: sum of the weights of the terms up to and including that index.
   */
  readonly #boundUpTo: readonly number[]
  /** Documents that have more terms than this are left out. */
  readonly #termsMax: number
  readonly #best: TopScores
  readonly #budget: Budget
  readonly #windowSize: number
  /** Scores of each term, by slot of the document in the window. */
  readonly #parts: readonly Float64Array[]
  /** Sum of a document's scores so far, by slot; the scores are added in any order. */
  readonly #sums: Float64Array
  /** Slots that have a sum, and their number. */
  readonly #touched: Uint32Array
  #touchedSize = 0
  readonly #candidates: FoundPlaces
  readonly #looked: FoundPlaces
  readonly #counts: Uint32Array

  constructor(
    view: SegmentView,
    terms: readonly ScoredTerm[],
    termsMax: number,
    best: TopScores,
    budget: Budget,
  ) {
    this.#view = view
    this.#terms = terms
    this.#termsMax = termsMax
    const bound = (i: number) => terms[i]!.scores.weight
    this.#byBound = terms.map((_, i) => i).sort((a, b) => bound(a) - bound(b))
    let sum = 0
    this.#boundUpTo = this.#byBound.map((i) => (sum += bound(i)))
    this.#best = best
    this.#budget = budget
    const size = Math.min(4096, Math.max(256, Math.floor(2 ** 18 / terms.length)))
    this.#windowSize = size
    this.#parts = terms.map(() => new Float64Array(size))
    this.#sums = new Float64Array(size)
    this.#touched = new Uint32Array(size)
    this.#candidates = emptyPlaces(size)
    this.#looked = emptyPlaces(size)
    this.#counts = new Uint32Array(size)
  }

  addAll(): void {
    let from = 0
    for (;;) {
      const walked = this.#firstWalked()
      const start = this.#nextDocument(walked, from)
      if (start === Infinity) return
      const end = start + this.#windowSize
      for (let i = walked; i < this.#byBound.length; i++)
        this.#walk(this.#byBound[i]!, start, end)
      this.#chooseTouched(start, this.#boundBelow(walked))
      this.#finish(walked)
      from = end
    }
  }

  /** Scores the given documents, which must be ordered by place. */
  addAmong(documents: Uint32Array): void {
    const { places, slots } = this.#candidates
    for (let at = 0; at < documents.length; at += this.#windowSize) {
      const slice = documents.subarray(at, at + this.#windowSize)
      places.set(slice)
      for (let i = 0; i < slice.length; i++) slots[i] = this.#touched[i] = i
      this.#candidates.size = this.#touchedSize = slice.length
      this.#finish(this.#byBound.length)
    }
  }

  /**
   * First index in `byBound` whose term, together with all terms before it, can reach the lowest
   * wanted score. The postings of the terms at this index and after it are walked.
   */
  #firstWalked(): number {
    let at = 0
    while (at < this.#byBound.length && this.#isTooLow(this.#boundUpTo[at]!)) at++
    return at
  }

  #boundBelow(place: number): number {
    return place === 0 ? 0 : this.#boundUpTo[place - 1]!
  }

  /** Whether a score cannot be among the best. */
  #isTooLow(reachable: number): boolean {
    return isTooLow(reachable, this.#best.floor)
  }

  /**
   * The first place that is at least `from`, in the postings that are walked; Infinity after the
   * last place.
   */
  #nextDocument(walked: number, from: number): number {
    let next = Infinity
    for (let i = walked; i < this.#byBound.length; i++) {
      const { cursor } = this.#terms[this.#byBound[i]!]!
      if (!cursor.next(from)) continue
      const { places, size } = cursor
      next = Math.min(next, places[firstFrom(places, size, from)]!)
    }
    return next
  }

  /** Adds the scores of a term to the documents of a window. */
  #walk(term: number, start: number, end: number): void {
    const { cursor, scores } = this.#terms[term]!
    const parts = this.#parts[term]!
    const sums = this.#sums
    const { segment } = this.#view
    let from = start
    while (from < end && cursor.next(from)) {
      const { places, counts, size, last } = cursor
      let at = firstFrom(places, size, from)
      this.#budget.spend(1)
      for (; at < size && places[at]! < end; at++) {
        const place = places[at]!
        const slot = place - start
        const part = scores.of(counts[at]!, segment.lengthAt(place))
        if (sums[slot] === 0) this.#touched[this.#touchedSize++] = slot
        parts[slot] = part
        sums[slot]! += part
      }
      from = last + 1
    }
  }

  /**
   * Chooses as candidates the documents of a window that can be among the best, by ascending place.
   */
  #chooseTouched(start: number, boundOfRest: number): void {
    const { places, slots } = this.#candidates
    let size = 0
    const take = (slot: number) => {
      if (this.#isTooLow(this.#sums[slot]! + boundOfRest)) return
      places[size] = start + slot
      slots[size++] = slot
    }
    if (this.#touchedSize > this.#windowSize >> 4) {
      for (let slot = 0; slot < this.#windowSize; slot++)
        if (this.#sums[slot] !== 0) take(slot)
    } else
      for (const slot of this.#touched.subarray(0, this.#touchedSize).sort()) take(slot)
    this.#candidates.size = size
  }

  /** Looks up the remaining terms for the candidates, and collects the final scores. */
  #finish(walked: number): void {
    for (let i = walked - 1; i >= 0 && this.#candidates.size > 0; i--) {
      this.#lookUp(this.#byBound[i]!)
      this.#dropBelow(this.#boundBelow(i))
    }
    const { places, slots, size } = this.#candidates
    for (let i = 0; i < size; i++) {
      const slot = slots[i]!
      let score = 0
      let found = 0
      for (const parts of this.#parts) {
        const part = parts[slot]!
        score += part
        if (part > 0) found++
      }
      if (found > 0 && found <= this.#termsMax)
        this.#view.addTo(this.#best, places[i]!, score)
    }
    for (let i = 0; i < this.#touchedSize; i++) {
      const slot = this.#touched[i]!
      this.#sums[slot] = 0
      for (const parts of this.#parts) parts[slot] = 0
    }
    this.#touchedSize = 0
  }

  /** Adds the scores of a term to the candidates that have it. */
  #lookUp(term: number): void {
    const { cursor, scores } = this.#terms[term]!
    const parts = this.#parts[term]!
    const { size } = this.#candidates
    this.#budget.spend(8 * Math.min(size, this.#windowSize >> 8))
    const looked = this.#looked
    looked.places.set(this.#candidates.places.subarray(0, size))
    looked.slots.set(this.#candidates.slots.subarray(0, size))
    looked.size = size
    cursor.keep(looked, this.#counts)
    const { segment } = this.#view
    for (let i = 0; i < looked.size; i++) {
      const slot = looked.slots[i]!
      const length = segment.lengthAt(looked.places[i]!)
      const part = scores.of(this.#counts[i]!, length)
      parts[slot] = part
      this.#sums[slot]! += part
    }
  }

  /** Drops candidates that cannot be among the best, even with `boundOfRest` added. */
  #dropBelow(boundOfRest: number): void {
    const { places, slots, size } = this.#candidates
    let kept = 0
    for (let i = 0; i < size; i++) {
      if (this.#isTooLow(this.#sums[slots[i]!]! + boundOfRest)) continue
      places[kept] = places[i]!
      slots[kept++] = slots[i]!
    }
    this.#candidates.size = kept
  }
}
