/**
 * Pages of a search. A search by terms has as many pages as needed: its page state contains the
 * last hit and the statistics of the scores, because the statistics change with every write. A
 * vector search has one page, with a warning when results were cut off.
 */
import type { Caller } from '../caller/caller.ts'
import type { ByTerms, Hit } from '../engine/contract.ts'
import type { ApiError } from '../errors/api-error.ts'
import type { LexicalOperator } from '../language/sorts/sort.ts'
import { decodeSearchState, encodeSearchState } from './page-state.ts'
import { exceeds } from './search.ts'
import { searchNearest, type NearestOptions } from './search-nearest.ts'
import { searchTerms, type TermsSearch } from './search-terms.ts'
import type { AnyQuery, AnySearch, Source } from './source.ts'

export type WantedHits<S extends AnySearch> = Omit<S, 'limit' | 'after' | 'sizeMax'> &
  Paging & {
    readonly by: S['by']
    /** For a search by terms; `all` by default. */
    readonly operator?: LexicalOperator | undefined
    /** For a search by vector. */
    readonly nearest?: NearestOptions
  }

interface Paging {
  /**
   * Computes the hash of the query; called only if the request has a page state, or if another page
   * follows.
   */
  readonly query: () => string
  /** Maximum hits of all pages together; undefined: no maximum. */
  readonly limit: number | undefined
  /** Absent or empty: the first page. */
  readonly pageState: string | undefined
}

export interface HitPage<Item> {
  readonly hits: Hit<Item>[]
  readonly nextPageState: string | null
  readonly warnings: readonly ApiError[]
}

export async function searchPage<Item, Q extends AnyQuery, S extends AnySearch>(
  source: Source<Item, Q, S>,
  wanted: WantedHits<S>,
  caller: Caller,
): Promise<HitPage<Item>> {
  const { query, pageState, limit, operator = 'all', nearest, ...search } = wanted
  const { by } = wanted
  if (by.kind === 'vector') {
    const range = { ...nearest, limit }
    return { ...lastPage, ...(await searchNearest(source, search, range, caller)) }
  }
  const byTerms = { ...search, by: by as ByTerms, operator }
  return searchByTerms(source, byTerms, { query, pageState, limit }, caller)
}

async function searchByTerms<Item, Q extends AnyQuery, S extends AnySearch>(
  source: Source<Item, Q, S>,
  wanted: { readonly by: ByTerms; readonly operator: LexicalOperator },
  { query, limit = Infinity, pageState }: Paging,
  caller: Caller,
): Promise<HitPage<Item>> {
  const { limits } = source
  const { by, operator } = wanted
  const termCount = by.terms.length
  const from = pageState
    ? decodeSearchState(pageState, query(), { termCount, operator }, limits)
    : undefined
  const before = from?.count ?? 0
  const left = limit - before
  if (left <= 0) return { ...lastPage, hits: [] }
  const count = Math.min(left, limits.pageSize)
  const asked = {
    ...wanted,
    // One more hit than a page has shows whether there is another page.
    limit: left > count ? count + 1 : count,
    after: from?.place,
  }
  const found = await searchTerms(source, asked as unknown as TermsSearch<S>, caller)
  const hits = found.hits.slice(0, count)
  const isMore = found.hits.length > count || (hits.length < left && exceeds(hits, source))
  if (!isMore) return { ...lastPage, hits }
  const place = found.placeAfter(hits.length - 1)
  const state = { count: before + hits.length, place }
  const paged = { noun: source.noun, sort: [], limits }
  return { ...lastPage, hits, nextPageState: encodeSearchState(state, query(), paged) }
}

const lastPage = { nextPageState: null, warnings: [] } as const
