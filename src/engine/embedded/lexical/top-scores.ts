/** Documents and their scores, in no particular order. */
export interface Scored {
  readonly seqs: Float64Array
  readonly scores: Float64Array
}

/**
 * Collects the best `wanted` scores, and documents that tie with the last of them. When a page
 * starts after a score (`ceiling`), documents with that score are kept, too, and documents with a
 * higher score are left out.
 */
export class TopScores {
  /** Lowest of the best `wanted` scores; 0 until `wanted` scores were added. */
  floor = 0
  readonly #wanted: number
  readonly #ceiling: number
  /** Min-heap of the best scores. */
  readonly #heap: Float64Array
  #heapSize = 0
  #seqs = new Float64Array(256)
  #scores = new Float64Array(256)
  #size = 0

  constructor(wanted: number, ceiling = Infinity) {
    this.#wanted = wanted
    this.#ceiling = ceiling
    this.#heap = new Float64Array(wanted === Infinity ? 0 : wanted)
  }

  add(seq: number, score: number): void {
    if (score < this.floor || score > this.#ceiling) return
    if (this.#size === this.#seqs.length) this.#makeRoom()
    this.#seqs[this.#size] = seq
    this.#scores[this.#size++] = score
    if (this.#wanted === Infinity || score === this.#ceiling) return
    if (this.#heapSize < this.#wanted) this.#push(score)
    else if (score > this.floor) replaceLeast(this.#heap, this.#heapSize, score)
    if (this.#heapSize === this.#wanted) this.floor = this.#heap[0]!
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
    let at = this.#heapSize++
    while (at > 0) {
      const parent = (at - 1) >> 1
      if (heap[parent]! <= score) break
      heap[at] = heap[parent]!
      at = parent
    }
    heap[at] = score
  }
}

/** Replaces the least score, at the top of a min-heap. */
export function replaceLeast(heap: Float64Array, size: number, score: number): void {
  let at = 0
  for (;;) {
    let child = 2 * at + 1
    if (child >= size) break
    if (child + 1 < size && heap[child + 1]! < heap[child]!) child++
    if (heap[child]! >= score) break
    heap[at] = heap[child]!
    at = child
  }
  heap[at] = score
}
