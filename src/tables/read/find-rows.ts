/** Finding rows: clauses in, a page out. */
import type { Caller } from '../../caller.ts'
import { columnPath } from '../../language/columns/column-path.ts'
import type { Hit, SearchBy } from '../../engine/contract.ts'
import { apiError, type ApiError } from '../../errors/api-error.ts'
import type { LongText } from '../../json/long-text.ts'
import type { Value } from '../../json/value.ts'
import { conditionsOf } from '../../language/filters/filter-clause.ts'
import type { Filter } from '../../language/filters/filter.ts'
import { nameQuery } from '../../paging/page-state.ts'
import { count, type Source } from '../../paging/read.ts'
import { readPage } from '../../paging/read-page.ts'
import { searchPage } from '../../paging/search-page.ts'
import { showAll } from '../../paging/show-all.ts'
import { addSimilarity } from '../../paging/similarity.ts'
import type { RowStore } from '../row-store.ts'
import { filterWarnings } from './filter-warnings.ts'
import { parseRowFilter } from './parse-row-filter.ts'
import { checkSearchable, parseRowSort } from './parse-row-sort.ts'
import { filterOfRows } from './row-filter.ts'
import { parseRowProjection } from './row-projection.ts'
import type { RowSort } from './row-sort.ts'
import { showing, type Shown } from './show-row.ts'
import { planSort, type SortPlan } from './sort-plan.ts'

export interface RowClauses {
  readonly filter?: Value | undefined
  readonly sort?: Value | undefined
  readonly projection?: Value | undefined
}

export interface RowOptions {
  /** Over all pages. */
  readonly limit?: number | undefined
  readonly skip?: number | undefined
  readonly pageState?: string | undefined
  readonly includeSimilarity?: boolean
}

export interface FoundRows extends RowPage {
  /** The columns that are shown, described. */
  readonly projectionSchema: Value
  readonly warnings: readonly ApiError[]
}

interface RowPage {
  /** JSON texts, with commas between them. */
  readonly documents: LongText
  readonly nextPageState: string | null
  /** With the first page: the rows that had to be put in order. */
  readonly sortedRowCount?: number
  /** What a vector search compared with. */
  readonly sortVector?: Float32Array
}

/** Reads the clauses in the order in which their errors win, then one page. */
export async function findRows(
  store: RowStore,
  clauses: RowClauses,
  options: RowOptions,
  caller: Caller,
): Promise<FoundRows> {
  const sort = parseRowSort(clauses.sort, options, store, caller)
  const shown = showing(parseRowProjection(clauses.projection, store), store)
  const clause = parseRowFilter(clauses.filter, store, caller)
  const filter = filterOfRows(clause, store)
  const byVector = sort.kind === 'vector' || sort.kind === 'vectorize'
  const warnings = filterWarnings(conditionsOf(clause), store, byVector)
  const projectionSchema = shown.schema
  const query = () => nameQuery('find', clauses.filter, clauses.sort)
  if (sort.kind !== 'values') {
    const page = await findBest(store, { filter, sort, shown, options, query }, caller)
    const allWarnings = [...warnings, ...page.warnings]
    return { ...page, projectionSchema, warnings: allWarnings }
  }
  const plan = planSort(sort.keys, clause, options.skip ?? 0, store)
  const page = await findInOrder(store, { filter, plan, shown, options, query }, caller)
  const sortWarnings = plan.warning === undefined ? [] : [plan.warning]
  return { ...page, projectionSchema, warnings: [...sortWarnings, ...warnings] }
}

interface Asked {
  readonly filter: Filter
  readonly shown: Shown
  readonly options: RowOptions
  /** Names the query, for its page states. */
  readonly query: () => string
}

/** A page in the order of a sort by values. */
async function findInOrder(
  store: RowStore,
  asked: Asked & { readonly plan: SortPlan },
  caller: Caller,
): Promise<RowPage> {
  const { filter, plan, shown, options, query } = asked
  const source = anyNumberOf(store)
  const sortedRowCount =
    plan.warning === undefined
      ? undefined
      : await countSorted(source, filter, !options.pageState, caller)
  const { records, joined, nextPageState } = await readPage(
    source,
    {
      filter,
      sort: plan.keys,
      // Where nothing is sorted nothing can be skipped.
      skip: plan.warning === undefined ? 0 : (options.skip ?? 0),
      limit: options.limit ?? Infinity,
      pageSize: store.limits.pageSize,
      pageState: options.pageState,
      query,
      withSearchFields: shown.withVectors,
      textsOnly: shown.whole,
    },
    caller,
  )
  const documents =
    joined?.text ?? (await showAll(records, (record) => shown.row(record), caller))
  return {
    documents,
    nextPageState,
    ...(sortedRowCount !== undefined && { sortedRowCount }),
  }
}

/**
 * The rows that a sort has to put in order, where there is a maximum for them or the first
 * page tells them. Later pages do without: counting can take as long as reading.
 */
async function countSorted(
  source: Source,
  filter: Filter,
  isFirstPage: boolean,
  caller: Caller,
): Promise<number | undefined> {
  const max = source.limits.tableSortRowsMax
  if (max === 0 && !isFirstPage) return undefined
  const stopAt = max === 0 ? Number.MAX_SAFE_INTEGER : max + 1
  const sorted = await count(source, filter, stopAt, caller)
  if (max > 0 && sorted > max)
    throw apiError('OVERLOADED_SORT_ROW_LIMIT', { max, unit: 'rows' })
  return isFirstPage ? sorted : undefined
}

/** The maximum for sorted documents is not for rows, which are always in some order. */
function anyNumberOf(store: RowStore): Source {
  const { limits } = store
  return limits.sortedDocumentsMax === 0
    ? store
    : { ...store, limits: { ...limits, sortedDocumentsMax: 0 } }
}

type SearchSort = Exclude<RowSort, { readonly kind: 'values' }>

/** A page of a search, best first. */
async function findBest(
  store: RowStore,
  { filter, sort, shown, options, query }: Asked & { readonly sort: SearchSort },
  caller: Caller,
): Promise<RowPage & Pick<FoundRows, 'warnings'>> {
  const { limit, pageState } = options
  if (pageState && sort.kind !== 'lexical')
    throw apiError('SORT_CLAUSE_INVALID', {
      problem: `A search by "${sort.column.name}" has one page only; leave options.pageState out`,
    })
  const by = await searchedBy(sort, store, caller)
  const { hits, nextPageState, warnings } = await searchPage(
    store,
    { by, filter, limit, withSearchFields: shown.withVectors, pageState, query },
    caller,
  )
  const isVector = by.kind === 'vector'
  const showHit = ({ record, score }: Hit) =>
    isVector && options.includeSimilarity
      ? addSimilarity(shown.row(record), score)
      : shown.row(record)
  return {
    documents: await showAll(hits, showHit, caller),
    nextPageState,
    warnings,
    ...(isVector && { sortVector: by.numbers }),
  }
}

/** What a sort searches by; a text is embedded first. */
async function searchedBy(
  sort: SearchSort,
  store: RowStore,
  caller: Caller,
): Promise<SearchBy> {
  const { column } = sort
  const path = columnPath(column.id).text
  switch (sort.kind) {
    case 'vector':
      return { kind: 'vector', path, numbers: sort.vector }
    case 'vectorize': {
      const embedder = store.embedderOf(column)!
      const [numbers] = await embedder.embed([sort.text], 'search', caller.signal)
      checkSearchable(column, numbers!, store)
      return { kind: 'vector', path, numbers: numbers! }
    }
    case 'lexical':
      return { kind: 'lexical', path, terms: sort.terms }
  }
}
