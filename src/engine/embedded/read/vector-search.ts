/**
 * Search by vector: the index brings candidates, the store has the last word. Candidates
 * are compared by their stored vectors, in the state of the store that this read sees, so
 * scores are exact and what the index has not forgotten yet is never found.
 *
 * With a filter there are two ways. Where few documents match, they are listed and each is
 * looked at; where many do, the index is walked, and documents are asked on the way whether
 * they match. Which is cheaper follows from how many match (listMax). Where nearly all match,
 * the index is walked as if there were no filter, and the nearest are asked.
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
import type { ScoredRow } from './store-query.ts'
import type { StoreConnection } from '../store/store-connection.ts'
import type { StoreLookup } from './store-lookup.ts'

export interface VectorSearch {
  readonly query: Float32Array
  readonly metric: Metric
  readonly filter: Filter
  readonly limit: number
  readonly sizeMax?: number | undefined
}

/** What a search by vector searches in. */
export interface SearchedVectors {
  /** Tells the parts of the store apart that belong to different columns. */
  readonly suffix: string
  readonly view: VectorView
  readonly metric: Metric
  readonly matches: KnownMatches
}

/** Between `beginRead` and `endRead` of the reader's store. */
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
  let left = search.sizeMax ?? Infinity
  for (const { seq, distance } of ranked) {
    const row = reader.row(seq, budget)
    hits.push({ row, score: similarityAt(search.metric, distance) })
    left -= row.text.length
    if (left < 0) break
  }
  return hits
}

/** Candidates that a search gathers, at least: more find more, and take longer. */
const breadthMin = 128
/** With a filter that few match. */
const breadthMinFiltered = 48
/** When they cost next to nothing, because each vector is looked at anyway. */
const scanBreadthMin = 256

/** The share of matches from which on documents are asked only once they are found. */
const mostShare = 0.8

/** Candidates; others where the first turn out to be too few. */
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
  const listed = known.listOf(name, max, () => listMatches(reader, max, filter, budget))
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
  // The fewer match, the more is walked through for each, which finds more by itself.
  const narrowed = Math.max(breadthMinFiltered, 2 * limit, breadth * Math.sqrt(share))
  const candidates = view.searchMatching(query, Math.ceil(narrowed), matches, name)
  yield { candidates, matches }
  if (share * view.count >= limit)
    yield { candidates: view.scanAll(query, scanBreadth, matches), matches }
}

interface CandidateSet {
  readonly candidates: readonly Candidate[]
  /** To be asked once more: a place in the index can change hands during a walk. */
  readonly matches?: (document: number) => boolean
}

/**
 * How many matches are worth listing. Listing costs as much as there are matches. A walk asks
 * about documents until enough of them match: the fewer match, the more it asks, each at the
 * price of a few that are listed. So both cost the same where matches squared are some hundred
 * times the documents. A list that is used again may be longer: looking at each document of
 * it takes a twentieth of what listing does.
 */
function listMax({ count }: VectorView, isAgain: boolean): number {
  const once = Math.ceil(Math.sqrt(300 * count))
  return Math.max(scanBreadthMin, once, isAgain ? Math.min(count >> 3, listMaxAgain) : 0)
}

/** Beyond this, looking at each takes longer than a walk whatever the list has cost. */
const listMaxAgain = 20_000

/** The documents that match, if there are fewer than so many. */
function listMatches(
  reader: StoreLookup,
  max: number,
  filter: Filter,
  budget: Budget,
): Float64Array | undefined {
  const lead = reader.selectiveLead(filter, max, budget)
  return lead && reader.allNumbers(filter, lead, budget)
}

/** About which part of the documents matches, by asking a few. */
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
 * What is known of the documents that match filters: searches with the same filter come one
 * after the other, and as long as nothing is written the answers are the same.
 */
export class KnownMatches {
  readonly #known = new Map<string, Known>()
  #listed = 0

  /** A name for what a filter means in this state of the store. */
  nameOf(filter: Filter, { store }: StoreLookup): string {
    return `${store.meta('version')} ${serialize(filter).toString('latin1')}`
  }

  /** Whether a search with this name was made before. */
  isKnown(name: string): boolean {
    return this.#known.has(name)
  }

  /** The documents that match, if they are fewer than so many; listed once. */
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

  /** The part of the documents that matches, worked out once. */
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
  /** There are at least so many, if there is no list. */
  moreThan: number
  share: number | undefined
}

const namesMax = 1000
/** Numbers that are remembered: eight megabytes of them. */
const listedMax = 1_000_000

interface Ranked {
  readonly seq: number
  readonly distance: number
}

/** Up to so many candidates are all compared, so that among few the result is exact. */
const exactMax = 100

/** Comparisons beyond those that are wanted, before it is known how far off codes are. */
const extraMin = 8

/**
 * The best by their stored vectors, best first, ties by ascending _id. Goes through the
 * candidates until the codes of the rest are farther away than the worst that is wanted, by
 * twice what codes were off so far.
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
    // A zero vector from before there was an index: it has no direction.
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

/** Compares documents by their _ids, which are read only where something ties. */
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
