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

/** Maximum size of the sets that are cached in addition to their lists, in bytes. */
const setBytesMax = 2 ** 22

interface CachedList {
  /** Ascending document numbers. */
  readonly numbers: Uint32Array
  /** Number of chunks of a set of these documents, so that the set is created at its final size. */
  readonly chunkCount: number
  /** The same documents as a set; undefined: evicted. */
  documents: DocumentSet | undefined
}

export class ListedValues {
  /**
   * Lists, the oldest first. A key consists of the key prefix of a value and of whether the list
   * includes documents with the value as an array element.
   */
  readonly #lists = new Map<string, CachedList>()
  #size = 0
  /** Lists with a set, in the order in which the sets were cached. */
  readonly #withSets = new Set<CachedList>()
  #setBytes = 0

  /**
   * The documents of a value. On a cache miss `list` fills the set. The caller may not change the
   * result.
   */
  documents(key: string, list: (documents: DocumentSet) => void): DocumentSet {
    const cached = this.#lists.get(key)
    if (cached?.documents !== undefined) return cached.documents
    const documents = new DocumentSet(cached?.chunkCount)
    if (cached === undefined) {
      list(documents)
      this.#add(key, documents)
    } else {
      documents.addAll(cached.numbers)
      this.#addSet(cached, documents)
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
    this.#withSets.clear()
    this.#setBytes = 0
  }

  #add(key: string, documents: DocumentSet): void {
    const numbers = documents.numbers()
    if (numbers === undefined || numbers.length < listMin || numbers.length > listedMax)
      return
    const added: CachedList = {
      numbers,
      chunkCount: documents.chunkCount,
      documents: undefined,
    }
    this.#lists.set(key, added)
    this.#size += numbers.length
    for (const [oldest, evicted] of this.#lists) {
      if (this.#size <= listedMax) break
      this.#lists.delete(oldest)
      this.#size -= evicted.numbers.length
      this.#evictSet(evicted)
    }
    this.#addSet(added, documents)
  }

  #addSet(to: CachedList, documents: DocumentSet): void {
    if (documents.bytes > setBytesMax) return
    to.documents = documents
    this.#withSets.add(to)
    this.#setBytes += documents.bytes
    for (const oldest of this.#withSets) {
      if (this.#setBytes <= setBytesMax) return
      this.#evictSet(oldest)
    }
  }

  #evictSet(from: CachedList): void {
    if (from.documents === undefined) return
    this.#setBytes -= from.documents.bytes
    from.documents = undefined
    this.#withSets.delete(from)
  }
}
