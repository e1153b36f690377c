/** A query that another page hands over, for the Query page to start with. */
import { Store } from '../api/store.ts'
import type { Value } from '../json/value.ts'

export interface OpenedQuery {
  readonly filter?: Value
  readonly sort?: Value
}

export const openedQuery = new Store<OpenedQuery | undefined>(undefined)
