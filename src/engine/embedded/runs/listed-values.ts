/**
 * The documents that runs have for values that were asked for, as long as the runs are the same.
 * Listing them takes most of the time of a sorted find with a filter that many match.
 */
import { DocumentSet } from './document-set.ts'

/** Documents from which on a list is kept: shorter ones are soon made again. */
const listMin = 256

/** Documents of all lists that are kept, of four bytes each. */
const listedMax = 2 ** 20

export class ListedValues {
  /** By what keys of the value start with, and what of them counts; the oldest first. */
  readonly #lists = new Map<string, Uint32Array>()
  #size = 0

  /** The list of a value, as a set of the caller's own; made, where it is not known. */
  documents(key: string, list: (documents: DocumentSet) => void): DocumentSet {
    const documents = new DocumentSet()
    const known = this.#lists.get(key)
    if (known === undefined) {
      list(documents)
      this.#keep(key, documents.numbers())
    } else documents.addAll(known)
    return documents
  }

  clear(): void {
    this.#lists.clear()
    this.#size = 0
  }

  #keep(key: string, numbers: Uint32Array | undefined): void {
    if (numbers === undefined || numbers.length < listMin || numbers.length > listedMax)
      return
    this.#lists.set(key, numbers)
    this.#size += numbers.length
    for (const [oldest, { length }] of this.#lists) {
      if (this.#size <= listedMax) return
      this.#lists.delete(oldest)
      this.#size -= length
    }
  }
}
