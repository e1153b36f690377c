/**
 * Searching: by vector or by terms, best first. What an engine can't serve is found here, by
 * looking at every record; that is also what the word of an engine is tested against.
 */
import type { Caller } from '../caller.ts'
import type {
  Hit,
  Search,
  SearchBy,
  SearchPlace,
  SearchResult,
  StoredRecord,
} from '../engine/contract.ts'
import { apiError } from '../errors/api-error.ts'
import { analyzerFor } from '../search/lexical/analyzer.ts'
import { termScore, termWeight, type TermStatistics } from '../search/lexical/bm25.ts'
import { similarity } from '../search/vector/similarity.ts'
import { everything, type Filter } from '../language/filters/filter.ts'
import { compareValues } from '../language/values/order.ts'
import type { Path } from '../language/values/path.ts'
import type { Limits } from '../limits.ts'
import { anyOrder, matchesRecord, read, type Source } from './read.ts'
import { sizeMaxOf } from './read-page.ts'

/** The best, all of them at once: more than a reply can hold are refused. */
export async function search(
  source: Source,
  wanted: Search,
  caller: Caller,
): Promise<readonly Hit[]> {
  const { hits } = await searchUpToSize(source, wanted, caller)
  checkSize(hits, source.limits)
  return hits
}

/** The best, in the order in which they come, until there are as many as a reply can hold. */
export async function searchUpToSize(
  source: Source,
  wanted: Search,
  caller: Caller,
): Promise<SearchResult> {
  const sizeMax = sizeMaxOf(wanted.limit, source.limits)
  const bounded = sizeMax === undefined ? wanted : { ...wanted, sizeMax }
  const served = await source.engine.search(source.owner, bounded, caller)
  return served ?? (await searchHere(source, bounded, caller))
}

/** What has no further pages and does not fit can only be refused. */
export function checkSize(hits: readonly Hit[], { replySizeMax: max }: Limits): void {
  if (exceeds(hits, max)) throw apiError('REPLY_TOO_LARGE', { max })
}

export function exceeds(hits: readonly Hit[], sizeMax: number): boolean {
  return hits.reduce((size, { record }) => size + record.text.length, 0) > sizeMax
}

/**
 * Those of a filter's records that a search can find at all, as far as a filter can say it:
 * one whose vector was set to null since passes.
 */
export function withinReach(filter: Filter, by: SearchBy): Filter {
  switch (by.kind) {
    case 'vector':
      return both(filter, { kind: 'exists', path: pathOf(by.path), exists: true })
    case 'lexical':
      return both(filter, { kind: 'match', path: pathOf(by.path), terms: by.terms })
  }
}

function both(filter: Filter, other: Filter): Filter {
  return { kind: 'and', of: [filter, other] }
}

function pathOf(name: string): Path {
  return { text: name, segments: [name] }
}

async function searchHere(
  source: Source,
  { by, filter, limit, sizeMax, after }: Search,
  caller: Caller,
): Promise<SearchResult> {
  const all = {
    ...anyOrder,
    // The counts behind a BM25 score are those of all records, so the filter comes later.
    filter: by.kind === 'vector' ? filter : everything,
    limit: Number.MAX_SAFE_INTEGER,
    withSearchFields: true,
  }
  const { records } = await read(source, all, caller)
  const { scoreOf, statistics } =
    by.kind === 'vector'
      ? { scoreOf: bySimilarity(source, by) }
      : byTerms(source, by, records, after?.statistics)
  const hits: Hit[] = []
  for (const record of records) {
    const score = scoreOf(record)
    if (score === undefined || !isAfter({ record, score }, after)) continue
    if (by.kind === 'vector' || matchesRecord(source, filter, record))
      hits.push({ record, score })
  }
  hits.sort((a, b) => b.score - a.score || compareValues(a.record.id, b.record.id))
  return { hits: upToSize(hits.slice(0, limit), sizeMax), statistics }
}

function isAfter({ record, score }: Hit, after: SearchPlace | undefined): boolean {
  if (after === undefined) return true
  return score === after.score
    ? compareValues(record.id, after.id) > 0
    : score < after.score
}

/** The first of some hits: the one by which the texts are more than enough is the last. */
function upToSize(hits: readonly Hit[], sizeMax = Infinity): readonly Hit[] {
  let size = 0
  const last = hits.findIndex(({ record }) => (size += record.text.length) > sizeMax)
  return last < 0 ? hits : hits.slice(0, last + 1)
}

/** Undefined for records that have no place in the results. */
type ScoreOf = (record: StoredRecord) => number | undefined

function bySimilarity(
  { view }: Source,
  { path, numbers: query }: Extract<SearchBy, { kind: 'vector' }>,
): ScoreOf {
  const metric = view.vectors.get(path)!.metric!
  return (record) => {
    const numbers = view.vectorOf(record, path)
    const score = numbers && similarity(metric, query, Float32Array.from(numbers))
    // A zero vector has no direction.
    return Number.isNaN(score) ? undefined : score
  }
}

function byTerms(
  { view }: Source,
  { path, terms, anyTerm }: Extract<SearchBy, { kind: 'lexical' }>,
  records: readonly StoredRecord[],
  given: TermStatistics | undefined,
): { readonly scoreOf: ScoreOf; readonly statistics: TermStatistics } {
  const counted = new Map<StoredRecord, CountedTerms>()
  const analyzer = analyzerFor(view.texts.get(path)!.analyzer)
  for (const record of records) {
    const text = view.textOf(record, path)
    if (text) counted.set(record, countTerms(analyzer.terms(text)))
  }
  const texts = [...counted.values()]
  const statistics = given ?? {
    documents: texts.length,
    tokens: texts.reduce((sum, { length }) => sum + length, 0),
    documentFrequencies: terms.map(
      (term) => texts.filter(({ counts }) => counts.has(term)).length,
    ),
  }
  const weights = statistics.documentFrequencies.map((documents) =>
    termWeight(statistics, documents),
  )
  const scoreOf: ScoreOf = (record) => {
    const text = counted.get(record)
    if (text === undefined) return undefined
    let score = 0
    let found = 0
    for (const [i, term] of terms.entries()) {
      const count = text.counts.get(term)
      if (count === undefined) continue
      score += termScore(weights[i]!, count, text.length, statistics)
      found++
    }
    return found >= (anyTerm === true ? 1 : terms.length) ? score : undefined
  }
  return { scoreOf, statistics }
}

interface CountedTerms {
  readonly counts: ReadonlyMap<string, number>
  readonly length: number
}

function countTerms(terms: readonly string[]): CountedTerms {
  const counts = new Map<string, number>()
  for (const term of terms) counts.set(term, (counts.get(term) ?? 0) + 1)
  return { counts, length: terms.length }
}
