/**
 * Which parts of a document are indexed, and so can be filtered and sorted on.
 *
 * A listed path stands for everything below it. Arrays are passed through: "tags" stands
 * for "tags.0", and "lines.price" for "lines.0.price".
 */
import assert from 'node:assert/strict'
import { extendedOf } from '../../json/extended.ts'
import { isObject, type JsonObject, type Value } from '../../json/value.ts'
import { arrayPosition, parsePath, type Path } from '../values/path.ts'
import { PathTree } from '../values/path-tree.ts'

export interface IndexingRule {
  /** Everything is indexed: `covers` is always true and `prune` changes nothing. */
  readonly all: boolean
  /** True also of a path above an indexed one, which is indexed without its other parts. */
  covers(path: Path): boolean
  /** The indexed part of a document. It always keeps _id, which ids are looked up by. */
  prune(document: JsonObject): JsonObject
}

export type IndexingLists =
  { readonly allow: readonly string[] } | { readonly deny: readonly string[] }

export function indexingRule(options: IndexingLists | undefined): IndexingRule {
  if (options === undefined) return indexAll
  const lists = 'allow' in options
  const paths = lists ? options.allow : options.deny
  if (paths.length === 0) return indexAll
  if (paths.length === 1 && paths[0] === '*') return lists ? indexAll : indexNone
  return lists ? indexOnly(treeOf(paths)) : indexAllBut(treeOf(paths))
}

type Listed = PathTree<true>

const indexAll: IndexingRule = {
  all: true,
  covers: () => true,
  prune: (document) => document,
}

const indexNone: IndexingRule = {
  all: false,
  // The search fields stay indexed for search, but not even $exists can ask for them.
  covers: () => false,
  prune: (document) =>
    filterFields(document, (name, value) => (isKeptAnyway(name) ? value : undefined)),
}

function indexOnly(listed: Listed): IndexingRule {
  return {
    all: false,
    covers: ({ segments }) =>
      isSearchField(segments) || placeOf(segments, listed) !== 'elsewhere',
    prune: (document) =>
      filterFields(document, (name, value) =>
        isKeptAnyway(name) ? value : keptOnly(name, value, listed),
      ),
  }
}

function indexAllBut(listed: Listed): IndexingRule {
  return {
    all: false,
    covers: ({ segments }) =>
      isSearchField(segments) || placeOf(segments, listed) !== 'listed',
    prune: (document) =>
      filterFields(document, (name, value) =>
        isKeptAnyway(name) ? value : keptBut(name, value, listed),
      ),
  }
}

function keptOnly(name: string, value: Value, listed: Listed): Value | undefined {
  const below = listed.children.get(name)
  if (below === undefined) return undefined
  if (below.leaf !== undefined) return value
  return pruneWithin(value, (inner, field) => keptOnly(inner, field, below))
}

function keptBut(name: string, value: Value, listed: Listed): Value | undefined {
  const below = listed.children.get(name)
  if (below === undefined) return value
  if (below.leaf !== undefined) return undefined
  return pruneWithin(value, (inner, field) => keptBut(inner, field, below))
}

type Keep = (name: string, value: Value) => Value | undefined

function pruneWithin(value: Value, keep: Keep): Value {
  if (Array.isArray(value)) return value.map((element) => pruneWithin(element, keep))
  if (!isObject(value) || extendedOf(value) !== undefined) return value
  return filterFields(value, keep)
}

function filterFields(object: JsonObject, keep: Keep): JsonObject {
  const kept: JsonObject = new Map()
  for (const [name, value] of object) {
    const part = keep(name, value)
    if (part !== undefined) kept.set(name, part)
  }
  return kept
}

const searchFields: ReadonlySet<string> = new Set(['$vector', '$vectorize', '$lexical'])

function isSearchField(segments: readonly string[]): boolean {
  return searchFields.has(segments[0]!)
}

function isKeptAnyway(name: string): boolean {
  return name === '_id' || searchFields.has(name)
}

/**
 * Where a path stands to the listed ones. A numeric segment may be an array position, which
 * lists leave out, or a field name, so both readings are followed, and the one that finds
 * the most counts.
 */
function placeOf(
  segments: readonly string[],
  listed: Listed,
): 'listed' | 'above' | 'elsewhere' {
  let reached = new Set([listed])
  for (const [position, segment] of segments.entries()) {
    const mayBePosition = position > 0 && arrayPosition(segment) >= 0
    const next = new Set<Listed>(mayBePosition ? reached : [])
    for (const node of reached) {
      const child = node.children.get(segment)
      if (child?.leaf !== undefined) return 'listed'
      if (child !== undefined) next.add(child)
    }
    if (next.size === 0) return 'elsewhere'
    reached = next
  }
  return 'above'
}

function treeOf(paths: readonly string[]): Listed {
  const tree: Listed = new PathTree()
  for (const text of paths) {
    const path = parsePath(text)
    assert('segments' in path, `indexing lists "${text}", which is not a path`)
    // A path below another one adds nothing, and the tree leaves it out.
    tree.add(path.segments, true)
  }
  return tree
}
