/**
 * What the index says of a document: entries (path, key, element).
 *
 * Every node below the root has one entry under its path, so a path's entries tell which
 * documents have it, with which value. An array adds an entry, marked as an element, for
 * each of its members under the array's own path: equality looks at both kinds with one
 * lookup, ranges and sorts at values only.
 *
 * Below an array, positions are left out of paths: the city in `homes[3].city` is indexed
 * under "homes.&[.city" ("&[" cannot come from a field name). A filter on "homes.3.city"
 * finds candidates there and then looks into the documents.
 */
import { extendedOf } from '../../json/extended.ts'
import { isObject, type JsonObject, type Value } from '../../json/value.ts'
import { escapeSegment } from '../../query/path.ts'
import { KeyBytes } from '../../query/key.ts'
import { atOnce, Pace, type Steps } from '../../steps.ts'

export const arrayStep = '&['

export interface Entry {
  readonly path: string
  readonly start: number
  readonly end: number
  readonly element: boolean
}

/** Entries of one or many documents; the keys share one run of bytes. */
export class EntryList {
  readonly bytes = new KeyBytes(1024)
  readonly entries: Entry[] = []
  #isInArray = false
  readonly #pace = new Pace()

  /** Adds the entries of what is indexed of a document and returns where they start. */
  addDocument(indexed: JsonObject): number {
    return atOnce(this.addDocumentInSteps(indexed))
  }

  *addDocumentInSteps(indexed: JsonObject): Steps<number> {
    const start = this.entries.length
    for (const [name, value] of indexed) {
      // The record's own id column answers for _id.
      if (name === '_id') continue
      if (this.#pace.isDue()) yield
      const path = escapeSegment(name)
      this.#add(path, value, false)
      if (isNested(value)) yield* this.#node(path, value)
    }
    return start
  }

  /** Tells entries apart within one list of documents. */
  identity(entry: Entry): string {
    const key = this.bytes.view(entry.start, entry.end)
    const text = Buffer.from(key.buffer, key.byteOffset, key.length).toString('latin1')
    // The length says where the key ends: both may hold any character.
    return `${key.length} ${text}${entry.path}`
  }

  /** What is inside of the value that was added last. */
  *#node(path: string, value: Value): Steps<void> {
    const start = this.entries.length - 1
    // Only what an array holds can stand twice under a path: in it, or in arrays within it.
    const isOutermost = Array.isArray(value) && !this.#isInArray
    if (isOutermost) this.#isInArray = true
    yield* this.#inside(path, value)
    if (!isOutermost) return
    this.#isInArray = false
    yield* this.#dropDuplicates(start)
  }

  *#inside(path: string, value: Value): Steps<void> {
    if (Array.isArray(value)) {
      const within = `${path}.${arrayStep}`
      for (const element of value) {
        this.#add(path, element, true)
        if (this.#pace.isDue()) yield
        if (isNested(element)) yield* this.#inside(within, element)
      }
    } else if (isObject(value) && extendedOf(value) === undefined) {
      for (const [name, child] of value) {
        if (this.#pace.isDue()) yield
        const childPath = `${path}.${escapeSegment(name)}`
        this.#add(childPath, child, false)
        if (isNested(child)) yield* this.#node(childPath, child)
      }
    }
  }

  #add(path: string, value: Value, element: boolean): void {
    const start = this.bytes.size
    this.bytes.addValue(value)
    this.entries.push({ path, start, end: this.bytes.size, element })
  }

  /** A path and key stand once per document; a value counts for more than an element. */
  *#dropDuplicates(start: number): Steps<void> {
    const kept = new Map<string, Entry>()
    for (let i = start; i < this.entries.length; i++) {
      if (this.#pace.isDue()) yield
      const entry = this.entries[i]!
      const identity = this.identity(entry)
      const other = kept.get(identity)
      if (other === undefined || (other.element && !entry.element))
        kept.set(identity, entry)
    }
    this.entries.length = start
    for (const entry of kept.values()) this.entries.push(entry)
  }
}

/** A generator costs more than the entry of a scalar, which has nothing inside. */
function isNested(value: Value): boolean {
  return typeof value === 'object' && value !== null
}

/** The entries that a change takes away and brings. Both lists come from one EntryList. */
export function* difference(
  list: EntryList,
  before: readonly Entry[],
  after: readonly Entry[],
): Steps<{ readonly removed: readonly Entry[]; readonly added: readonly Entry[] }> {
  const pace = new Pace()
  const old = new Map<string, Entry>()
  for (const entry of before) {
    if (pace.isDue()) yield
    old.set(list.identity(entry), entry)
  }
  const added: Entry[] = []
  for (const entry of after) {
    if (pace.isDue()) yield
    const identity = list.identity(entry)
    const same = old.get(identity)
    if (same?.element === entry.element) old.delete(identity)
    else added.push(entry)
  }
  return { removed: [...old.values()], added }
}
