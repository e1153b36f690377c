/** Reads a page: the records after the position of a page state. */
import type { Caller } from '../caller/caller.ts'
import type { Joined } from '../engine/contract.ts'
import { decodePageState, encodePageState } from './page-state.ts'
import { read, type Wanted } from './read.ts'
import { sizeMaxOf } from './reply-size.ts'
import type { AnyQuery, AnySearch, Source } from './source.ts'

/** The part of a query that is the same on all pages. */
export type Paged<Q extends AnyQuery> = Omit<
  Wanted<Q>,
  'limit' | 'after' | 'lookAhead' | 'sizeMax'
>

export interface Paging {
  /**
   * Computes the hash of the query; called only if the request has a page state, or if another page
   * follows.
   */
  readonly query: () => string
  readonly pageSize: number
  /** Absent or empty: the first page. */
  readonly pageState: string | undefined
  /** Maximum records of all pages together. */
  readonly limit: number
  /** The columns or paths of the sort. */
  readonly sortNames: readonly string[]
}

export interface ReadPage<Item> {
  readonly records: Item[]
  /** The joined texts, when the caller needs no records. */
  readonly joined?: Joined | undefined
  readonly nextPageState: string | null
}

export async function readPage<Item, Q extends AnyQuery, S extends AnySearch>(
  source: Source<Item, Q, S>,
  paged: Paged<Q>,
  { query, limit, pageSize, pageState, sortNames }: Paging,
  caller: Caller,
): Promise<ReadPage<Item>> {
  const from = pageState ? decodePageState(pageState, query(), source.limits) : undefined
  const before = from?.count ?? 0
  const left = limit - before
  if (left <= 0) return { records: [], nextPageState: null }
  const count = Math.min(left, pageSize)
  const asked = {
    ...paged,
    limit: count,
    sizeMax: sizeMaxOf(count, source.limits),
    after: from?.place,
    lookAhead: left > pageSize,
  }
  const found = read(source, asked as unknown as Wanted<Q>, caller)
  const { records, joined, next } = found instanceof Promise ? await found : found
  const given = before + (joined?.count ?? records.length)
  if (next === undefined) return { records, joined, nextPageState: null }
  const { noun, limits } = source
  const state = { count: given, place: next }
  const nextPageState = encodePageState(state, query(), { noun, sort: sortNames, limits })
  return { records, joined, nextPageState }
}
