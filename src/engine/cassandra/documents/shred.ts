/**
 * The index columns of a document: what each of its values is found by, path by path.
 * Documents that other servers of the Data API wrote are found by the same.
 */
import { extendedOf } from '../../../json/extended.ts'
import { isObject, type JsonObject, type Numeric, type Value } from '../../../json/value.ts'
import { escapeSegment } from '../../../language/values/path.ts'
import type { SearchFields } from '../../contract.ts'
import { hashAtPath, hashOf, textOf } from './hash.ts'

/** Bytes of a path and its value, with what comes between, that an index takes. */
export const termSizeMax = 8_192

export interface Shredded {
  /** Every indexed path. */
  readonly exists: Set<string>
  /** Lengths of arrays. */
  readonly sizes: Map<string, number>
  /** Path and hash of each value, and of each element of an array under the array's path. */
  readonly contains: Set<string>
  readonly booleans: Map<string, boolean>
  readonly numbers: Map<string, Numeric>
  /** Texts, and the hashes of objects and arrays. */
  readonly texts: Map<string, string>
  readonly nulls: Set<string>
  /** In milliseconds. */
  readonly dates: Map<string, number>
}

/** Of what is indexed of a document, and of its search fields. */
export function shred(document: JsonObject, search: SearchFields): Shredded {
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
  for (const [name, value] of document) addAt(shredded, escapeSegment(name), value)
  addSearchField(shredded, '$vector', search.vector)
  addSearchField(shredded, '$vectorize', search.vectorize)
  addSearchField(shredded, '$lexical', search.lexical)
  return shredded
}

function addSearchField(shredded: Shredded, name: string, value: unknown): void {
  if (value === null) addAt(shredded, name, null)
  else if (value !== undefined) shredded.exists.add(name)
}

function addAt(shredded: Shredded, path: string, value: Value): void {
  shredded.exists.add(path)
  if (Array.isArray(value)) addArray(shredded, path, value)
  else if (isObject(value)) addObject(shredded, path, value)
  else {
    addScalar(shredded, path, value)
    addContained(shredded, path, hashOf(value))
  }
}

function addArray(shredded: Shredded, path: string, array: readonly Value[]): void {
  shredded.sizes.set(path, array.length)
  shredded.texts.set(path, hashOf(array as Value[]))
  for (const [position, element] of array.entries()) {
    addContained(shredded, path, hashOf(element))
    addAt(shredded, `${path}.${position}`, element)
  }
}

function addObject(shredded: Shredded, path: string, object: JsonObject): void {
  const extended = extendedOf(object)
  switch (extended?.kind) {
    case 'date':
      shredded.dates.set(path, extended.ms)
      addContained(shredded, path, hashOf(object))
      return
    case 'uuid':
    case 'objectId':
      shredded.texts.set(path, extended.text)
      addContained(shredded, path, hashAtPath(object))
      return
    case 'binary':
      // Nobody can ask for more than that it is there.
      return
    case 'malformed':
    case undefined:
      shredded.texts.set(path, hashOf(object))
      for (const [name, member] of object)
        addAt(shredded, `${path}.${escapeSegment(name)}`, member)
  }
}

function addScalar(
  { nulls, booleans, numbers, texts }: Shredded,
  path: string,
  value: Exclude<Value, Value[] | JsonObject>,
): void {
  if (value === null) nulls.add(path)
  else if (typeof value === 'boolean') booleans.set(path, value)
  else if (typeof value === 'string') texts.set(path, textOf(value)!)
  else numbers.set(path, value)
}

/** An _id is found by its key, and by equality in no other way. */
function addContained({ contains }: Shredded, path: string, hash: string): void {
  if (path !== '_id') contains.add(`${path} ${hash}`)
}
