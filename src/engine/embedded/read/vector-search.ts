/**
 * Search by vector. The index yields candidates, which are rescored by their stored vectors in the
 * snapshot of this read. So scores are exact, and deleted documents that the index still contains
 * are never returned.
 *
 * A search with a filter has three methods. If few documents match, they are listed and each vector
 * is compared. If many match, the index is walked, and documents are checked during the walk;
 * listMax gives the break-even point. If nearly all match, the index is searched without the
 * filter, and the nearest documents are checked.
 */
import { serialize } from 'node:v8'
import type { Filter } from '../../../language/filters/filter.ts'
import {
  distanceFrom,
  similarityAt,
  type Metric,
} from '../../../search/vector/similarity.ts'
import {
  scanMax,
  type Candidate,
  type VectorView,
} from '../../../search/vector/vector-index.ts'
import { foundMax } from '../../../search/vector/segment.ts'
import type { Budget } from '../store/budget.ts'
import { listMatches } from './execute.ts'
import type { ScoredRow } from './store-query.ts'
import type { StoreConnection } from '../store/store-connection.ts'
import type { StoreLookup } from './store-lookup.ts'

export interface VectorSearch {
  readonly query: Float32Array
  readonly metric: Metric
  readonly filter: Filter
  readonly limit: number
  readonly sizeMax?: number | undefined
  readonly scoreMin?: number | undefined
}

/** The vector index of one field. */
export interface SearchedVectors {
  /** Suffix in the name of the store's table for the field. */
  readonly suffix: string
  readonly view: VectorView
  readonly metric: Metric
  readonly matches: KnownMatches
}

/**
 * The best rows of a search. Must be called between `beginRead` and `endRead` of the reader's
 * store.
 */
export function searchVectors(
  reader: StoreLookup,
  vectors: SearchedVectors,
  search: VectorSearch,
  budget: Budget,
): ScoredRow[] {
  let ranked: Ranked[] = []
  for (const found of findCandidates(reader, vectors, search, budget)) {
    ranked = rank(reader.store, vectors.suffix, found, search)
    if (ranked.length === search.limit) break
  }
  const hits: ScoredRow[] = []
  const { scoreMin = -Infinity } = search
  let left = search.sizeMax ?? Infinity
  for (const { seq, distance } of ranked) {
    const score = similarityAt(search.metric, distance)
    if (score < scoreMin) break
    const row = reader.row(seq, budget)
    hits.push({ row, score })
    left -= row.text.length
    if (left < 0) break
  }
  return hits
}

/** Minimum number of candidates. More candidates improve recall and take longer. */
const breadthMin = 128
/** Minimum number of candidates with a selective filter. */
const breadthMinFiltered = 48
/**
 * Minimum number of candidates of a scan. A scan compares every vector, so more candidates cost
 * little.
 */
const scanBreadthMin = 256

/** If at least this share of the documents matches, the filter is checked after the search. */
const mostShare = 0.8

/**
 * Yields sets of candidates. The next set is requested when the previous set had too few matches.
 */
function* findCandidates(
  reader: StoreLookup,
  { view, matches: known }: SearchedVectors,
  { query, filter, limit }: VectorSearch,
  budget: Budget,
): Generator<CandidateSet> {
  const breadth = Math.max(breadthMin, 2 * limit)
  const scanBreadth = Math.max(scanBreadthMin, 2 * limit)
  const unfiltered = view.count <= scanMax ? scanBreadth : breadth
  if (filter.kind === 'and' && filter.of.length === 0) {
    yield { candidates: view.search(query, unfiltered) }
    if (view.count >= limit) yield { candidates: view.scanAll(query, scanBreadth) }
    return
  }
  const name = known.nameOf(filter, reader)
  const max = listMax(view, known.isKnown(name))
  const listed = known.listOf(name, max, () => listMatches(filter, max, reader, budget))
  if (listed !== undefined) {
    yield { candidates: view.scan(query, scanBreadth, listed) }
    return
  }
  const lookup = reader.lookup(filter, false, budget)
  const matches = (document: number): boolean => lookup(document) !== undefined
  const share = known.share(name, () => sampleShare(reader, matches))
  if (share >= mostShare) {
    const candidates = view.search(query, Math.min(foundMax, Math.ceil(unfiltered / share)))
    yield { candidates, matches }
  }
  // The fewer documents match, the more nodes the walk visits per match. This improves recall, so
  // fewer candidates are needed.
  const narrowed = Math.max(breadthMinFiltered, 2 * limit, breadth * Math.sqrt(share))
  const candidates = view.searchMatching(query, Math.ceil(narrowed), matches, name)
  yield { candidates, matches }
  // This set is only requested if the walk found too few results. The walk has then checked all
  // documents that it reached, so the scan only checks the others (cached by `name`).
  yield { candidates: view.scanMatching(query, scanBreadth, matches, name), matches }
}

interface CandidateSet {
  readonly candidates: readonly Candidate[]
  /**
   * Checks each candidate again: a slot of the index can be reused by another document during a
   * walk.
   */
  readonly matches?: (document: number) => boolean
}

/**
 * Number of matches up to which listing them is cheaper than a walk. Listing M matches costs about
 * M. A walk checks documents until enough of them match, so its cost grows with N / M for N
 * documents, and a check costs several times as much as listing a match. Both methods cost the same
 * at about M * M = 300 * N. A list that is used again may be longer, because comparing a vector
 * costs a twentieth of listing a document.
 */
function listMax({ count }: VectorView, isAgain: boolean): number {
  const once = Math.ceil(Math.sqrt(300 * count))
  return Math.max(scanBreadthMin, once, isAgain ? Math.min(count >> 3, listMaxAgain) : 0)
}

/**
 * Maximum length of a cached list of matches. With more matches, a walk is faster than comparing
 * all their vectors.
 */
const listMaxAgain = 20_000

/** Estimates the selectivity of a filter from a random sample. */
function sampleShare(
  { store }: StoreLookup,
  matches: (document: number) => boolean,
): number {
  const [least, most] = store.one('SELECT min(seq), max(seq) FROM doc', []) as [
    number | null,
    number,
  ]
  if (least === null) return 0
  let matching = 0
  for (let i = 0; i < sampleSize; i++) {
    const from = least + Math.floor(((most - least) * (i + Math.random())) / sampleSize)
    const [seq] = store.one('SELECT seq FROM doc WHERE seq >= ? LIMIT 1', [from])!
    if (matches(seq as number)) matching++
  }
  return matching / sampleSize
}

const sampleSize = 64

/**
 * Cache of the matches of filters. Searches often repeat a filter, and its matches stay valid until
 * the next write.
 */
export class KnownMatches {
  readonly #known = new Map<string, Known>()
  #listed = 0

  /** Cache key of a filter in the current version of the store. */
  nameOf(filter: Filter, { store }: StoreLookup): string {
    return `${store.meta('version')} ${serialize(filter).toString('latin1')}`
  }

  /** Whether a search with this filter was made since the last write. */
  isKnown(name: string): boolean {
    return this.#known.has(name)
  }

  /** The list of matches if there are fewer than `max`; cached. */
  listOf(
    name: string,
    max: number,
    list: () => Float64Array | undefined,
  ): Float64Array | undefined {
    const known = this.#of(name)
    if (known.list === undefined && known.moreThan < max) {
      known.list = list()
      known.moreThan = max
      this.#listed += known.list?.length ?? 0
    }
    return known.list
  }

  /** The estimated selectivity of the filter; cached. */
  share(name: string, work: () => number): number {
    const known = this.#of(name)
    known.share ??= work()
    return known.share
  }

  #of(name: string): Known {
    const known = this.#known.get(name)
    if (known !== undefined) return known
    if (this.#known.size >= namesMax || this.#listed > listedMax) {
      this.#known.clear()
      this.#listed = 0
    }
    const fresh: Known = { list: undefined, moreThan: 0, share: undefined }
    this.#known.set(name, fresh)
    return fresh
  }
}

interface Known {
  list: Float64Array | undefined
  /** Lower bound of the number of matches when there is no list; 0 if not counted. */
  moreThan: number
  share: number | undefined
}

const namesMax = 1000
/** Maximum number of cached document numbers (8 MB). */
const listedMax = 1_000_000

interface Ranked {
  readonly seq: number
  readonly distance: number
}

/**
 * Up to this many candidates are all compared by their vectors, so that results are exact among few
 * documents.
 */
const exactMax = 100

/**
 * Number of comparisons beyond `limit` after which the largest error of codes so far is a
 * usable estimate.
 */
const extraMin = 8

/**
 * The best candidates by their stored vectors, best first, ties by ascending _id. Stops at the
 * first candidate whose coded distance exceeds the distance of the farthest result by more than
 * twice the largest error of codes so far.
 */
function rank(
  store: StoreConnection,
  suffix: string,
  { candidates, matches }: CandidateSet,
  { query, metric, limit }: VectorSearch,
): Ranked[] {
  const distanceOf = distanceFrom(metric, query)
  const nearest: Ranked[] = []
  const seen = new Set<number>()
  const ids = new IdOrder(store)
  const compare = (a: Ranked, b: Ranked): number =>
    similarityAt(metric, a.distance) === similarityAt(metric, b.distance)
      ? ids.compare(a.seq, b.seq)
      : a.distance - b.distance
  let off = 0
  for (const { document, distance: byCode } of candidates) {
    if (
      candidates.length > exactMax &&
      nearest.length >= limit &&
      seen.size >= limit + extraMin &&
      byCode - 2 * off > nearest.at(-1)!.distance
    )
      break
    if (seen.has(document)) continue
    seen.add(document)
    const vector = store.vectorOf(document, suffix)
    if (vector === undefined) continue
    const distance = distanceOf(vector)
    // The distance to a zero vector is undefined. The vector was stored before the index was
    // created.
    if (Number.isNaN(distance)) continue
    off = Math.max(off, byCode - distance)
    const item = { seq: document, distance }
    if (nearest.length >= limit && compare(item, nearest.at(-1)!) >= 0) continue
    if (matches !== undefined && !matches(document)) continue
    insertInOrder(nearest, item, compare)
    if (nearest.length > limit) nearest.pop()
  }
  return nearest
}

function insertInOrder<T>(list: T[], item: T, compare: (a: T, b: T) => number): void {
  let low = 0
  let high = list.length
  while (low < high) {
    const middle = (low + high) >> 1
    if (compare(item, list[middle]!) < 0) high = middle
    else low = middle + 1
  }
  list.splice(low, 0, item)
}

/** Compares documents by _id, which is read only for ties. */
class IdOrder {
  readonly #store: StoreConnection
  readonly #ids = new Map<number, Uint8Array>()

  constructor(store: StoreConnection) {
    this.#store = store
  }

  compare(a: number, b: number): number {
    return Buffer.compare(this.#idOf(a), this.#idOf(b))
  }

  #idOf(document: number): Uint8Array {
    let id = this.#ids.get(document)
    if (id === undefined) this.#ids.set(document, (id = this.#store.idOf(document)))
    return id
  }
}
