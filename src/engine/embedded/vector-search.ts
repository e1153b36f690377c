/**
 * Search by vector: the index brings candidates, the store has the last word. Candidates
 * are compared by their stored vectors, in the state of the store that this read sees, so
 * scores are exact and what the index has not forgotten yet is never found.
 *
 * With a filter there are two ways. Where few documents match, they are listed and each is
 * looked at; where many do, the index is walked, and documents are asked on the way whether
 * they match. Which is cheaper follows from how many match (planSearch).
 */
import type { Filter } from '../../query/filter.ts'
import { similarityTo, type Metric } from '../../search/vector/similarity.ts'
import type { Breadth, VectorView } from '../../search/vector/vector-index.ts'
import type { Budget } from './budget.ts'
import { conditionOf } from './conditions.ts'
import type { Lead } from './leads.ts'
import type { ScoredRow } from './store-query.ts'
import { rowColumns, rowOf } from './store-connection.ts'
import type { StoreReader } from './store-reader.ts'
import { singlesOf } from './vector-feed.ts'

export interface VectorSearch {
  readonly query: Float32Array
  readonly metric: Metric
  readonly filter: Filter
  readonly limit: number
}

/** Between `beginRead` and `endRead` of the reader's store. */
export function searchVectors(
  reader: StoreReader,
  view: VectorView,
  search: VectorSearch,
  budget: Budget,
): ScoredRow[] {
  const candidates = findCandidates(reader, view, search, budget)
  budget.spend(candidates.length)
  return rank(reader, candidates, search).map(({ seq, score }) => ({
    row: rowOf(reader.store.one(`SELECT ${rowColumns} FROM doc d WHERE d.seq = ?`, [seq])!),
    score,
  }))
}

/** Up to so many matching documents are all compared: the result is exact. */
export const exactMax = 1000

/** Candidates that are kept on a walk, at least: more find more, and take longer. */
const walkMin = 128

function findCandidates(
  reader: StoreReader,
  view: VectorView,
  { query, filter, limit }: VectorSearch,
  budget: Budget,
): Iterable<number> & { readonly length: number } {
  const count = view.count
  const breadth = breadthFor(limit, count)
  if (filter.kind === 'and' && filter.of.length === 0) return view.search(query, breadth)
  const matches = matcher(reader, filter)
  const lead = leadWorthListing(reader, filter, count)
  if (lead === undefined) {
    const asked = (document: number): boolean => {
      budget.spend(1)
      return matches(document)
    }
    // Asked again at the end: a place in the index can change hands during the walk.
    return view.searchMatching(query, breadth, asked).filter(matches)
  }
  const documents = reader.allNumbers(filter, lead, budget)
  return documents.length <= exactMax
    ? documents
    : view.scan(query, breadth.count, documents)
}

/** Codes are coarser than vectors: the best are among a few more of the best by code. */
function breadthFor(limit: number, vectors: number): Breadth {
  const wanted = limit + Math.max(30, limit / 2)
  const count = Math.ceil(vectors <= exactMax ? exactMax : wanted)
  return { count, walk: Math.max(walkMin, count) }
}

/**
 * The part of the index of values to list the matching documents by; undefined where a walk
 * is cheaper. Listing costs as much as there are matches. A walk asks about documents until
 * enough of them match: the fewer match, the more it asks, each at the price of about eight
 * that are listed. So both cost the same where matches squared are some 300 times the
 * documents; beyond four times that a walk is better even if not all listed ones match.
 */
function leadWorthListing(
  reader: StoreReader,
  filter: Filter,
  vectors: number,
): Lead | undefined {
  return reader.selectiveLead(
    filter,
    Math.max(exactMax, Math.ceil(Math.sqrt(300 * vectors))),
  )
}

/** Whether a document matches, by its number. */
function matcher(reader: StoreReader, filter: Filter): (document: number) => boolean {
  const { store } = reader
  const { sql, parameters, exact } = conditionOf(filter, store.pathId)
  const select = `SELECT ${exact ? '1' : rowColumns} FROM doc d WHERE d.seq = ? AND ${sql}`
  return (document) => {
    const found = store.one(select, [document, ...parameters])
    return found !== undefined && (exact || reader.matches(filter, rowOf(found)))
  }
}

interface Scored {
  readonly seq: number
  readonly score: number
}

/** The best, best first, ties by ascending _id. */
function rank(
  { store }: StoreReader,
  candidates: Iterable<number>,
  { query, metric, limit }: VectorSearch,
): Scored[] {
  const scoreOf = similarityTo(metric, query)
  const scored: Scored[] = []
  for (const seq of new Set(candidates)) {
    const found = store.one('SELECT vector_form, vector FROM search WHERE doc = ?', [seq])
    const [form, bytes] = (found ?? []) as [number?, (Uint8Array | null)?]
    if (bytes) scored.push({ seq, score: scoreOf(singlesOf(form!, bytes)) })
  }
  const ids = new Map<number, Uint8Array>()
  const idOf = (seq: number): Uint8Array => {
    let id = ids.get(seq)
    if (id === undefined) {
      id = store.one('SELECT id FROM doc WHERE seq = ?', [seq])![0] as Uint8Array
      ids.set(seq, id)
    }
    return id
  }
  return scored
    .sort((a, b) => b.score - a.score || Buffer.compare(idOf(a.seq), idOf(b.seq)))
    .slice(0, limit)
}
