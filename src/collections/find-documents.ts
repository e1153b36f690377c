/** Reads pages of documents, single documents, and counts. */
import type { Caller } from '../caller/caller.ts'
import type { SearchBy, StoredRecord } from '../engine/contract.ts'
import { wholeText } from '../json/long-text.ts'
import type { Filter } from '../language/filters/filter.ts'
import { operatorOf } from '../language/sorts/sort.ts'
import { findTopK, type TopKPage, type SearchSort } from '../paging/find-top-k.ts'
import { nameQuery } from '../paging/page-state.ts'
import { anyOrder, count, read } from '../paging/read.ts'
import { readPage } from '../paging/read-page.ts'
import { searchUpToSize } from '../paging/search.ts'
import {
  checkNearestOptions,
  isDiverse,
  type NearestOptions,
} from '../paging/search-nearest.ts'
import { searchTerms } from '../paging/search-terms.ts'
import { showAll, showOne } from '../paging/show-all.ts'
import { andThen } from '../runtime/steps.ts'
import { show, showsSearchFields } from './records.ts'
import type { DocumentSource } from './search-fields.ts'
import { documentsSearchedBy } from './searched-by.ts'
import type { Selection } from './selection.ts'

/** A page; only searches have warnings. */
export type FoundPage = Omit<TopKPage, 'warnings'> & Partial<TopKPage>

export interface FindOptions extends FindOneOptions {
  readonly skip?: number | undefined
  readonly limit?: number | undefined
  readonly pageState?: string | undefined
}

export interface FindOneOptions extends NearestOptions {
  readonly includeSimilarity?: boolean
}

export interface FoundOne {
  /** JSON text; null when nothing was found. */
  readonly document: string | null
  readonly sortVector?: Float32Array
}

/**
 * Reads one page. The limit applies to all pages together, the skip to the first page. Searches
 * start with the best result and cannot skip; a vector search has a single page.
 */
export async function findDocuments(
  store: DocumentSource,
  selection: Selection,
  options: FindOptions,
  caller: Caller,
): Promise<FoundPage> {
  const { filter, sort, projection, clauses } = selection
  checkNearestOptions(sort, options)
  if (sort.kind !== 'values')
    return searchDocuments(store, selection, sort, options, caller)
  const { keys } = sort
  const { pageSize } = store.limits
  const { records, joined, nextPageState } = await readPage(
    store,
    {
      filter,
      sort: keys,
      skip: options.skip ?? 0,
      withSearchFields: showsSearchFields(projection),
      stable: false,
      textsOnly: projection.whole,
    },
    {
      limit: options.limit ?? Infinity,
      pageSize: Math.max(pageSize, keys.length === 0 ? idCount(filter) : 0),
      pageState: options.pageState,
      sortNames: keys.map(({ path }) => path.text),
      query: () => nameQuery('find', clauses.filter, clauses.sort),
    },
    caller,
  )
  return {
    documents:
      joined?.text ??
      (await showAll(records, (record) => show(record, projection), caller)),
    nextPageState,
  }
}

export async function findDocument(
  store: DocumentSource,
  selection: Selection,
  options: FindOneOptions,
  caller: Caller,
): Promise<FoundOne> {
  const { sort, projection } = selection
  checkNearestOptions(sort, options)
  if (sort.kind !== 'values') {
    const one = { ...options, limit: 1 }
    const found = await searchDocuments(store, selection, sort, one, caller)
    return { ...found, document: wholeText(found.documents) || null }
  }
  const first = readFirst(store, selection, showsSearchFields(projection), caller)
  const record = first instanceof Promise ? await first : first
  if (record === undefined) return { document: null }
  const document = showOne(show(record, projection), caller)
  return { document: typeof document === 'string' ? document : await document }
}

/** Counts matching documents, up to `stopAt`. */
export async function countMatches(
  store: DocumentSource,
  filter: Filter,
  stopAt: number,
  caller: Caller,
): Promise<number> {
  return count(store, filter, stopAt, documentsAlone, caller)
}

/** Reads the first matching document. `by` is the vector or terms of a sort that searches. */
export function readFirst(
  store: DocumentSource,
  { filter, sort }: Pick<Selection, 'filter' | 'sort'>,
  withSearchFields: boolean,
  caller: Caller,
  by?: SearchBy,
): StoredRecord | undefined | Promise<StoredRecord | undefined> {
  if (by !== undefined) {
    const wanted = { by, filter, limit: 1, withSearchFields }
    const best =
      by.kind === 'vector'
        ? searchUpToSize(store, wanted, caller)
        : searchTerms(store, { ...wanted, by, operator: operatorOf(sort) }, caller)
    return best.then(({ hits: [first] }) => first?.record)
  }
  const keys = sort.kind === 'values' ? sort.keys : []
  const wanted = {
    ...anyOrder,
    filter,
    sort: keys,
    limit: 1,
    withSearchFields,
    stable: false,
  }
  return andThen(read(store, wanted, caller), ({ records }) => records[0])
}

async function searchDocuments(
  store: DocumentSource,
  { filter, projection, clauses }: Selection,
  sort: SearchSort,
  options: FindOptions,
  caller: Caller,
): Promise<TopKPage> {
  const { limit, pageState, includeSimilarity = false } = options
  const isShown = showsSearchFields(projection)
  const wanted = {
    by: await documentsSearchedBy(sort, store, caller),
    operator: operatorOf(sort),
    filter,
    limit,
    nearest: options,
    withSearchFields: isShown || isDiverse(options),
    pageState,
    query: () => nameQuery('find', clauses.filter, clauses.sort),
  }
  // Attaching search fields that the projection omits would take longer than the projection.
  const showHit = (record: StoredRecord) =>
    show(isShown ? record : { text: record.text }, projection)
  return findTopK(store, wanted, showHit, { includeSimilarity }, caller)
}

/** Options of reads that need no search fields and do not precede a change. */
export const documentsAlone = { withSearchFields: false, stable: false } as const

/** Number of ids that the filter lists; a find returns all of these in one page. */
function idCount(filter: Filter): number {
  for (const part of filter.kind === 'and' ? filter.of : [filter])
    if (part.kind === 'in' && part.path.text === '_id') return part.values.length
  return 0
}
