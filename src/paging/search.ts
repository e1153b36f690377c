/**
 * Searches by vector or terms, best first. Searches that an engine cannot execute are done
 * here by scanning all records; tests compare engines with this implementation. Memory
 * holds only as many records as are wanted.
 */
import type { Caller } from '../caller/caller.ts'
import type { Hit, SearchPlace, SearchResult } from '../engine/contract.ts'
import { upToSize } from '../engine/up-to-size.ts'
import { apiError } from '../errors/api-error.ts'
import type { Limits } from '../limits.ts'
import { termScore, termWeight, type TermStatistics } from '../search/lexical/bm25.ts'
import { similarity } from '../search/vector/similarity.ts'
import { inTurns, Pace } from '../runtime/steps.ts'
import { anyOrder, TopK, matching, type Wanted } from './read.ts'
import { sizeMaxOf } from './reply-size.ts'
import type { AnyQuery, AnySearch, Source } from './source.ts'

/** All best hits at once; throws when they exceed the size of a reply. */
export async function search<Item, Q extends AnyQuery, S extends AnySearch>(
  source: Source<Item, Q, S>,
  wanted: S,
  caller: Caller,
): Promise<readonly Hit<Item>[]> {
  const { hits } = await searchUpToSize(source, wanted, caller)
  checkSize(hits, source)
  return hits
}

/** The best hits in order, up to `sizeMax`; by default, up to the size of a reply. */
export async function searchUpToSize<Item, Q extends AnyQuery, S extends AnySearch>(
  source: Source<Item, Q, S>,
  wanted: S,
  caller: Caller,
): Promise<SearchResult<Item>> {
  const sizeMax = wanted.sizeMax ?? sizeMaxOf(wanted.limit, source.limits) ?? Infinity
  const bounded = sizeMax === Infinity ? wanted : { ...wanted, sizeMax }
  const served = await source.search(bounded, caller)
  return served ?? (await searchHere(source, bounded, caller))
}

interface Sized<Item> {
  readonly limits: Limits
  readonly sizeOf: (record: Item) => number
}

/** Rejects an unpaged result that exceeds the size of a reply. */
export function checkSize<Item>(hits: readonly Hit<Item>[], source: Sized<Item>): void {
  const max = source.limits.replySizeMax
  if (exceeds(hits, source)) throw apiError('REPLY_TOO_LARGE', { max })
}

export function exceeds<Item>(
  hits: readonly Hit<Item>[],
  { limits, sizeOf }: Sized<Item>,
): boolean {
  const size = hits.reduce((sum, { record }) => sum + sizeOf(record), 0)
  return size > limits.replySizeMax
}

async function searchHere<Item, Q extends AnyQuery, S extends AnySearch>(
  source: Source<Item, Q, S>,
  wanted: S,
  caller: Caller,
): Promise<SearchResult<Item>> {
  const { by, limit, sizeMax, scoreMin = -Infinity, after } = wanted
  const filter = wanted.filter as Q['filter']
  const fields = source.readFor(wanted)
  const records = (of: Q['filter']) => {
    const query = { ...anyOrder, ...fields, filter: of, limit: 500 }
    return matching(source, query as unknown as Wanted<Q>, caller)
  }
  const statistics =
    by.kind === 'vector'
      ? undefined
      : // BM25 scores depend on statistics of all records, not only of those that match the filter.
        (wanted.statistics ??
        (await countTerms(source, by as ByTerms<S>, records(source.everything))))
  const scoreOf =
    by.kind === 'vector'
      ? bySimilarity(source, by as Extract<S['by'], { readonly kind: 'vector' }>)
      : byTerms(source, by as ByTerms<S>, statistics!)
  const compare = (a: Hit<Item>, b: Hit<Item>) =>
    b.score - a.score || source.compareIds(source.idOf(a.record), source.idOf(b.record))
  const sizeOf = ({ record }: Hit<Item>) => source.sizeOf(record)
  const { limits } = source
  const options = { count: limit, compare, pace: new Pace(), sizeOf, sizeMax, limits }
  const best = new TopK<Hit<Item>>(options)
  for await (const record of records(filter)) {
    const score = scoreOf(record)
    if (score === undefined || score < scoreMin) continue
    if (!isAfter(source, record, score, after)) continue
    const cut = best.add({ record, score })
    if (cut !== undefined) await inTurns(cut, caller)
  }
  const inOrder = await inTurns(best.inOrder(), caller)
  return { hits: upToSize(inOrder, sizeOf, sizeMax), statistics }
}

function isAfter<Item, Q extends AnyQuery, S extends AnySearch>(
  source: Source<Item, Q, S>,
  record: Item,
  score: number,
  after: SearchPlace | undefined,
): boolean {
  if (after === undefined) return true
  if (score !== after.score) return score < after.score
  return source.compareIds(source.idOf(record), after.id) > 0
}

type Score<Item> = (record: Item) => number | undefined

/** Scores records by similarity. An undefined score excludes a record from the results. */
function bySimilarity<Item, Q extends AnyQuery, S extends AnySearch>(
  source: Source<Item, Q, S>,
  by: Extract<S['by'], { readonly kind: 'vector' }>,
): Score<Item> {
  const metric = source.metricOf(by)
  return (record) => {
    const numbers = source.vectorOf(record, by)
    const score = numbers && similarity(metric, by.numbers, Float32Array.from(numbers))
    // A zero vector has no direction, so the cosine similarity to it is NaN.
    return Number.isNaN(score) ? undefined : score
  }
}

type ByTerms<S extends AnySearch> = Extract<S['by'], { readonly kind: 'lexical' }>

async function countTerms<Item, Q extends AnyQuery, S extends AnySearch>(
  source: Source<Item, Q, S>,
  by: ByTerms<S>,
  records: AsyncIterable<Item>,
): Promise<TermStatistics> {
  let documents = 0
  let tokens = 0
  const documentFrequencies = by.terms.map(() => 0)
  for await (const record of records) {
    const own = source.termsOf(record, by)
    if (own === undefined) continue
    documents++
    tokens += own.length
    const distinct = new Set(own)
    for (const [i, term] of by.terms.entries())
      if (distinct.has(term)) documentFrequencies[i]!++
  }
  return { documents, tokens, documentFrequencies }
}

function byTerms<Item, Q extends AnyQuery, S extends AnySearch>(
  source: Source<Item, Q, S>,
  by: ByTerms<S>,
  statistics: TermStatistics,
): Score<Item> {
  const { terms, having } = by
  const weights = statistics.documentFrequencies.map((documents) =>
    termWeight(statistics, documents),
  )
  return (record) => {
    const own = source.termsOf(record, by)
    if (own === undefined) return undefined
    let score = 0
    let found = 0
    for (const [i, term] of terms.entries()) {
      const count = own.filter((other) => other === term).length
      if (count === 0) continue
      score += termScore(weights[i]!, count, own.length, statistics)
      found++
    }
    const isFull = found === terms.length
    return (having === 'all' ? isFull : found > 0 && !isFull) ? score : undefined
  }
}
