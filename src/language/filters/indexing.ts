/**
 * Determines the indexed parts of a document, which filters and sorts can use.
 *
 * A listed path includes everything below it. Paths pass through arrays: "tags" includes "tags.0",
 * and "lines.price" includes "lines.0.price".
 */
import assert from 'node:assert/strict'
import { extendedOf } from '../../json/extended.ts'
import { isObject, type JsonObject, type Value } from '../../json/value.ts'
import { arrayPosition, parsePath, type Path } from '../values/path.ts'
import { PathTree } from '../values/path-tree.ts'
import { atOnce, InterruptibleWalk, type Steps } from '../../runtime/steps.ts'

export interface IndexingRule {
  /** Whether everything is indexed: `covers` is always true, and `prune` changes nothing. */
  readonly all: boolean
  /**
   * Whether filters may use the path. Also true for a path above an indexed path: the value at such
   * a path is only partly indexed.
   */
  covers(path: Path): boolean
  /** The indexed part of a document. It always contains the _id, which lookups by id need. */
  prune(document: JsonObject): JsonObject
  /** Like `prune`, in steps, for the thread that serves requests. */
  pruneInSteps(document: JsonObject): Steps<JsonObject>
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
  *pruneInSteps(document) {
    return document
  },
}

const indexNone: IndexingRule = {
  all: false,
  // Searches can use the search fields nevertheless, but filters cannot, not even with $exists.
  covers: () => false,
  ...pruning(new PathTree(), () => 'nothing'),
}

function indexOnly(listed: Listed): IndexingRule {
  return {
    all: false,
    covers: ({ segments }) =>
      isSearchField(segments) || placeOf(segments, listed) !== 'elsewhere',
    ...pruning(listed, (below) => {
      if (below === undefined) return 'nothing'
      return below.leaf === undefined ? below : 'whole'
    }),
  }
}

function indexAllBut(listed: Listed): IndexingRule {
  return {
    all: false,
    covers: ({ segments }) =>
      isSearchField(segments) || placeOf(segments, listed) !== 'listed',
    ...pruning(listed, (below) => {
      if (below === undefined) return 'whole'
      return below.leaf === undefined ? below : 'nothing'
    }),
  }
}

/**
 * The indexed part of a field's value. A `Listed` tree: the listed paths within the value determine
 * its indexed fields.
 */
type IndexedPart = 'whole' | 'nothing' | Listed

/** Decides which part of a field is indexed, from the listed paths at the field and below it. */
type PartOf = (below: Listed | undefined) => IndexedPart

function pruning(
  listed: Listed,
  partOf: PartOf,
): Pick<IndexingRule, 'prune' | 'pruneInSteps'> {
  function* finish(pruner: Pruner): Steps<JsonObject> {
    yield* pruner.rest()
    return pruner.pruned
  }
  return {
    prune(document) {
      const pruner = new Pruner(document, listed, partOf)
      return pruner.isDone ? pruner.pruned : atOnce(finish(pruner))
    },
    pruneInSteps: (document) => finish(new Pruner(document, listed, partOf)),
  }
}

/**
 * Copies the indexed parts. Each copy is attached to its container before it is filled, so that the
 * copying can be interrupted.
 */
class Pruner {
  readonly pruned: JsonObject = new Map()
  readonly isDone: boolean
  readonly #walk = new InterruptibleWalk()
  readonly #partOf: PartOf

  constructor(document: JsonObject, listed: Listed, partOf: PartOf) {
    this.#partOf = partOf
    this.isDone = this.#fillRoot(document.entries(), listed)
  }

  rest(): Steps<void> {
    return this.#walk.rest()
  }

  #fillRoot(members: Members, listed: Listed): boolean {
    for (const [name, value] of members) {
      const part = isKeptAnyway(name) ? 'whole' : this.#partOf(listed.children.get(name))
      const isDone = this.#fillMember(this.pruned, name, value, part)
      if (this.#walk.isDue() || !isDone)
        return this.#walk.stop(() => this.#fillRoot(members, listed))
    }
    return true
  }

  #fillObject(copy: JsonObject, members: Members, listed: Listed): boolean {
    for (const [name, value] of members) {
      const part = this.#partOf(listed.children.get(name))
      const isDone = this.#fillMember(copy, name, value, part)
      if (this.#walk.isDue() || !isDone)
        return this.#walk.stop(() => this.#fillObject(copy, members, listed))
    }
    return true
  }

  #fillMember(copy: JsonObject, name: string, value: Value, part: IndexedPart): boolean {
    if (part === 'nothing') return true
    if (part === 'whole') {
      copy.set(name, value)
      return true
    }
    return this.#copy(value, part, (member) => copy.set(name, member))
  }

  #fillArray(copy: Value[], array: readonly Value[], from: number, listed: Listed) {
    for (let i = from; i < array.length; i++) {
      const isDone = this.#copy(array[i]!, listed, (element) => copy.push(element))
      if (this.#walk.isDue() || !isDone) {
        const next = i + 1
        return this.#walk.stop((): boolean => this.#fillArray(copy, array, next, listed))
      }
    }
    return true
  }

  #copy(value: Value, listed: Listed, put: (copy: Value) => void): boolean {
    if (Array.isArray(value)) {
      const copy: Value[] = []
      put(copy)
      return this.#fillArray(copy, value, 0, listed)
    }
    if (!isObject(value) || extendedOf(value) !== undefined) {
      put(value)
      return true
    }
    const copy: JsonObject = new Map()
    put(copy)
    return this.#fillObject(copy, value.entries(), listed)
  }
}

/** Remaining members of an object; the iterator keeps the position. */
type Members = MapIterator<[string, Value]>

const searchFields: ReadonlySet<string> = new Set(['$vector', '$vectorize', '$lexical'])

function isSearchField(segments: readonly string[]): boolean {
  return searchFields.has(segments[0]!)
}

function isKeptAnyway(name: string): boolean {
  return name === '_id' || searchFields.has(name)
}

/**
 * Whether a path is listed (or below a listed path), above a listed path, or neither. A numeric
 * segment may be an array position, which listed paths omit, or a field name. Both interpretations
 * are followed, and the one that is closest to a listed path counts.
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
    // The tree omits a path below another listed path: it is already included.
    tree.add(path.segments, true)
  }
  return tree
}
