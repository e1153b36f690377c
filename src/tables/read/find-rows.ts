/** Executes a find on a table: parses the clauses and reads a page. */
import type { Caller } from '../../caller/caller.ts'
import type { Row } from '../../engine/contract.ts'
import { apiError, type ApiError } from '../../errors/api-error.ts'
import type { LongText } from '../../json/long-text.ts'
import type { Value } from '../../json/value.ts'
import { conditionsOf } from '../../language/filters/filter-clause.ts'
import type { Column } from '../../language/columns/column.ts'
import type { RowFilter, RowSortKey } from '../../language/columns/row-filter.ts'
import type { LexicalOperator } from '../../language/sorts/sort.ts'
import { findTopK, searchedBy, type TopKPage } from '../../paging/find-top-k.ts'
import { nameQuery } from '../../paging/page-state.ts'
import { count } from '../../paging/read.ts'
import { readPage } from '../../paging/read-page.ts'
import {
  checkNearestOptions,
  isDiverse,
  type NearestOptions,
} from '../../paging/search-nearest.ts'
import { showAll } from '../../paging/show-all.ts'
import type { RowStore } from '../row-store.ts'
import { filterWarnings, retryWarning } from './filter-warnings.ts'
import { parseRowFilter } from './parse-row-filter.ts'
import { checkSearchable, parseRowSort } from './parse-row-sort.ts'
import { parseRowProjection } from './row-projection.ts'
import type { RowSort } from './row-sort.ts'
import { rowSource, type RowSource } from './row-source.ts'
import { describeColumns, showRow } from './show-row.ts'
import { sortWarning } from './sort-warning.ts'

export interface RowClauses {
  readonly filter?: Value | undefined
  readonly sort?: Value | undefined
  readonly projection?: Value | undefined
}

export interface RowOptions extends NearestOptions {
  /** Maximum rows of all pages together. */
  readonly limit?: number | undefined
  /** For a sort by terms; absent: the default of the server. */
  readonly lexicalOperator?: LexicalOperator | undefined
  readonly skip?: number | undefined
  readonly pageState?: string | undefined
  readonly includeSimilarity?: boolean
}

export interface FoundRows extends RowPage {
  /** Description of the returned columns. */
  readonly projectionSchema: Value
  readonly warnings: readonly ApiError[]
}

interface RowPage {
  /** JSON texts, separated by commas. */
  readonly documents: LongText
  readonly nextPageState: string | null
  /** Number of rows that the in-memory sort had to order; only on the first page. */
  readonly sortedRowCount?: number
  /** The query vector. */
  readonly sortVector?: Float32Array
}

/** Parses the clauses in order of error precedence, then reads one page. */
export async function findRows(
  store: RowStore,
  clauses: RowClauses,
  options: RowOptions,
  caller: Caller,
): Promise<FoundRows> {
  const sort = parseRowSort(clauses.sort, options, store, caller)
  checkNearestOptions(sort, options)
  const columns = parseRowProjection(clauses.projection, store)
  const filter = parseRowFilter(clauses.filter, store, caller)
  const byVector = sort.kind === 'vector' || sort.kind === 'vectorize'
  const warnings = filterWarnings(conditionsOf(filter), store, byVector)
  const projectionSchema = describeColumns(columns, store)
  const query = () => nameQuery('find', clauses.filter, clauses.sort)
  const asked: Asked = { filter, columns, options, query }
  if (sort.kind !== 'values') {
    const page = await searchRows(store, sort, asked, caller)
    const allWarnings = [...warnings, ...page.warnings]
    return { ...page, projectionSchema, warnings: allWarnings }
  }
  const warning = sortWarning(sort.keys, filter, options.skip ?? 0, store)
  const isSorted = warning !== undefined
  const { lacksIndex, ...page } = await findInOrder(
    store,
    sort.keys,
    isSorted,
    asked,
    caller,
  )
  const sortWarnings = warning === undefined ? [] : [warning]
  const retryWarnings = lacksIndex ? [retryWarning(store)] : []
  const allWarnings = [...sortWarnings, ...warnings, ...retryWarnings]
  return { ...page, projectionSchema, warnings: allWarnings }
}

interface Asked {
  readonly filter: RowFilter
  readonly columns: readonly Column[]
  readonly options: RowOptions
  /** Computes the hash of the query for its page states. */
  readonly query: () => string
}

/** Reads a page in sort order. `isSorted`: whether the rows must be sorted in memory. */
async function findInOrder(
  store: RowStore,
  sort: readonly RowSortKey[],
  isSorted: boolean,
  { filter, columns, options, query }: Asked,
  caller: Caller,
): Promise<RowPage & { readonly lacksIndex: boolean }> {
  let lacksIndex = false
  const source = rowSource(store, () => {
    lacksIndex = true
  })
  const sortedRowCount = isSorted
    ? await countSorted(source, filter, !options.pageState, caller)
    : undefined
  const { records, joined, nextPageState } = await readPage(
    source,
    {
      filter,
      sort,
      columns,
      // Skipping requires a sort.
      skip: isSorted ? (options.skip ?? 0) : 0,
      textsOnly: true,
    },
    {
      limit: options.limit ?? Infinity,
      pageSize: store.limits.pageSize,
      pageState: options.pageState,
      sortNames: sort.map(({ column }) => column.name),
      query,
    },
    caller,
  )
  const documents =
    joined?.text ?? (await showAll(records, (row) => showRow(row, columns, store), caller))
  return {
    documents,
    nextPageState,
    lacksIndex,
    ...(sortedRowCount !== undefined && { sortedRowCount }),
  }
}

/**
 * Counts the rows of an in-memory sort for the reply to the first page. Later pages count only if
 * such sorts have a limit, because counting can take as long as reading.
 */
async function countSorted(
  source: RowSource,
  filter: RowFilter,
  isFirstPage: boolean,
  caller: Caller,
): Promise<number | undefined> {
  const max = source.limits.tableSortRowsMax
  if (max === 0 && !isFirstPage) return undefined
  const stopAt = max === 0 ? Number.MAX_SAFE_INTEGER : max + 1
  const sorted = await count(source, filter, stopAt, { columns: [] }, caller)
  if (max > 0 && sorted > max)
    throw apiError('OVERLOADED_SORT_ROW_LIMIT', { reason: 'count', max, unit: 'rows' })
  return isFirstPage ? sorted : undefined
}

type RowSearchSort = Exclude<RowSort, { readonly kind: 'values' }>

/** Reads a page of a search, best first. */
async function searchRows(
  store: RowStore,
  sort: RowSearchSort,
  { filter, columns, options, query }: Asked,
  caller: Caller,
): Promise<TopKPage> {
  const { column } = sort
  const { limit, pageState } = options
  if (pageState && sort.kind !== 'lexical')
    throw apiError('SORT_CLAUSE_INVALID', {
      reason: 'onePage',
      by: `A search by "${column.name}"`,
    })
  const check = (vector: Float32Array) => checkSearchable(column, vector, store)
  const embedding = () => ({ embedder: store.embedderOf(column)!, check })
  const by = { ...(await searchedBy(sort, embedding, caller)), column }
  const operator = sort.kind === 'lexical' ? sort.operator : undefined
  const wanted = {
    ...{ by, operator, filter, columns, limit, pageState, query },
    nearest: options,
    ...(isDiverse(options) && { needed: [column] }),
  }
  const showOne = (row: Row) => showRow(row, columns, store)
  return findTopK(rowSource(store), wanted, showOne, options, caller)
}
