/**
 * Access paths. An access path is the part of the index that a query walks: it contains all
 * matching documents and as few others as possible. `rest` is the part of the filter that is left
 * to check on each of these documents.
 */
import { isExtended } from '../../../json/extended.ts'
import { isObject, type Value } from '../../../json/value.ts'
import { flatten, type Filter } from '../../../language/filters/filter.ts'
import { escapeSegment, type Path } from '../../../language/values/path.ts'
import { isScalar, keyOf } from '../../../language/values/key.ts'
import type { Bounds } from './bounds.ts'
import { idBoundsOf } from './id-bounds.ts'
import { indexedPaths } from './indexed-paths.ts'
import { rangesOf, type Range } from './ranges.ts'
import type { Statistics } from './statistics.ts'

export type AccessPath =
  /** All documents, in the order of document numbers. */
  (
    | { readonly kind: 'all' }
    /** The document with this id. */
    | { readonly kind: 'id'; readonly id: Value }
    /** Documents with these ids. */
    | { readonly kind: 'ids'; readonly ids: readonly Uint8Array[] }
    /** Documents with ids within bounds, in the order of ids. */
    | { readonly kind: 'idRange'; readonly bounds: readonly Bounds[] }
    /**
     * Documents with at least one of the values: by document number, or value by value in tables.
     */
    | { readonly kind: 'keys'; readonly keys: readonly Key[] }
    /** Documents whose text contains all terms, in the order of document numbers. */
    | {
        readonly kind: 'terms'
        readonly path: string
        readonly terms: readonly string[]
      }
    /** Documents with a value between two bounds, in the order of values. */
    | { readonly kind: 'range'; readonly range: Range }
  ) & {
    /** The part of the filter that the access path does not answer. */
    readonly rest: Filter
  }

export interface Key {
  readonly pathText: string
  readonly path: number
  readonly value: Uint8Array
}

/** Maximum number of keys of an access path. With more keys, a full scan is about as fast. */
const keysMax = 400

/**
 * Maximum number of values, over all $all operators of a filter, whose entries are counted to find
 * the rarest value.
 */
const countedMax = 64

/**
 * All access paths that a filter offers; an empty `keys` means that nothing can match. If the
 * filter names ids, the only access path is `ids`, because no other access path can be better.
 */
export function accessPathsOf(filter: Filter, statistics: Statistics): AccessPath[] {
  const parts = flatten(filter)
  const without = (served: readonly Filter[]): Filter => ({
    kind: 'and',
    of: parts.filter((part) => !served.includes(part)),
  })
  for (const part of parts) {
    if ((part.kind === 'eq' || part.kind === 'in') && part.path.text === '_id') {
      const values = 'values' in part ? part.values : [part.value]
      return [{ kind: 'ids', ids: values.map(keyOf), rest: without([part]) }]
    }
  }
  const accessPaths: AccessPath[] = []
  const alls = parts.filter(({ kind }) => kind === 'all').length
  const countedOfEach = Math.max(1, Math.floor(countedMax / alls))
  for (const part of parts) {
    if (part.kind === 'match') {
      const { path, terms } = part
      accessPaths.push({ kind: 'terms', path: path.text, terms, rest: without([part]) })
      continue
    }
    if (part.kind === 'all') {
      // Every match has all values of an $all, so each scalar gives an access path. Only the first
      // `countedOfEach` scalars are used.
      for (const value of part.values.filter(isScalar).slice(0, countedOfEach)) {
        const keys = keysOf({ ...part, kind: 'in', values: [value] }, statistics)
        if (keys !== undefined) accessPaths.push({ kind: 'keys', keys, rest: filter })
      }
      continue
    }
    const keys = keysOf(part, statistics)
    if (keys !== undefined && keys.length <= keysMax)
      accessPaths.push({
        kind: 'keys',
        keys,
        rest: isSaidByKeys(part) ? without([part]) : filter,
      })
  }
  for (const { range, served } of rangesOf(parts, statistics))
    accessPaths.push({ kind: 'range', range, rest: without(served) })
  const { bounds, rest } = idBoundsOf(filter)
  if (bounds !== undefined) accessPaths.push({ kind: 'idRange', bounds, rest })
  return accessPaths
}

/** An access path, and the number of its entries. */
export interface SizedPath {
  readonly access: AccessPath
  readonly size: number
}

/**
 * The access paths, those with the fewest entries first. The entries of the first path are counted
 * up to `max`, those of each later path only up to the smallest count so far.
 */
export function bySize(
  accessPaths: readonly AccessPath[],
  max: number,
  statistics: Statistics,
): SizedPath[] {
  let least = max
  const sized = accessPaths.map((access, i) => {
    const size = sizeOf(access, least, statistics)
    least = i === 0 ? size : Math.min(least, size)
    return { access, size }
  })
  return sized.sort((a, b) => a.size - b.size)
}

/** The access path with the fewest entries. */
export function smallest(
  accessPaths: readonly AccessPath[],
  max: number,
  statistics: Statistics,
): SizedPath | undefined {
  return bySize(accessPaths, max, statistics)[0]
}

/** Number of entries of an access path. A number above `max` may be an estimate. */
export function sizeOf(access: AccessPath, max: number, statistics: Statistics): number {
  switch (access.kind) {
    case 'all':
      return statistics.documents()
    case 'id':
      return 1
    case 'ids':
      return access.ids.length
    case 'keys':
      return access.keys.reduce(
        (size, { path, value }) => size + statistics.entriesOf(path, value),
        0,
      )
    case 'terms':
      return statistics.documentsWithTerms(access.path, access.terms)
    case 'idRange': {
      let size = 0
      for (const bounds of access.bounds)
        if (size < max) size += statistics.idsWithin(bounds, max - size)
      return size
    }
    case 'range':
      return statistics.entriesWithin(access.range, max)
  }
}

/** Whether a document satisfies the filter exactly when it has one of the keys of `keysOf`. */
function isSaidByKeys(filter: Filter): boolean {
  if (filter.kind !== 'eq' && filter.kind !== 'in') return false
  if (indexedPaths(filter.path).loose) return false
  // A null inside an array has the same key as a null at the path, but does not match $eq.
  if ('values' in filter) return filter.values.every(isScalar)
  return filter.value !== null && isScalar(filter.value)
}

/** Keys such that every match has at least one of them; undefined when there are no such keys. */
function keysOf(filter: Filter, statistics: Statistics): Key[] | undefined {
  switch (filter.kind) {
    case 'eq':
    case 'in': {
      if (filter.path.text === '_id' || filter.path.text.startsWith('$')) return undefined
      const keys: Key[] = []
      for (const value of 'values' in filter ? filter.values : [filter.value]) {
        const leaf = leafOf(filter.path, value)
        const { paths } = indexedPaths(leaf.path)
        if (paths.length === 0) return undefined
        for (const text of paths) {
          const path = statistics.pathId(text)
          if (path === 'unindexed') return undefined
          if (path !== 'absent')
            keys.push({ pathText: text, path, value: keyOf(leaf.value) })
        }
      }
      return keys
    }
    case 'and': {
      for (const part of filter.of) {
        const keys = keysOf(part, statistics)
        if (keys !== undefined) return keys
      }
      return undefined
    }
    case 'or': {
      const keys: Key[] = []
      for (const part of filter.of) {
        const found = keysOf(part, statistics)
        if (found === undefined) return undefined
        keys.push(...found)
      }
      return keys
    }
    default:
      return undefined
  }
}

/**
 * The scalar to look up for a whole object or array: an array equal to [7, 8] contains a 7, and an
 * object equal to {"zip": 7} has 7 at its path zip. Scalars are returned unchanged.
 */
function leafOf(path: Path, value: Value): { readonly path: Path; readonly value: Value } {
  if (Array.isArray(value)) return { path, value: value.find(isScalar) ?? value }
  if (!isObject(value) || isExtended(value)) return { path, value }
  for (const [name, child] of value) {
    const text = `${path.text}.${escapeSegment(name)}`
    const leaf = leafOf({ text, segments: [...path.segments, name] }, child)
    if (isScalar(leaf.value)) return leaf
  }
  return { path, value }
}
