/**
 * The documents that runs have for values that were asked for, as long as the runs are the same.
 * Listing them takes most of the time of a sorted find with a filter that many match.
 */
import { DocumentSet } from './document-set.ts'

/** Documents from which on a list is kept: shorter ones are soon made again. */
const listMin = 256

/** Documents of all lists that are kept, of four bytes each. */
const listedMax = 2 ** 20

interface KeptList {
  readonly numbers: Uint32Array
  readonly chunkCount: number
}

export class ListedValues {
  /** By what keys of the value start with, and what of them counts; the oldest first. */
  readonly #lists = new Map<string, KeptList>()
  #size = 0

  /** The list of a value, as a set of the caller's own; made, where it is not known. */
  documents(key: string, list: (documents: DocumentSet) => void): DocumentSet {
    const known = this.#lists.get(key)
    const documents = new DocumentSet(known?.chunkCount)
    if (known !== undefined) documents.addAll(known.numbers)
    else {
      list(documents)
      this.#keep(key, documents)
    }
    return documents
  }

  clear(): void {
    this.#lists.clear()
    this.#size = 0
  }

  #keep(key: string, documents: DocumentSet): void {
    const numbers = documents.numbers()
    if (numbers === undefined || numbers.length < listMin || numbers.length > listedMax)
      return
    this.#lists.set(key, { numbers, chunkCount: documents.chunkCount })
    this.#size += numbers.length
    for (const [oldest, { numbers: forgotten }] of this.#lists) {
      if (this.#size <= listedMax) return
      this.#lists.delete(oldest)
      this.#size -= forgotten.length
    }
  }
}
