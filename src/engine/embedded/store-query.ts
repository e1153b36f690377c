/** What a store is asked, and what it answers. */
import type { Filter } from '../../query/filter.ts'
import type { SortKey } from '../../query/sort.ts'
import type { JoinedRows } from './lead-reader.ts'
import type { Place } from './position.ts'
import type { Row } from './store-connection.ts'

/** A query as it reaches a store: the engine contract's, with the position decoded. */
export interface StoreQuery {
  readonly filter: Filter
  readonly sort: readonly SortKey[]
  readonly skip: number
  readonly limit: number
  readonly after: Place | undefined
  readonly stable: boolean
  readonly withSearchFields: boolean
  readonly lookAhead?: boolean
  readonly textsOnly?: boolean
}

/** How many rows to find: one more than asked for tells whether there are more. */
export function wantedBy({ skip, limit, lookAhead }: StoreQuery): number {
  return skip + limit + (lookAhead === false ? 0 : 1)
}

export interface Result {
  readonly rows: Row[]
  /** Instead of rows, where the query allows it, and the number of the last. */
  readonly joined?: JoinedRows | undefined
  /** Whether matches follow the last row. */
  readonly more: boolean
  /** How to say where a row stands in this result. */
  readonly order:
    | { readonly by: 'seq' }
    | { readonly by: 'range'; readonly path: string }
    | { readonly by: 'sort' }
}
