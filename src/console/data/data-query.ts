/** The query of the Data tab, kept per collection or table while the console is open. */
import type { Place } from '../api/place.ts'
import { Store } from '../api/store.ts'
import { Numeral, type JsonObject, type Value } from '../json/value.ts'
import type { FindFields } from './find-page.ts'

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

/** The search field that a find omits by default; undefined if there is no such field. */
export function hiddenFieldOf({ kind, options }: Place): string | undefined {
  if (kind === 'table') return undefined
  if (options.vector !== undefined) return '$vector'
  return options.lexical?.enabled === true ? '$lexical' : undefined
}

/** The clauses of the find that a page of the query sends. */
export function findFieldsOf(place: Place, query: DataQuery, pageSize: number): FindFields {
  const { filter, sort, similarTo, isWhole, ids } = query
  const one = new Numeral('1')
  return {
    ...(filter.size === 0 ? {} : { filter }),
    ...(ids === undefined ? {} : { ids }),
    ...(similarTo === undefined
      ? sort.size === 0
        ? {}
        : { sort }
      : {
          sort: new Map([[similarTo.field, similarTo.vector]]),
          // The limit is the page size, because a vector search returns a single page.
          options: new Map<string, Value>([
            ['limit', new Numeral(String(pageSize))],
            ['includeSimilarity', true],
          ]),
        }),
    ...(isWhole && place.kind === 'collection'
      ? { projection: new Map<string, Value>([['*', one]]) }
      : {}),
  }
}
