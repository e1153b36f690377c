/**
 * The source of pages: documents of a collection, or rows of a table. Where the engine does not
 * execute the whole query, `paging` filters, sorts and scores the records with these functions.
 */
import type { Caller } from '../caller/caller.ts'
import type {
  Page,
  Query,
  ReadQuery,
  RowQuery,
  RowSearch,
  Search,
  SearchPlace,
  SearchResult,
} from '../engine/contract.ts'
import type { Value } from '../json/value.ts'
import type { Limits } from '../limits.ts'
import type { Metric } from '../search/vector/similarity.ts'

export interface Source<Item, Q extends AnyQuery, S extends AnySearch> {
  readonly limits: Limits
  readonly noun: 'document' | 'row'
  /** Matches all records. */
  readonly everything: Q['filter']
  read(query: Q, caller: Caller): Page<Item> | Promise<Page<Item>>
  count(filter: Q['filter'], stopAt: number, caller: Caller): Promise<number | undefined>
  search(search: S, caller: Caller): Promise<SearchResult<Item> | undefined>
  /**
   * The fields that a scan reads, so that records contain everything that the search
   * compares and returns.
   */
  readFor(search: S): ReadFields<Q>

  /** Whether a record matches; a promise for a large record, which yields to other requests. */
  matches(filter: Q['filter'], record: Item, caller: Caller): boolean | Promise<boolean>
  /** The sort key of a record, with its id as the tie-breaker. */
  sortKey(record: Item, sort: Q['sort']): SortedBy
  /** The sort directions of the id columns at the end of the sort key. */
  idDirections(query: Pick<Q, 'filter' | 'sort'>): readonly (1 | -1)[]
  idOf(record: Item): SearchPlace['id']
  /** Compares ids as tie-breakers; one of them may come from a client's page state. */
  compareIds(a: SearchPlace['id'], b: SearchPlace['id']): number
  /** Characters of the record's text. */
  readonly sizeOf: (record: Item) => number
  metricOf(by: S['by']): Metric
  vectorOf(record: Item, by: S['by']): ArrayLike<number> | undefined
  /** The terms of the searched field; undefined: this field of the record has no text. */
  termsOf(record: Item, by: S['by']): readonly string[] | undefined
}

export type AnyQuery = Query | RowQuery
/** The options that are specific to queries for documents, or to queries for rows. */
export type ReadFields<Q extends AnyQuery> = Omit<Q, keyof ReadQuery<unknown, unknown>>
export type AnySearch = Search | RowSearch

/** Comparable values; undefined for missing ones. */
export type SortedBy = readonly (Value | undefined)[]
