/** A query that another page passes to the Files page for export. */
import type { Place } from '../api/place.ts'
import { Store } from '../api/store.ts'
import { dataQueryOf } from './data-query.ts'
import { parseJson } from '../json/parse-json.ts'
import { printJson } from '../json/print-json.ts'
import { isObject, Numeral, type JsonObject, type Value } from '../json/value.ts'

/** The clauses as text. */
export interface ExportedQuery {
  readonly filter: string
  readonly sort: string
  readonly projection: string
  /** The limit as text; empty: all. */
  readonly limit: string
  /** Restricts the export to documents selected on the map. */
  readonly ids?: readonly Value[] | undefined
}

export const exportedQuery = new Store<ExportedQuery | undefined>(undefined)

/**
 * Takes the query that another page has passed, so that a later call does not return it again. If
 * no query was passed, returns the query of the Data tab.
 */
export function takeExported(place: Place): ExportedQuery {
  const given = exportedQuery.get()
  exportedQuery.set(undefined)
  if (given !== undefined) return given
  const { filter, sort, ids } = dataQueryOf(place).get()
  return { filter: textOf(filter), sort: textOf(sort), projection: '', limit: '', ids }
}

function textOf(clause: JsonObject): string {
  return clause.size === 0 ? '' : printJson(clause)
}

/** The limit in the options of a query, as text. An export ignores all other options. */
export function limitIn(options: string): string {
  try {
    const value = parseJson(options)
    const limit = isObject(value) ? value.get('limit') : undefined
    return limit instanceof Numeral ? limit.text : ''
  } catch {
    return ''
  }
}
