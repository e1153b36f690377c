/** Inverts texts that become a segment: gathers their postings by term. */
import { Postings } from './postings.ts'
import { TermList } from './term-list.ts'

export class FoldedTexts {
  /** Documents, and the lengths of their texts in tokens. */
  readonly seqs: number[] = []
  readonly lengths: number[] = []
  /**
   * The term of each posting, text by text. The place of the text and the count are in `#postings`,
   * at the same index.
   */
  #terms: Uint32Array
  readonly #postings: Postings

  /** `capacity` is the initial capacity in postings. */
  constructor(capacity: number) {
    this.#terms = new Uint32Array(capacity)
    this.#postings = new Postings(capacity)
  }

  /** Adds the term list of a document. Documents must be added in ascending order. */
  add(seq: number, bytes: Uint8Array): void {
    const list = taken.decode(bytes)
    const { ids, counts, size } = list
    const postings = this.#postings
    const start = postings.size
    if (start + size > this.#terms.length) this.#makeRoom(2 * (start + size))
    const place = this.seqs.length
    for (let i = 0; i < size; i++) {
      this.#terms[start + i] = ids[i]!
      postings.push(place, counts[i]!)
    }
    this.seqs.push(seq)
    this.lengths.push(list.length)
  }

  /** Ascending terms with their postings, which are valid until the next term. */
  *terms(): Generator<[term: number, postings: Postings]> {
    const { places, counts, size } = this.#postings
    const terms = this.#terms
    const order = orderOf(terms, size)
    const list = new Postings(1024)
    for (let i = 0; i < size;) {
      const term = terms[order[i]!]!
      list.size = 0
      for (; i < size && terms[order[i]!] === term; i++)
        list.push(places[order[i]!]!, counts[order[i]!]!)
      yield [term, list]
    }
  }

  #makeRoom(capacity: number): void {
    const before = this.#terms
    this.#terms = new Uint32Array(capacity)
    this.#terms.set(before)
    this.#postings.reserve(capacity)
  }
}

/** Indexes of the numbers in ascending order, by a stable radix sort. */
function orderOf(numbers: Uint32Array, size: number): Uint32Array {
  let all = 0
  for (let i = 0; i < size; i++) all |= numbers[i]!
  let order = new Uint32Array(size)
  for (let i = 0; i < size; i++) order[i] = i
  let next = new Uint32Array(size)
  for (let shift = 0; shift < 32 && all >>> shift !== 0; shift += digitBits) {
    starts.fill(0)
    for (let i = 0; i < size; i++) starts[((numbers[i]! >>> shift) & digitMask) + 1]!++
    for (let digit = 1; digit <= digitMask; digit++) starts[digit]! += starts[digit - 1]!
    for (let i = 0; i < size; i++) {
      const from = order[i]!
      next[starts[(numbers[from]! >>> shift) & digitMask]!++] = from
    }
    ;[order, next] = [next, order]
  }
  return order
}

/** Bits of a digit of the radix sort. */
const digitBits = 11
const digitMask = 2 ** digitBits - 1
/** Per digit, the index for the next number that has this digit. */
const starts = new Uint32Array(digitMask + 2)

/** Reusable buffer for decoded lists. */
const taken = new TermList(1024)
