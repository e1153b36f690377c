/** Queries to a store, and their results. */
import type { SortKey } from '../../../language/values/sort-key.ts'
import type { TermStatistics } from '../../../search/lexical/bm25.ts'
import type { Query } from '../../contract.ts'
import type { StoredPosition } from '../format/position.ts'
import type { DocRow } from '../format/doc-row.ts'

/** The contract's query, with its position decoded. */
export interface StoreQuery extends Omit<Query, 'after'> {
  readonly after: StoredPosition | undefined
}

/** A hit of a search. */
export interface ScoredRow {
  readonly row: DocRow
  readonly score: number
}

/** Hits, best first, and the term statistics that decided their scores. */
export interface ScoredRows {
  readonly hits: readonly ScoredRow[]
  readonly statistics?: TermStatistics | undefined
}

/** Number of rows to find: the row after the limit shows whether more rows follow. */
export function wantedBy(query: Pick<StoreQuery, 'skip' | 'limit' | 'lookAhead'>): number {
  return query.skip + query.limit + (query.lookAhead === false ? 0 : 1)
}

/** The order of a result. Positions of its rows refer to this order. */
export type ResultOrder =
  | { readonly by: 'seq' }
  | { readonly by: 'range'; readonly path: string }
  | { readonly by: 'sort'; readonly keys: readonly SortKey[] }
