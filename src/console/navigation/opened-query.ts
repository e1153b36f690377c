/** A query that another page passes to the Query page as its initial state. */
import { Store } from '../api/store.ts'
import type { Value } from '../json/value.ts'

export interface OpenedQuery {
  readonly filter?: Value
  readonly sort?: Value
}

export const openedQuery = new Store<OpenedQuery | undefined>(undefined)
