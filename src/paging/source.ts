/**
 * What pages are read from: the documents of a collection, or the rows of a table. An engine
 * may leave a part of a query undone. Then records are looked at here, by what a source says
 * of them.
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
  /** What reads ask for so that records hold all that the search compares and shows. */
  readFor(search: S): ReadFields<Q>

  /** Later, where the record is large: others have their turn while it is looked at. */
  matches(filter: Q['filter'], record: Item, caller: Caller): boolean | Promise<boolean>
  /** What records are sorted by, and at the end what tells them apart. */
  sortKey(record: Item, sort: Q['sort']): SortedBy
  /** The directions of the latter, in the order that a query asks for. */
  idDirections(query: Pick<Q, 'filter' | 'sort'>): readonly (1 | -1)[]
  idOf(record: Item): SearchPlace['id']
  /** Their order where nothing else tells records apart; one may come from a client. */
  compareIds(a: SearchPlace['id'], b: SearchPlace['id']): number
  /** Characters of its text. */
  readonly sizeOf: (record: Item) => number
  metricOf(by: S['by']): Metric
  vectorOf(record: Item, by: S['by']): ArrayLike<number> | undefined
  /** Undefined: it has no text there. */
  termsOf(record: Item, by: S['by']): readonly string[] | undefined
}

export type AnyQuery = Query | RowQuery
/** What a query says of the records it wants, besides which they are. */
export type ReadFields<Q extends AnyQuery> = Omit<Q, keyof ReadQuery<unknown, unknown>>
export type AnySearch = Search | RowSearch

/** Comparable values. Missing ones are undefined. */
export type SortedBy = readonly (Value | undefined)[]
