/**
 * The entries of a document in the value index: (path, key, element).
 *
 * Every node below the root has one entry under its path, so the entries of a path show which
 * documents have the path, and with which value. Each member of an array adds an entry, marked as
 * an element, under the path of the array. Equality finds both kinds of entries with one lookup;
 * ranges and sorts skip elements.
 *
 * Paths omit positions in arrays: the city in `homes[3].city` is indexed under "homes.&[.city"
 * ("&[" cannot come from a field name). A filter on "homes.3.city" finds candidates there and then
 * checks the documents.
 */
import { extendedOf } from '../../../json/extended.ts'
import { isNested, isObject, type JsonObject, type Value } from '../../../json/value.ts'
import { escapeSegment } from '../../../language/values/path.ts'
import { KeyBytes } from '../../../language/values/key.ts'
import { atOnce, Pace, InterruptibleWalk, type Steps } from '../../../runtime/steps.ts'

export const arrayStep = '&['

/** Maximum number of entries that are compared pairwise. */
const comparedMax = 8

export interface Entry {
  readonly path: string
  readonly start: number
  readonly end: number
  readonly element: boolean
}

/** Entries of one or several documents; their keys share one buffer. */
export class EntryList {
  readonly bytes = new KeyBytes(1024)
  readonly entries: Entry[] = []
  #isInArray = false
  /** Cached paths: of root fields, and of nested fields by the path of their parent. */
  readonly #rootPaths = new Map<string, string>()
  readonly #innerPaths = new Map<string, Map<string, string>>()
  readonly #walk = new InterruptibleWalk()

  /** Adds the entries of the indexed part of a document; returns the index of the first entry. */
  addDocument(indexed: JsonObject): number {
    const start = this.entries.length
    const rest = this.addDocumentInSteps(indexed)
    if (rest !== undefined) atOnce(rest)
    return start
  }

  /** Adds entries until a pause is due; returns the remaining steps, if any. */
  addDocumentInSteps(indexed: JsonObject): Steps<void> | undefined {
    return this.#addFields(indexed.entries()) ? undefined : this.#walk.rest()
  }

  /** A text that identifies the path and key of an entry within this list. */
  identity(entry: Entry): string {
    const key = this.bytes.view(entry.start, entry.end)
    const text = Buffer.from(key.buffer, key.byteOffset, key.length).toString('latin1')
    // The length marks the end of the key, since key and path may contain any character.
    return `${key.length} ${text}${entry.path}`
  }

  #addFields(fields: Members): boolean {
    for (const [name, value] of fields) {
      // Fields named _id have no entries: conditions on _id use the column `id` of the record.
      if (name === '_id') continue
      const isDone = this.#addNode(this.#rootPath(name), value)
      if (this.#walk.isDue() || !isDone)
        return this.#walk.stop(() => this.#addFields(fields))
    }
    return true
  }

  /** Adds a value and all values inside it. Returns whether the walk has finished. */
  #addNode(path: string, value: Value): boolean {
    this.#add(path, value, false)
    if (!isNested(value)) return true
    // Duplicates under a path occur only inside an array, nested arrays included. They are removed
    // once, after the outermost array.
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

  /** Cached paths of the fields of the object at a path. */
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

  /**
   * Whether the entries at index `start` and after it are few and distinct. Most arrays are short,
   * and a few comparisons show that they have no duplicates.
   */
  #areFewAndDistinct(start: number): boolean {
    const { entries } = this
    if (entries.length - start > comparedMax) return false
    for (let i = start + 1; i < entries.length; i++)
      for (let j = start; j < i; j++)
        if (this.isSame(entries[i]!, entries[j]!)) return false
    return true
  }

  /** Whether path and key are equal. */
  isSame(a: Entry, b: Entry): boolean {
    return a.path === b.path && this.bytes.areSame(a.start, a.end, b.start, b.end)
  }

  /** Keeps one entry per path and key; a value takes precedence over an element. */
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

/** The remaining members of an object: the iterator keeps its position between steps. */
type Members = MapIterator<[string, Value]>

/** The entries that a change removes and adds. `list` must have made `before` and `after`. */
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
