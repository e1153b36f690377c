/**
 * The index columns of a document, with an entry for each path and value. Other servers of the Data
 * API write and read the same columns.
 */
import { extendedOf } from '../../../json/extended.ts'
import { isObject, type JsonObject, type Numeric, type Value } from '../../../json/value.ts'
import { escapeSegment } from '../../../language/values/path.ts'
import { Pace, type Steps } from '../../../runtime/steps.ts'
import type { SearchFields } from '../../contract.ts'
import { hashAtPath, hashOf, hashOfArray, hashOfObject } from './hash.ts'

/** Maximum bytes of an index term: path, separator and value. */
export const termSizeMax = 8_192

export interface Shredded {
  /** All indexed paths. */
  readonly exists: Set<string>
  /** Lengths of arrays by path. */
  readonly sizes: Map<string, number>
  /** Path and hash of each scalar, and of each array element under the array's path. */
  readonly contains: Set<string>
  readonly booleans: Map<string, boolean>
  readonly numbers: Map<string, Numeric>
  /** Strings by path, and the hashes of objects and arrays. */
  readonly texts: Map<string, string>
  readonly nulls: Set<string>
  /** Dates by path, in milliseconds since 1970. */
  readonly dates: Map<string, number>
}

/** Builds the index columns from the indexed part of a document and its search fields. */
export function* shredInSteps(document: JsonObject, search: SearchFields): Steps<Shredded> {
  const shredded: Shredded = {
    exists: new Set(),
    sizes: new Map(),
    contains: new Set(),
    booleans: new Map(),
    numbers: new Map(),
    texts: new Map(),
    nulls: new Set(),
    dates: new Map(),
  }
  const shredder = new Shredder(shredded)
  for (const [name, value] of document) yield* shredder.add(escapeSegment(name), value)
  addSearchField(shredded, '$vector', search.vector)
  addSearchField(shredded, '$vectorize', search.vectorize)
  addSearchField(shredded, '$lexical', search.lexical)
  return shredded
}

function addSearchField(shredded: Shredded, name: string, value: unknown): void {
  if (value === null) {
    shredded.exists.add(name)
    shredded.nulls.add(name)
    addContained(shredded, name, hashOf(null))
  } else if (value !== undefined) shredded.exists.add(name)
}

/** Hashes each value once: the hash of an array or object is built from those of its parts. */
class Shredder {
  readonly #to: Shredded
  readonly #pace = new Pace()

  constructor(to: Shredded) {
    this.#to = to
  }

  /** Adds a value with its parts. Returns its hash as an array element or object member. */
  *add(path: string, value: Value): Steps<string> {
    if (this.#pace.isDue()) yield
    this.#to.exists.add(path)
    if (Array.isArray(value)) return yield* this.#addArray(path, value)
    if (isObject(value)) return yield* this.#addObject(path, value)
    const { nulls, booleans, numbers, texts } = this.#to
    if (value === null) nulls.add(path)
    else if (typeof value === 'boolean') booleans.set(path, value)
    else if (typeof value === 'string') texts.set(path, value)
    else numbers.set(path, value)
    return addContained(this.#to, path, hashOf(value))
  }

  *#addArray(path: string, array: readonly Value[]): Steps<string> {
    this.#to.sizes.set(path, array.length)
    const hashes: string[] = []
    for (const [position, element] of array.entries()) {
      const hash = yield* this.add(`${path}.${position}`, element)
      addContained(this.#to, path, hash)
      hashes.push(hash)
    }
    const hash = hashOfArray(hashes)
    this.#to.texts.set(path, hash)
    return hash
  }

  *#addObject(path: string, object: JsonObject): Steps<string> {
    const extended = extendedOf(object)
    switch (extended?.kind) {
      case 'date':
        this.#to.dates.set(path, extended.ms)
        return addContained(this.#to, path, hashOf(object))
      case 'uuid':
      case 'objectId':
        this.#to.texts.set(path, extended.text)
        addContained(this.#to, path, hashAtPath(object))
        return hashOf(object)
      case 'binary':
        // Filters can only test the existence of binary values.
        return hashOf(object)
      case 'malformed':
      case undefined: {
        const members: (readonly [name: string, hash: string])[] = []
        for (const [name, member] of object)
          members.push([name, yield* this.add(`${path}.${escapeSegment(name)}`, member)])
        const hash = hashOfObject(members)
        this.#to.texts.set(path, hash)
        return hash
      }
    }
  }
}

/**
 * Adds the path and hash of a value, and returns the hash. Skips _id, because equality on it uses
 * the key.
 */
function addContained({ contains }: Shredded, path: string, hash: string): string {
  if (path !== '_id') contains.add(`${path} ${hash}`)
  return hash
}
