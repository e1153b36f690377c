/** The query of the Data tab, kept per collection or table while the console is open. */
import type { Place } from '../api/place.ts'
import { Store } from '../api/store.ts'
import type { JsonObject, Value } from '../json/value.ts'

export interface DataQuery {
  readonly filter: JsonObject
  readonly sort: JsonObject
  /** Whether the page shows `$vector` and the other fields that a find omits by default. */
  readonly isWhole: boolean
  /** The document whose nearest neighbours the page shows. */
  readonly similarTo?: {
    readonly name: string
    readonly field: string
    readonly vector: Value
  }
  /** Ids of documents that were selected on the map. They are too many for one filter. */
  readonly ids?: readonly Value[]
}

export const noQuery: DataQuery = { filter: new Map(), sort: new Map(), isWhole: false }

const queries = new Map<string, Store<DataQuery>>()

export function dataQueryOf({ database, keyspace, name }: Place): Store<DataQuery> {
  const key = `${database}/${keyspace}/${name}`
  const known = queries.get(key)
  if (known !== undefined) return known
  const made = new Store(noQuery)
  queries.set(key, made)
  return made
}

/** The query without its restriction to selected or similar documents. */
export function withoutChoice({ filter, sort, isWhole }: DataQuery): DataQuery {
  return { filter, sort, isWhole }
}
