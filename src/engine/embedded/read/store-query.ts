/** What a store is asked, and what it answers. */
import type { SortKey } from '../../../language/values/sort-key.ts'
import type { TermStatistics } from '../../../search/lexical/bm25.ts'
import type { Query } from '../../contract.ts'
import type { JoinedRows } from './access-path-reader.ts'
import type { StoredPosition } from '../format/position.ts'
import type { DocRow } from '../format/doc-row.ts'

/** The contract's query, with its position decoded. */
export interface StoreQuery extends Omit<Query, 'after'> {
  readonly after: StoredPosition | undefined
}

/** A row that a search found, and how well it fits. */
export interface ScoredRow {
  readonly row: DocRow
  readonly score: number
}

/** The rows that a search found, best first, and what their scores depend on. */
export interface ScoredRows {
  readonly hits: readonly ScoredRow[]
  readonly statistics?: TermStatistics | undefined
}

/** How many rows to find: one more than asked for tells whether there are more. */
export function wantedBy({ skip, limit, lookAhead }: StoreQuery): number {
  return skip + limit + (lookAhead === false ? 0 : 1)
}

export interface Result {
  readonly rows: DocRow[]
  /** Instead of rows, where the query allows it, and where the last stands. */
  readonly joined?: JoinedRows | undefined
  /** Whether matches follow the last row. */
  readonly more: boolean
  /** How to say where a row stands in this result. */
  readonly order:
    | { readonly by: 'seq' }
    | { readonly by: 'range'; readonly path: string }
    | { readonly by: 'sort'; readonly keys: readonly SortKey[] }
  /** What led to the rows, in words for a trace. */
  readonly way: string
}
