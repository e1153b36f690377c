/**
 * Cache of the documents that the runs have for a value, cleared when the set of runs changes.
 * Collecting these documents takes most of the time of a sorted find whose filter matches many
 * documents.
 */
import { DocumentSet } from './document-set.ts'

/** Minimum number of documents of a cached list: shorter lists are quickly collected again. */
const listMin = 256

/** Maximum size of all cached lists together, in documents of four bytes each. */
const listedMax = 2 ** 20

interface KeptList {
  readonly numbers: Uint32Array
  readonly chunkCount: number
}

export class ListedValues {
  /**
   * Lists, the oldest first. A key consists of the key prefix of a value and of whether the list
   * includes documents with the value as an array element.
   */
  readonly #lists = new Map<string, KeptList>()
  #size = 0

  /**
   * The documents of a value, in a set owned by the caller. On a cache miss `list` fills the set.
   */
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

  /** The cached numbers of the documents of a value, ascending; undefined on a cache miss. */
  numbers(key: string): Uint32Array | undefined {
    return this.#lists.get(key)?.numbers
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
