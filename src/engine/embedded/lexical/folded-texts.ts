/** Texts that become a segment, gathered by term. */
import { Postings } from './postings.ts'
import { TermList } from './term-list.ts'

export class FoldedTexts {
  /** The documents, and how many tokens their texts have. */
  readonly seqs: number[] = []
  readonly lengths: number[] = []
  /** Of all postings, text by text: the term, the place of the text among them, and the count. */
  #terms: Uint32Array
  readonly #postings: Postings

  /** With room for so many postings, at first. */
  constructor(capacity: number) {
    this.#terms = new Uint32Array(capacity)
    this.#postings = new Postings(capacity)
  }

  /** Documents must come in order. */
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

  /** The terms in order, with their postings, which hold until the next. */
  *terms(): Generator<[term: number, postings: Postings]> {
    const { places, counts, size } = this.#postings
    // A number of the term and of where its posting stands, so that they are sorted as numbers.
    const unit = 2 ** Math.ceil(Math.log2(size + 1))
    const keys = new Float64Array(size)
    for (let i = 0; i < size; i++) keys[i] = this.#terms[i]! * unit + i
    keys.sort()
    const list = new Postings(1024)
    for (let i = 0; i < size;) {
      const term = Math.floor(keys[i]! / unit)
      const end = (term + 1) * unit
      list.size = 0
      for (; i < size && keys[i]! < end; i++) {
        const at = keys[i]! - term * unit
        list.push(places[at]!, counts[at]!)
      }
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

/** Where lists are taken apart, one after the other. */
const taken = new TermList(1024)
