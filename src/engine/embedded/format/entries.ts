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
import { extendedOf } from '../../../json/extended.ts'
import { isNested, isObject, type JsonObject, type Value } from '../../../json/value.ts'
import { escapeSegment } from '../../../language/values/path.ts'
import { KeyBytes } from '../../../language/values/key.ts'
import { atOnce, Pace, InterruptibleWalk, type Steps } from '../../../runtime/steps.ts'

export const arrayStep = '&['

/** Up to as many entries are compared with each other. */
const comparedMax = 8

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
  /** The paths of fields, and of those inside others by the path of these: made once for many documents. */
  readonly #rootPaths = new Map<string, string>()
  readonly #innerPaths = new Map<string, Map<string, string>>()
  readonly #walk = new InterruptibleWalk()

  /** Adds the entries of what is indexed of a document and returns where they start. */
  addDocument(indexed: JsonObject): number {
    const start = this.entries.length
    const rest = this.addDocumentInSteps(indexed)
    if (rest !== undefined) atOnce(rest)
    return start
  }

  /** Adds them, and returns the steps that are left, if there are any. */
  addDocumentInSteps(indexed: JsonObject): Steps<void> | undefined {
    return this.#addFields(indexed.entries()) ? undefined : this.#walk.rest()
  }

  /** Tells entries apart within one list of documents. */
  identity(entry: Entry): string {
    const key = this.bytes.view(entry.start, entry.end)
    const text = Buffer.from(key.buffer, key.byteOffset, key.length).toString('latin1')
    // The length says where the key ends: both may hold any character.
    return `${key.length} ${text}${entry.path}`
  }

  #addFields(fields: Members): boolean {
    for (const [name, value] of fields) {
      // The record's own id column answers for _id.
      if (name === '_id') continue
      const isDone = this.#addNode(this.#rootPath(name), value)
      if (this.#walk.isDue() || !isDone)
        return this.#walk.stop(() => this.#addFields(fields))
    }
    return true
  }

  /** Adds a value with what is inside of it. */
  #addNode(path: string, value: Value): boolean {
    this.#add(path, value, false)
    if (!isNested(value)) return true
    // Only what an array holds can stand twice under a path: in it, or in arrays within it.
    const isOutermost = Array.isArray(value) && !this.#isInArray
    return isOutermost ? this.#addOutermost(path, value) : this.#addInside(path, value)
  }

  #addOutermost(path: string, array: readonly Value[]): boolean {
    const start = this.entries.length - 1
    this.#isInArray = true
    return this.#addElements(path, array, 0)
      ? this.#endOutermost(start)
      : this.#walk.stop(() => this.#endOutermost(start))
  }

  #endOutermost(start: number): boolean {
    this.#isInArray = false
    return this.#areFewAndDistinct(start) || this.#dropDuplicates(start, start, new Map())
  }

  #addInside(path: string, value: Value): boolean {
    if (Array.isArray(value)) return this.#addElements(path, value, 0)
    if (!isObject(value) || extendedOf(value) !== undefined) return true
    return this.#addMembers(path, value.entries())
  }

  #addElements(path: string, array: readonly Value[], from: number): boolean {
    for (let i = from; i < array.length; i++) {
      const element = array[i]!
      this.#add(path, element, true)
      const isDone = !isNested(element) || this.#addInside(`${path}.${arrayStep}`, element)
      if (this.#walk.isDue() || !isDone) {
        const next = i + 1
        return this.#walk.stop(() => this.#addElements(path, array, next))
      }
    }
    return true
  }

  #addMembers(path: string, members: Members): boolean {
    const paths = this.#pathsIn(path)
    for (const [name, child] of members) {
      let inner = paths.get(name)
      if (inner === undefined) paths.set(name, (inner = `${path}.${escapeSegment(name)}`))
      const isDone = this.#addNode(inner, child)
      if (this.#walk.isDue() || !isDone)
        return this.#walk.stop(() => this.#addMembers(path, members))
    }
    return true
  }

  #rootPath(name: string): string {
    let path = this.#rootPaths.get(name)
    if (path === undefined) this.#rootPaths.set(name, (path = escapeSegment(name)))
    return path
  }

  /** The paths that are known of fields in what is at a path. */
  #pathsIn(parent: string): Map<string, string> {
    let paths = this.#innerPaths.get(parent)
    if (paths === undefined)
      this.#innerPaths.set(parent, (paths = new Map<string, string>()))
    return paths
  }

  #add(path: string, value: Value, element: boolean): void {
    const start = this.bytes.size
    this.bytes.addValue(value)
    this.entries.push({ path, start, end: this.bytes.size, element })
  }

  /** Of most arrays a few comparisons tell that nothing stands twice. */
  #areFewAndDistinct(start: number): boolean {
    const { entries } = this
    if (entries.length - start > comparedMax) return false
    for (let i = start + 1; i < entries.length; i++)
      for (let j = start; j < i; j++)
        if (this.isSame(entries[i]!, entries[j]!)) return false
    return true
  }

  /** The same path and key. */
  isSame(a: Entry, b: Entry): boolean {
    return a.path === b.path && this.bytes.areSame(a.start, a.end, b.start, b.end)
  }

  /** A path and key stand once per document; a value counts for more than an element. */
  #dropDuplicates(start: number, from: number, kept: Map<string, Entry>): boolean {
    for (let i = from; i < this.entries.length; i++) {
      const entry = this.entries[i]!
      const identity = this.identity(entry)
      const other = kept.get(identity)
      if (other === undefined || (other.element && !entry.element))
        kept.set(identity, entry)
      if (this.#walk.isDue()) {
        const next = i + 1
        return this.#walk.stop(() => this.#dropDuplicates(start, next, kept))
      }
    }
    this.entries.length = start
    for (const entry of kept.values()) this.entries.push(entry)
    return true
  }
}

/** What is left of an object: an iterator knows how far it has come. */
type Members = MapIterator<[string, Value]>

/** The entries that a change takes away and brings. Both lists come from one EntryList. */
export function* difference(
  list: EntryList,
  before: readonly Entry[],
  after: readonly Entry[],
): Steps<{ readonly removed: readonly Entry[]; readonly added: readonly Entry[] }> {
  if (before.length <= comparedMax && after.length <= comparedMax) {
    const without = (some: readonly Entry[], others: readonly Entry[]) =>
      some.filter((a) => !others.some((b) => a.element === b.element && list.isSame(a, b)))
    return { removed: without(before, after), added: without(after, before) }
  }
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
