/**
 * The documents of a segment by ascending number. The place of a document is its index in this
 * list. Stored as ranges, because new documents have consecutive numbers.
 */
import type { VarintReader, VarintWriter } from './varints.ts'

export class DocumentList {
  readonly size: number
  /** The last document; -1 when the list is empty. */
  readonly last: number
  /** First place and first document of each range. */
  readonly #places: Float64Array
  readonly #seqs: Float64Array

  constructor(places: Float64Array, seqs: Float64Array, size: number) {
    this.#places = places
    this.#seqs = seqs
    this.size = size
    this.last = size === 0 ? -1 : this.seqAt(size - 1)
  }

  /** A list of the documents with these numbers, which must ascend. */
  static of(seqs: Iterable<number>): DocumentList {
    const places: number[] = []
    const firsts: number[] = []
    let size = 0
    let expected = -1
    for (const seq of seqs) {
      if (seq !== expected) {
        places.push(size)
        firsts.push(seq)
      }
      expected = seq + 1
      size++
    }
    return new DocumentList(Float64Array.from(places), Float64Array.from(firsts), size)
  }

  static decode(reader: VarintReader): DocumentList {
    const ranges = reader.take()
    const places = new Float64Array(ranges)
    const seqs = new Float64Array(ranges)
    let size = 0
    let next = 0
    for (let i = 0; i < ranges; i++) {
      places[i] = size
      seqs[i] = next + reader.take()
      const length = reader.take()
      size += length
      next = seqs[i]! + length
    }
    return new DocumentList(places, seqs, size)
  }

  encode(writer: VarintWriter): void {
    const ranges = this.#places.length
    writer.put(ranges)
    let next = 0
    for (let i = 0; i < ranges; i++) {
      writer.put(this.#seqs[i]! - next)
      const length = (this.#places[i + 1] ?? this.size) - this.#places[i]!
      writer.put(length)
      next = this.#seqs[i]! + length
    }
  }

  /** Number of the document at a place. */
  seqAt(place: number): number {
    const range = floorIndex(this.#places, place)
    return this.#seqs[range]! + (place - this.#places[range]!)
  }

  /**
   * Place of the first document whose number is at least `seq`; `size` when all numbers are less.
   */
  placeFrom(seq: number): number {
    const range = floorIndex(this.#seqs, seq)
    if (range < 0) return 0
    const place = this.#places[range]! + (seq - this.#seqs[range]!)
    return Math.min(place, this.#places[range + 1] ?? this.size)
  }

  /** Place of a document; -1 when it is not in the segment. */
  placeOf(seq: number): number {
    const range = floorIndex(this.#seqs, seq)
    if (range < 0) return -1
    const place = this.#places[range]! + (seq - this.#seqs[range]!)
    return place < (this.#places[range + 1] ?? this.size) ? place : -1
  }

  /** All document numbers, ascending. */
  toArray(): Float64Array {
    const all = new Float64Array(this.size)
    let range = -1
    let next = 0
    for (let place = 0; place < this.size; place++) {
      if (this.#places[range + 1] === place) next = this.#seqs[++range]!
      all[place] = next++
    }
    return all
  }
}

/**
 * Index of the last start that is at most `wanted`, in ascending starts; -1 when all are greater.
 */
export function floorIndex(starts: Float64Array, wanted: number): number {
  let low = 0
  let high = starts.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (starts[middle]! <= wanted) low = middle + 1
    else high = middle
  }
  return low - 1
}
