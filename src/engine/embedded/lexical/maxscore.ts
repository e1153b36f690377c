/**
 * Scores the documents that have any of some terms, as far as they can be among the best.
 *
 * The method is MaxScore, by Turtle and Flood, "Query evaluation: strategies and
 * optimizations" (1995), gone through in windows of documents. A term adds less to a score
 * than its weight. So once as many documents as are wanted have more than some terms can add
 * together, a document that has none but those cannot be among the best: the postings of
 * these terms are no longer walked, only looked up for documents that another term brings.
 * In a sentence these are the common words, whose postings are long.
 */
import type { Budget } from '../plan/budget.ts'
import type { Found, PostingCursor } from './cursor.ts'
import type { Scored, TermScores } from './scores.ts'

/** One of the terms, with where it stands and what it adds. */
export interface ScoredTerm {
  readonly cursor: PostingCursor
  readonly scores: TermScores
}

export class MaxScore {
  /** In the order of the query: a sum of floats depends on it. */
  readonly #terms: readonly ScoredTerm[]
  /** The terms' places in the query, those that add least first. */
  readonly #byBound: readonly number[]
  /** What the terms up to a place in `byBound` can add together. */
  readonly #boundUpTo: readonly number[]
  readonly #best: BestScores
  readonly #budget: Budget
  readonly #windowSize: number
  /** What each term adds to a document of the window, by its slot. */
  readonly #parts: readonly Float64Array[]
  /** What was added so far, in any order; `dropped` for documents that do not count. */
  readonly #sums: Float64Array
  /** The slots that have a sum, and how many there are. */
  readonly #touched: Uint32Array
  #touchedSize = 0
  readonly #candidates: Found
  readonly #looked: Found
  readonly #counts: Uint32Array
  readonly #lengths: Uint32Array

  constructor(terms: readonly ScoredTerm[], wanted: number, budget: Budget) {
    this.#terms = terms
    const bound = (i: number) => terms[i]!.scores.weight
    this.#byBound = terms.map((_, i) => i).sort((a, b) => bound(a) - bound(b))
    let sum = 0
    this.#boundUpTo = this.#byBound.map((i) => (sum += bound(i)))
    this.#best = new BestScores(wanted)
    this.#budget = budget
    const size = Math.min(4096, Math.max(256, Math.floor(2 ** 18 / terms.length)))
    this.#windowSize = size
    this.#parts = terms.map(() => new Float64Array(size))
    this.#sums = new Float64Array(size)
    this.#touched = new Uint32Array(size)
    this.#candidates = emptyFound(size)
    this.#looked = emptyFound(size)
    this.#counts = new Uint32Array(size)
    this.#lengths = new Uint32Array(size)
  }

  /** Takes a document with how often it has each term. */
  add(seq: number, counts: readonly number[], length: number): void {
    let score = 0
    for (const [i, count] of counts.entries())
      if (count > 0) score += this.#terms[i]!.scores.of(count, length)
    this.#best.add(seq, score)
  }

  /** Goes through all postings, but for those of documents that `changed` since. */
  addAll(changed: Float64Array): void {
    let from = 0
    let changedAt = 0
    for (;;) {
      const walked = this.#firstWalked()
      const start = this.#nextDocument(walked, from)
      if (start === Infinity) return
      const end = start + this.#windowSize
      for (let i = walked; i < this.#byBound.length; i++)
        this.#walk(this.#byBound[i]!, start, end)
      while (changedAt < changed.length && changed[changedAt]! < start) changedAt++
      for (; changedAt < changed.length && changed[changedAt]! < end; changedAt++) {
        const slot = changed[changedAt]! - start
        if (this.#sums[slot] !== 0) this.#sums[slot] = dropped
      }
      this.#chooseTouched(start, this.#boundBelow(walked))
      this.#finish(walked)
      from = end
    }
  }

  /** Goes through some documents, in ascending order, of which none has changed. */
  addAmong(documents: Float64Array): void {
    const { seqs, columns } = this.#candidates
    for (let at = 0; at < documents.length; at += this.#windowSize) {
      const slice = documents.subarray(at, at + this.#windowSize)
      seqs.set(slice)
      for (let i = 0; i < slice.length; i++) columns[0]![i] = this.#touched[i] = i
      this.#candidates.size = this.#touchedSize = slice.length
      this.#finish(this.#byBound.length)
    }
  }

  /** At least the best, as many as are wanted, with all that tie with the last of them. */
  result(): Scored {
    return this.#best.finish()
  }

  /** The first place in `byBound` from which on documents may be among the best. */
  #firstWalked(): number {
    let at = 0
    while (at < this.#byBound.length && this.#isTooLow(this.#boundUpTo[at]!)) at++
    return at
  }

  #boundBelow(place: number): number {
    return place === 0 ? 0 : this.#boundUpTo[place - 1]!
  }

  /** Whether what can still be reached is not enough. The sum may be off by rounding. */
  #isTooLow(reachable: number): boolean {
    return reachable * (1 + rounding) < this.#best.floor
  }

  /** The first document from a number on that a term brings whose postings are walked. */
  #nextDocument(walked: number, from: number): number {
    let next = Infinity
    for (let i = walked; i < this.#byBound.length; i++) {
      const { cursor } = this.#terms[this.#byBound[i]!]!
      if (!cursor.next(from)) continue
      const { seqs, size } = cursor.chunk
      next = Math.min(next, seqs[firstFrom(seqs, size, from)]!)
    }
    return next
  }

  /** Adds what a term adds to the documents of a window. */
  #walk(term: number, start: number, end: number): void {
    const { cursor, scores } = this.#terms[term]!
    const parts = this.#parts[term]!
    const sums = this.#sums
    let from = start
    while (from < end && cursor.next(from)) {
      const { seqs, counts, lengths, size, last } = cursor.chunk
      let at = firstFrom(seqs, size, from)
      this.#budget.spend(1 + ((size - at) >> 6))
      for (; at < size && seqs[at]! < end; at++) {
        const slot = seqs[at]! - start
        const part = scores.of(counts[at]!, lengths[at]!)
        if (sums[slot] === 0) this.#touched[this.#touchedSize++] = slot
        parts[slot] = part
        sums[slot]! += part
      }
      from = last + 1
    }
  }

  /** The documents of a window that can be among the best, in order. */
  #chooseTouched(start: number, boundOfRest: number): void {
    const { seqs, columns } = this.#candidates
    const slots = columns[0]!
    let size = 0
    const take = (slot: number) => {
      const sum = this.#sums[slot]!
      if (sum === dropped || this.#isTooLow(sum + boundOfRest)) return
      seqs[size] = start + slot
      slots[size++] = slot
    }
    if (this.#touchedSize > this.#windowSize >> 4) {
      for (let slot = 0; slot < this.#windowSize; slot++)
        if (this.#sums[slot] !== 0) take(slot)
    } else
      for (const slot of this.#touched.subarray(0, this.#touchedSize).sort()) take(slot)
    this.#candidates.size = size
  }

  /** Looks up the terms below a place, and takes the candidates with their scores. */
  #finish(walked: number): void {
    for (let i = walked - 1; i >= 0 && this.#candidates.size > 0; i--) {
      this.#lookUp(this.#byBound[i]!)
      this.#dropBelow(this.#boundBelow(i))
    }
    const { seqs, columns, size } = this.#candidates
    const slots = columns[0]!
    for (let i = 0; i < size; i++) {
      const slot = slots[i]!
      let score = 0
      for (const parts of this.#parts) score += parts[slot]!
      if (score > 0) this.#best.add(seqs[i]!, score)
    }
    for (let i = 0; i < this.#touchedSize; i++) {
      const slot = this.#touched[i]!
      this.#sums[slot] = 0
      for (const parts of this.#parts) parts[slot] = 0
    }
    this.#touchedSize = 0
  }

  /** Adds what a term adds to the candidates that have it. */
  #lookUp(term: number): void {
    const { cursor, scores } = this.#terms[term]!
    const parts = this.#parts[term]!
    const { size } = this.#candidates
    this.#budget.spend(8 * Math.min(size, this.#windowSize >> 8))
    const looked = this.#looked
    looked.seqs.set(this.#candidates.seqs.subarray(0, size))
    looked.columns[0]!.set(this.#candidates.columns[0]!.subarray(0, size))
    looked.size = size
    cursor.keep(looked, this.#counts, this.#lengths)
    for (let i = 0; i < looked.size; i++) {
      const slot = looked.columns[0]![i]!
      const part = scores.of(this.#counts[i]!, this.#lengths[i]!)
      parts[slot] = part
      this.#sums[slot]! += part
    }
  }

  /** Drops candidates that cannot be among the best, whatever the other terms add. */
  #dropBelow(boundOfRest: number): void {
    const { seqs, columns, size } = this.#candidates
    const slots = columns[0]!
    let kept = 0
    for (let i = 0; i < size; i++) {
      if (this.#isTooLow(this.#sums[slots[i]!]! + boundOfRest)) continue
      seqs[kept] = seqs[i]!
      slots[kept++] = slots[i]!
    }
    this.#candidates.size = kept
  }
}

/** What sums may be off by, as a part of them, when added in another order. */
const rounding = 1e-9
/** In the place of a sum: the document does not count. */
const dropped = -Infinity

function emptyFound(size: number): Found {
  return { seqs: new Float64Array(size), columns: [new Uint32Array(size)], size: 0 }
}

/** The place of the first number that is not smaller. */
function firstFrom(seqs: Float64Array, size: number, from: number): number {
  let low = 0
  let high = size
  while (low < high) {
    const middle = (low + high) >>> 1
    if (seqs[middle]! < from) low = middle + 1
    else high = middle
  }
  return low
}

/** The best scores so far, and those that tie with the last of them. */
class BestScores {
  /** A score that as many as are wanted have reached; 0 before that. */
  floor = 0
  readonly #wanted: number
  /** A heap of the best, the least of them on top. */
  readonly #heap: number[] = []
  #seqs = new Float64Array(1024)
  #scores = new Float64Array(1024)
  #size = 0

  constructor(wanted: number) {
    this.#wanted = wanted
  }

  add(seq: number, score: number): void {
    if (score < this.floor) return
    if (this.#size === this.#seqs.length) this.#makeRoom()
    this.#seqs[this.#size] = seq
    this.#scores[this.#size++] = score
    if (this.#wanted === Infinity) return
    if (this.#heap.length < this.#wanted) this.#push(score)
    else if (score > this.floor) this.#replaceTop(score)
    if (this.#heap.length === this.#wanted) this.floor = this.#heap[0]!
  }

  finish(): Scored {
    this.#dropBelowFloor()
    return {
      seqs: this.#seqs.subarray(0, this.#size),
      scores: this.#scores.subarray(0, this.#size),
    }
  }

  #makeRoom(): void {
    this.#dropBelowFloor()
    if (this.#size * 2 <= this.#seqs.length) return
    const seqs = new Float64Array(this.#seqs.length * 2)
    const scores = new Float64Array(seqs.length)
    seqs.set(this.#seqs)
    scores.set(this.#scores)
    this.#seqs = seqs
    this.#scores = scores
  }

  #dropBelowFloor(): void {
    let kept = 0
    for (let i = 0; i < this.#size; i++) {
      if (this.#scores[i]! < this.floor) continue
      this.#seqs[kept] = this.#seqs[i]!
      this.#scores[kept++] = this.#scores[i]!
    }
    this.#size = kept
  }

  #push(score: number): void {
    const heap = this.#heap
    let at = heap.push(score) - 1
    while (at > 0) {
      const parent = (at - 1) >> 1
      if (heap[parent]! <= score) break
      heap[at] = heap[parent]!
      at = parent
    }
    heap[at] = score
  }

  #replaceTop(score: number): void {
    const heap = this.#heap
    let at = 0
    for (;;) {
      let child = 2 * at + 1
      if (child >= heap.length) break
      if (child + 1 < heap.length && heap[child + 1]! < heap[child]!) child++
      if (heap[child]! >= score) break
      heap[at] = heap[child]!
      at = child
    }
    heap[at] = score
  }
}
