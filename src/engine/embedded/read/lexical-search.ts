/**
 * Searches by terms: scores documents that have all or some of the terms, and returns the best.
 *
 * Ties are frequent: texts of the same length that contain a word once have the same score. So hits
 * are taken in groups of equal score, and within a group in the order of ids.
 */
import { replaceLeast } from '../lexical/top-scores.ts'
import { everything, type Filter } from '../../../language/filters/filter.ts'
import { keyOf } from '../../../language/values/key.ts'
import type { ByTerms, SearchPlace } from '../../contract.ts'
import type { TermStatistics } from '../../../search/lexical/bm25.ts'
import { documentCost, type Budget } from '../store/budget.ts'
import type { Scored } from '../lexical/top-scores.ts'
import { listMatches } from './execute.ts'
import type { StoreConnection } from '../store/store-connection.ts'
import type { ScoredRow, ScoredRows } from './store-query.ts'
import type { StoreLookup } from './store-lookup.ts'

export interface LexicalSearch {
  /** Path of the searched text. */
  readonly path: string
  readonly terms: readonly string[]
  readonly having: ByTerms['having']
  readonly filter: Filter
  readonly limit: number
  readonly sizeMax?: number | undefined
  readonly after?: SearchPlace | undefined
  readonly statistics?: TermStatistics | undefined
}

/** The best rows after the position `after`, best first, ties by ascending _id. */
export function searchLexical(
  reader: StoreLookup,
  search: LexicalSearch,
  budget: Budget,
): ScoredRows {
  const { path, terms, filter, limit, after } = search
  const among = matchesOf(reader, search, budget)
  const lexical = reader.lexical(path)
  // Only the best `wanted` documents get a score. If the filter is checked afterwards, more than
  // `limit` documents are wanted.
  const isFiltered = among === undefined && !isEverything(filter)
  let { statistics } = search
  const scoreBest = (wanted: number): Scored => {
    const options = { among, wanted, ceiling: after?.score, statistics }
    const scored =
      search.having === 'some'
        ? lexical.scoreWithSome(terms, options, budget)
        : lexical.scoreWithAll(terms, options, budget)
    statistics = scored.statistics
    return scored
  }
  for (let wanted = isFiltered ? 2 * limit + 16 : limit; ; wanted *= 16) {
    const scored = scoreBest(wanted)
    const { hits, isFull } = takeBest(reader, search, scored, among, budget)
    if (isFull || scored.seqs.length < wanted) return { hits, statistics }
  }
}

/**
 * The best scored documents that match the filter. If `among` lists the matches, the scored
 * documents satisfy the filter already.
 */
function takeBest(
  reader: StoreLookup,
  search: LexicalSearch,
  scored: Scored,
  among: Float64Array | undefined,
  budget: Budget,
): { readonly hits: ScoredRow[]; readonly isFull: boolean } {
  const { filter, limit, after } = search
  const withTexts = budget.hold === undefined
  const lookup = reader.lookup(among === undefined ? filter : everything, withTexts, budget)
  const hits: ScoredRow[] = []
  let left = search.sizeMax ?? Infinity
  for (const group of groupsAfter(after, scored, limit)) {
    const missing = limit - hits.length
    for (const seq of inOrderOfIds(reader.store, group, missing, budget)) {
      budget.spend(documentCost)
      const row = lookup(seq)
      if (row === undefined) continue
      hits.push({ row, score: group.score })
      if (withTexts) left -= row.text.length
      if (hits.length === limit || left < 0) return { hits, isFull: true }
    }
  }
  return { hits, isFull: false }
}

/**
 * The sorted numbers of the documents that match the filter, if they are few enough to list.
 * Otherwise the filter is checked on the documents with the best scores. With M matches among N
 * documents, this takes limit * N / M checks: more than M if M < sqrt(limit * N).
 */
function matchesOf(
  reader: StoreLookup,
  { path, terms, having, filter, limit }: LexicalSearch,
  budget: Budget,
): Float64Array | undefined {
  if (isEverything(filter)) return undefined
  const looksMax = Math.sqrt(limit * reader.store.documentCount())
  const sizeMax = having === 'some' ? Infinity : reader.lexical(path).sizeMax(terms)
  const max = Math.ceil(documentCost * Math.min(looksMax, sizeMax))
  if (max === 0) return undefined
  // Counting an entry costs about a twentieth of a lookup.
  budget.spend(Math.ceil(max / 20))
  return listMatches(filter, max, reader, budget)
}

function isEverything(filter: Filter): boolean {
  return filter.kind === 'and' && filter.of.length === 0
}

interface Group {
  readonly score: number
  readonly seqs: Float64Array
  /** Only documents with greater ids are wanted from this group. */
  readonly afterId?: Uint8Array
}

/**
 * The groups after a position. The first group is partial if other documents have the position's
 * score.
 */
function* groupsAfter(
  after: SearchPlace | undefined,
  scored: Scored,
  wanted: number,
): Generator<Group> {
  if (after === undefined) {
    yield* groupsOf(scored, wanted)
    return
  }
  const { score, id } = after
  const { seqs } = thoseOf(scored, (other) => other === score)
  if (seqs.length > 0) yield { score, seqs, afterId: keyOf(id) }
  const below = thoseOf(scored, (other) => other < score)
  yield* groupsOf(below, wanted)
}

function thoseOf({ seqs, scores }: Scored, holds: (score: number) => boolean): Scored {
  const chosen: number[] = []
  for (let i = 0; i < scores.length; i++) if (holds(scores[i]!)) chosen.push(i)
  return {
    seqs: Float64Array.from(chosen, (i) => seqs[i]!),
    scores: Float64Array.from(chosen, (i) => scores[i]!),
  }
}

/**
 * Documents in groups of equal score, best first. Sorts only the best `wanted` documents at first,
 * and four times as many whenever the caller needs more.
 */
export function* groupsOf({ seqs, scores }: Scored, wanted: number): Generator<Group> {
  let below = Infinity
  let sorted: Float64Array | undefined
  const sortedAt = (size: number) => (sorted ??= scores.toSorted()).at(-size)
  for (let size = wanted; ; size *= 4) {
    const low = (size <= heapMax ? kthBest(scores, size) : sortedAt(size)) ?? -Infinity
    const chosen: number[] = []
    for (let i = 0; i < scores.length; i++)
      if (scores[i]! >= low && scores[i]! < below) chosen.push(i)
    chosen.sort((a, b) => scores[b]! - scores[a]!)
    for (let start = 0; start < chosen.length;) {
      const score = scores[chosen[start]!]!
      let end = start + 1
      while (end < chosen.length && scores[chosen[end]!] === score) end++
      yield { score, seqs: Float64Array.from(chosen.slice(start, end), (i) => seqs[i]!) }
      start = end
    }
    if (low === -Infinity) return
    below = low
  }
}

/** Above this number of wanted documents, sorting all scores is cheaper than a heap of the best. */
const heapMax = 20_000

/** The score of the `size`-th best document; undefined when there are at most `size` documents. */
function kthBest(scores: Float64Array, size: number): number | undefined {
  if (scores.length <= size) return undefined
  // Min-heap of the best scores so far.
  const heap = scores.slice(0, size).sort()
  for (let i = size; i < scores.length; i++) {
    const score = scores[i]!
    if (score > heap[0]!) replaceLeast(heap, size, score)
  }
  return heap[0]
}

/**
 * Sorts documents by id. In a large group, the first ids are found sooner by walking all documents
 * by id.
 */
function* inOrderOfIds(
  store: StoreConnection,
  { seqs, afterId }: Group,
  wanted: number,
  budget: Budget,
): Generator<number> {
  if (seqs.length === 1 && afterId === undefined) {
    yield seqs[0]!
    return
  }
  if (seqs.length > Math.max(wanted, Math.sqrt(wanted * store.documentCount()))) {
    yield* walkIds(store, new Set(seqs), afterId, budget)
    return
  }
  budget.spend(seqs.length)
  const ids = Array.from(seqs, (seq) => ({ seq, id: store.idOf(seq) }))
  for (const { seq, id } of ids.sort((a, b) => Buffer.compare(a.id, b.id)))
    if (afterId === undefined || Buffer.compare(id, afterId) > 0) yield seq
}

function* walkIds(
  store: StoreConnection,
  seqs: ReadonlySet<number>,
  afterId: Uint8Array | undefined,
  budget: Budget,
): Generator<number> {
  let after = afterId ?? new Uint8Array(0)
  for (;;) {
    budget.spend(walkStep)
    const rows = store.all('SELECT seq, id FROM doc WHERE id > ? ORDER BY id LIMIT ?', [
      after,
      walkStep,
    ]) as [number, Uint8Array][]
    for (const [seq] of rows) if (seqs.has(seq)) yield seq
    if (rows.length < walkStep) return
    after = rows.at(-1)![1]
  }
}

const walkStep = 512
