/**
 * Pages of a search. By terms there are as many as it takes: a page state says which hit was
 * the last, and carries the statistics that scores were counted with, since those change with
 * every write. By vector there is one, and a warning where it does not hold all.
 */
import type { Caller } from '../caller.ts'
import type { Hit, Search, SearchBy } from '../engine/contract.ts'
import { apiError, type ApiError } from '../errors/api-error.ts'
import { decodeSearchState, encodeSearchState } from './page-state.ts'
import type { Source } from './read.ts'
import { checkSize, exceeds, search, searchUpToSize } from './search.ts'

export interface WantedHits extends Pick<Search, 'by' | 'filter' | 'withSearchFields'> {
  /** Names the query; asked only when there is another page. */
  readonly query: () => string
  /** Over all pages; undefined: all that there are. */
  readonly limit: number | undefined
  /** Absent or empty: the first page. */
  readonly pageState: string | undefined
}

export interface HitPage {
  readonly hits: readonly Hit[]
  readonly nextPageState: string | null
  readonly warnings: readonly ApiError[]
}

export async function searchPage(
  source: Source,
  wanted: WantedHits,
  caller: Caller,
): Promise<HitPage> {
  const { by } = wanted
  return by.kind === 'vector'
    ? searchNearest(source, { ...wanted, by }, caller)
    : searchByTerms(source, { ...wanted, by }, caller)
}

/** The one page of a search by vector. */
async function searchNearest(
  source: Source,
  { by, filter, withSearchFields, limit }: WantedHits,
  caller: Caller,
): Promise<HitPage> {
  const max = source.limits.vectorLimitMax
  if (limit !== undefined && limit <= max) {
    const wanted = { by, filter, withSearchFields, limit }
    return { ...lastPage, hits: await search(source, wanted, caller) }
  }
  // One beyond the maximum tells whether the result is cut short.
  const wanted = { by, filter, withSearchFields, limit: max + 1 }
  const found = await searchUpToSize(source, wanted, caller)
  const hits = found.hits.slice(0, max)
  checkSize(hits, source.limits)
  if (found.hits.length === hits.length) return { ...lastPage, hits }
  const noun = source.view.kind
  const warning = apiError('VECTOR_SEARCH_RESULTS_TRUNCATED', { max, noun })
  return { ...lastPage, hits, warnings: [warning] }
}

type TermsBy = Extract<SearchBy, { readonly kind: 'lexical' }>

async function searchByTerms(
  source: Source,
  wanted: WantedHits & { readonly by: TermsBy },
  caller: Caller,
): Promise<HitPage> {
  const { by, filter, withSearchFields, query, limit = Infinity, pageState } = wanted
  const { limits } = source
  const from = pageState
    ? decodeSearchState(pageState, query(), by.terms.length, limits)
    : undefined
  const before = from?.count ?? 0
  const left = limit - before
  if (left <= 0) return { ...lastPage, hits: [] }
  const count = Math.min(left, limits.pageSize)
  const found = await searchUpToSize(
    source,
    {
      by,
      filter,
      withSearchFields,
      // One beyond the page tells whether there is another.
      limit: left > count ? count + 1 : count,
      after: from?.place,
    },
    caller,
  )
  const hits = found.hits.slice(0, count)
  const isMore =
    found.hits.length > count || (hits.length < left && exceeds(hits, limits.replySizeMax))
  if (!isMore) return { ...lastPage, hits }
  const { score, record } = hits.at(-1)!
  const place = { statistics: found.statistics!, score, id: record.id }
  const state = { count: before + hits.length, place }
  return { ...lastPage, hits, nextPageState: encodeSearchState(state, query()) }
}

const lastPage = { nextPageState: null, warnings: [] } as const
