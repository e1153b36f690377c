/**
 * Plans reads.
 *
 * Counts of index entries decide the plan before any record is read; execute.ts executes it. Where
 * the cheaper of two methods depends on the records that a read finds, the plan has a bound, and
 * the read compares it with its own counts (`groupMax`, `unlistedMax`).
 */
import { everything, type Filter } from '../../../language/filters/filter.ts'
import type { SortKey } from '../../../language/values/sort-key.ts'
import { EngineError } from '../../errors.ts'
import type { StoredPosition } from '../format/position.ts'
import {
  accessPathsOf,
  bySize,
  sizeOf,
  smallest,
  type AccessPath,
  type SizedPath,
} from './access-paths.ts'
import { always, checksOf, type Checks, type ExpectedWork } from './checks.ts'
import { idBoundsOf } from './id-bounds.ts'
import { indexedPaths } from './indexed-paths.ts'
import type { Statistics } from './statistics.ts'
import { wantedBy, type ResultOrder, type StoreQuery } from './store-query.ts'

export interface Plan extends Checks {
  /**
   * Yields the candidates. A `ValueOrder` uses it only for large groups and for documents without a
   * value.
   */
  readonly access: AccessPath
  readonly order: ReadOrder
  /** Estimated number of entries that the read visits; undefined: not counted. */
  readonly expected: number | undefined
  /**
   * Whether the entries of the access path are listed and intersected with the documents that pass
   * the check, instead of checking them one by one.
   */
  readonly intersects: boolean
}

export type ReadOrder =
  /** The order of the access path: by document number, or by value in a range. */
  | { readonly by: 'path' }
  /** The order of ids: the access path is walked in this order. */
  | {
      readonly by: 'ids'
      readonly keys: readonly SortKey[]
      readonly direction: 1 | -1
    }
  /** Matches are collected in memory, and the first in the order of the sort are kept. */
  | { readonly by: 'memory'; readonly keys: readonly SortKey[] }
  | ValueOrder

/**
 * The order of the values of the first sort key: the index of its path is walked. Documents with
 * the same value are a group, which is sorted by the other keys and by id.
 */
export interface ValueOrder {
  readonly by: 'values'
  readonly keys: readonly SortKey[]
  /** Number of the first key's path; undefined: no document has it. */
  readonly path: number | undefined
  /** Number of all documents, and of documents without a value at the path. */
  readonly documents: number
  readonly without: number
  /** Estimated number of matches; undefined: not counted. */
  readonly matches: number | undefined
  /**
   * Largest group that is sorted. A larger group is found by a walk in id order that checks which
   * documents belong to the group. The bound falls with the number of rows that the page lacks
   * (`groupMax`).
   */
  readonly groupMax: number
  /**
   * Documents without a value are found by a walk in id order. If the walk is expected to visit
   * fewer documents than this, each of them is read. Otherwise the documents that have a value are
   * listed first, and the walk skips them.
   */
  readonly unlistedMax: number
}

/** Up to this many matches are sorted in memory, whatever the sort. */
const fewMatches = 50
/**
 * Divisor of `sortedMax` for matches that must be read before they are sorted: the square root of
 * 40, because reading a document costs about as much as visiting 40 entries.
 */
const fewerToSort = 6
/** Up to this many matches are sorted in memory instead of walking ids, whatever the limit. */
const sortedByIdMax = 1000
const unlistedMax = 5000
/** Maximum number of ids or entries that are counted for a read without a sort. */
const countedMax = 8192

const byPath: ReadOrder = Object.freeze({ by: 'path' })

/** Plans a read. `statistics` must be statistics of the snapshot that is read. */
export function planRead(query: StoreQuery, statistics: Statistics): Plan {
  const { filter, after, skip } = query
  const keys = sortOf(query)
  // The most frequent read: one document by its id.
  if (isOneId(filter) && after === undefined && skip === 0) {
    const access: AccessPath = { kind: 'id', id: filter.value, rest: everything }
    const order: ReadOrder = keys.length === 0 ? byPath : { by: 'memory', keys }
    return Object.freeze({
      ...{ access, check: always, document: undefined, order, expected: 1 },
      intersects: false,
    })
  }
  if (keys.length === 0) return planUnsorted(query, wantedBy(query), statistics)
  checkPosition(after, keys)
  return keys[0]!.path.text === '_id'
    ? planById(query, keys, statistics)
    : planByValue(query, keys, statistics)
}

/** Plans a read of all matches in any order. */
export function planCount(filter: Filter, statistics: Statistics): Plan {
  const query = { filter, stable: false, after: undefined }
  return planUnsorted(query, Infinity, statistics)
}

/** Plans a list of all matches in any order; undefined when there may be `max` matches or more. */
export function planList(
  filter: Filter,
  max: number,
  statistics: Statistics,
): Plan | undefined {
  const offered = bySize(accessPathsOf(filter, statistics), max, statistics)
  return offered.length > 0 && offered[0]!.size < max
    ? planSmallest(offered, Infinity, statistics)
    : undefined
}

/** Maximum number of documents for which collecting and sorting them is cheaper than a walk. */
function sortedMax(wanted: number, documents: number): number {
  return Math.ceil(Math.sqrt(wanted * documents))
}

/** Largest group that is sorted while a page lacks `missing` rows. */
export function groupMax(
  { keys, documents }: Pick<ValueOrder, 'keys' | 'documents'>,
  missing: number,
): number {
  // With several sort keys, all documents of a group are read, whatever its size.
  return keys.length === 1 ? Math.max(8, sortedMax(missing, documents)) : Infinity
}

export function resultOrder({ access, order }: Plan): ResultOrder {
  if (order.by !== 'path') return { by: 'sort', keys: order.keys }
  return access.kind === 'range'
    ? { by: 'range', path: access.range.pathText }
    : { by: 'seq' }
}

/** `wanted`: number of matches after which the read ends. */
function planOf(
  access: AccessPath,
  order: ReadOrder,
  expected: number | undefined,
  wanted: number,
  statistics: Statistics,
): Plan {
  const candidates = () => expected ?? sizeOf(access, countedMax, statistics)
  const { check, document } = checksOf(access.rest, statistics, { candidates, wanted })
  return Object.freeze({ access, check, document, order, expected, intersects: false })
}

/**
 * Follows the first of several access paths, and intersects it with the next if the walk is long
 * enough. `offered`: the smallest first.
 */
function planSmallest(
  offered: readonly SizedPath[],
  wanted: number,
  statistics: Statistics,
): Plan {
  const [{ access, size }, next] = offered as [SizedPath, SizedPath?]
  const plan = planOf(access, byPath, size, wanted, statistics)
  if (next === undefined || access.kind !== 'keys' || statistics.tie === 'id') return plan
  // The estimate assumes that matches are spread evenly.
  const visited = Math.min(size, (wanted * statistics.documents()) / next.size)
  const intersects = visited === size && size >= intersectedMin
  return intersects ? Object.freeze({ ...plan, intersects }) : plan
}

/** Minimum number of entries of an access path that is intersected: fewer are quickly checked. */
const intersectedMin = 64

function planUnsorted(
  query: Pick<StoreQuery, 'filter' | 'stable' | 'after'>,
  wanted: number,
  statistics: Statistics,
): Plan {
  const offered = unsortedPaths(query, statistics)
  if (offered.length > 1) {
    return planSmallest(bySize(offered, countedMax, statistics), wanted, statistics)
  }
  // If there is only one access path, its entries are not counted: the count would decide nothing.
  const access = offered[0] ?? { kind: 'all', rest: query.filter }
  const expected = access.kind === 'ids' ? access.ids.length : undefined
  return planOf(access, byPath, expected, wanted, statistics)
}

/**
 * The access paths that a query without a sort can follow. A stable read uses the order of document
 * numbers, which updates do not change. A later page continues in the order of the first page.
 */
function unsortedPaths(
  { filter, stable, after }: Pick<StoreQuery, 'filter' | 'stable' | 'after'>,
  statistics: Statistics,
): AccessPath[] {
  const offered = accessPathsOf(filter, statistics)
  if (offered[0]?.kind === 'ids') return offered
  const accessPaths = offered.filter((access) => {
    // Pages of an id range are read in id order, so this access path serves only counts and lists.
    if (access.kind === 'idRange') return after === undefined
    if (after?.by === 'range')
      return access.kind === 'range' && access.range.pathText === after.path
    return access.kind !== 'range' || (!stable && after === undefined)
  })
  if (after?.by === 'range' && accessPaths.length === 0)
    throw new EngineError('position', 'the position belongs to another query')
  return accessPaths
}

function planById(
  query: StoreQuery,
  keys: readonly SortKey[],
  statistics: Statistics,
): Plan {
  const { filter } = query
  const order: ReadOrder = { by: 'ids', keys, direction: keys[0]!.direction }
  const walk = walkOfIds(filter)
  const { check } = checksOf(walk.rest, statistics)
  // Every document of the walk matches.
  const wanted = wantedBy(query)
  if (check === always) return planOf(walk, order, wanted, wanted, statistics)
  const offered = accessPathsOf(filter, statistics)
  const [first, second] = offered
  if (first !== undefined && second === undefined && isByIdWithin(first, statistics))
    return planOf(first, order, undefined, wanted, statistics)
  const max = Math.max(sortedByIdMax, sortedMax(wanted, statistics.documents()))
  const best = smallest(offered, max, statistics)
  if (best === undefined || best.size >= max || best.access.kind === 'idRange')
    return planOf(walk, order, undefined, wanted, statistics)
  const { access, size } = best
  const isInOrder = isByIdWithin(access, statistics)
  return isInOrder
    ? planOf(access, order, size, wanted, statistics)
    : planOf(access, { by: 'memory', keys }, size, Infinity, statistics)
}

function planByValue(
  query: StoreQuery,
  keys: readonly SortKey[],
  statistics: Statistics,
): Plan {
  const { filter } = query
  const wanted = wantedBy(query)
  const documents = statistics.documents()
  const few = Math.max(fewMatches, Math.ceil(sortedMax(wanted, documents) / fewerToSort))
  const best = smallest(accessPathsOf(filter, statistics), few, statistics)
  if (best !== undefined && best.size < few)
    return planOf(best.access, { by: 'memory', keys }, best.size, Infinity, statistics)
  const { path } = keys[0]!
  const found = statistics.pathId(path.text)
  if (indexedPaths(path).loose || found === 'unindexed') {
    const access: AccessPath = { kind: 'all', rest: filter }
    return planOf(access, { by: 'memory', keys }, documents, Infinity, statistics)
  }
  const order: ReadOrder = {
    ...{ by: 'values', keys, documents, unlistedMax },
    path: found === 'absent' ? undefined : found,
    without: documents - statistics.documentsWith(path.text),
    matches: best?.size,
    groupMax: groupMax({ keys, documents }, wanted),
  }
  // The estimate assumes that matches are spread evenly.
  const expected = best && (wanted * documents) / Math.max(1, best.size)
  const isRange = best === undefined || best.access.kind === 'range'
  const work: ExpectedWork = { candidates: () => (isRange ? documents : best.size), wanted }
  const { check, document } = checksOf(filter, statistics, work)
  const access = walkOfIds(filter)
  return Object.freeze({ access, check, document, order, expected, intersects: false })
}

/** All documents within the id ranges of a filter. */
function walkOfIds(filter: Filter): AccessPath {
  const { bounds, rest } = idBoundsOf(filter)
  return bounds === undefined ? { kind: 'all', rest } : { kind: 'idRange', bounds, rest }
}

/** Whether the entries of each value of an access path are in id order. */
function isByIdWithin(access: AccessPath, { tie }: Statistics): boolean {
  return access.kind === 'keys' && tie === 'id' && access.keys.length > 0
}

function isOneId(filter: Filter): filter is Extract<Filter, { kind: 'eq' | 'ne' }> {
  return filter.kind === 'eq' && filter.path.text === '_id'
}

/**
 * The sort of a query. A query without a sort is read in id order when its filter bounds the ids.
 */
function sortOf({ sort, filter, after }: StoreQuery): readonly SortKey[] {
  const isById = sort.length === 0 && idBoundsOf(filter).bounds !== undefined
  return isById && (after === undefined || after.by === 'sort') ? byId : sort
}

const byId: readonly SortKey[] = [
  { path: { text: '_id', segments: ['_id'] }, direction: 1 },
]

function checkPosition(after: StoredPosition | undefined, keys: readonly SortKey[]): void {
  if (after === undefined) return
  if (after.by !== 'sort')
    throw new EngineError('position', 'the position belongs to another query')
  if (after.values.length !== keys.length)
    throw new EngineError('position', 'the position belongs to another sort')
}
