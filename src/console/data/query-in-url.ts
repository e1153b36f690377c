/** Keeps the filter and the sort of the Data tab in the URL, so that a link or Back restores them. */
import { useEffect, useRef, useState } from 'preact/hooks'
import type { Place } from '../api/place.ts'
import type { Store } from '../api/store.ts'
import { printJson } from '../json/print-json.ts'
import type { JsonObject } from '../json/value.ts'
import { useStore } from '../kit/hooks.ts'
import { goTo, replaceRoute, route, routeTo } from '../navigation/route.ts'
import { withoutChoice, type DataQuery } from './data-query.ts'
import { readClause } from './read-clause.ts'

/** Maximum length of the query in a URL, in characters. Longer queries stay in memory only. */
const lengthMax = 8_000

/** Reads the query of the URL into the store, and writes changes of the store to the URL. */
export function useQueryInUrl(
  place: Place,
  store: Store<DataQuery>,
): { readonly query: DataQuery; readonly error: unknown } {
  const [error, setError] = useState<unknown>(() => readInto(store, route.get().query))
  const query = useStore(store)
  const { query: inUrl } = useStore(route)
  /** The query that both the URL and the store have. */
  const known = useRef(inUrl)
  useEffect(() => {
    if (inUrl === known.current) return
    known.current = inUrl
    setError(inUrl === '' ? clear(store) : readInto(store, inUrl))
  }, [inUrl])
  const isFirst = useRef(true)
  useEffect(() => {
    const text = writeQuery(query)
    const go = isFirst.current ? replaceRoute : goTo
    isFirst.current = false
    if (text === known.current || text === normalized(known.current)) return
    known.current = text
    const hash = routeTo(place.database, place.keyspace, place.name, 'data')
    go(text === '' ? hash : `${hash}?${text}`)
  }, [query.filter, query.sort])
  return { query, error }
}

function clear(store: Store<DataQuery>): undefined {
  store.update((before) => ({
    ...withoutChoice(before),
    filter: new Map(),
    sort: new Map(),
  }))
}

/** Returns the error if the query in the URL cannot be read. */
function readInto(store: Store<DataQuery>, text: string): unknown {
  if (text === '') return undefined
  try {
    const read = readQuery(text)
    store.update((before) => ({ ...withoutChoice(before), ...read }))
    return undefined
  } catch (error) {
    return error
  }
}

function readQuery(text: string): Pick<DataQuery, 'filter' | 'sort'> {
  const parameters = new URLSearchParams(text)
  const read = (clause: 'filter' | 'sort'): JsonObject =>
    readClause(clause, parameters.get(clause) ?? '') ?? new Map()
  return { filter: read('filter'), sort: read('sort') }
}

function writeQuery({ filter, sort }: Pick<DataQuery, 'filter' | 'sort'>): string {
  const text = new URLSearchParams({
    ...(filter.size === 0 ? {} : { filter: printJson(filter) }),
    ...(sort.size === 0 ? {} : { sort: printJson(sort) }),
  }).toString()
  return text.length > lengthMax ? '' : text
}

/** The query as this module writes it. A link may have other spaces or escapes. */
function normalized(text: string): string {
  try {
    return writeQuery(readQuery(text))
  } catch {
    return text
  }
}
