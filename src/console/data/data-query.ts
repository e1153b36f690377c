/** What a Data page shows of its collection or table: kept while the console is open. */
import type { Place } from '../api/place.ts'
import { Store } from '../api/store.ts'
import type { JsonObject, Value } from '../json/value.ts'

export interface DataQuery {
  readonly filter: JsonObject
  readonly sort: JsonObject
  /** Also `$vector` and its kin. */
  readonly isWhole: boolean
  /** The document whose neighbours are looked for. */
  readonly similarTo?: {
    readonly name: string
    readonly field: string
    readonly vector: Value
  }
  /** Of documents that were chosen elsewhere, more than a filter can list. */
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

/** Of all documents that the filter finds. */
export function withoutChoice({ filter, sort, isWhole }: DataQuery): DataQuery {
  return { filter, sort, isWhole }
}
