/** A query that another page hands over, for the Files page to write into a file. */
import type { Place } from '../api/place.ts'
import { Store } from '../api/store.ts'
import { dataQueryOf } from './data-query.ts'
import { parseJson } from '../json/parse-json.ts'
import { printJson } from '../json/print-json.ts'
import { isObject, Numeral, type JsonObject, type Value } from '../json/value.ts'

/** Clauses as they were typed. */
export interface ExportedQuery {
  readonly filter: string
  readonly sort: string
  readonly projection: string
  /** As in `options`; empty: all. */
  readonly limit: string
  /** Only documents of these ids: what was chosen on the map. */
  readonly ids?: readonly Value[] | undefined
}

export const exportedQuery = new Store<ExportedQuery | undefined>(undefined)

/** What was handed over, once; else what the Data page of the place shows. */
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

/** The limit that options have, written as they are; other options mean nothing to a file. */
export function limitIn(options: string): string {
  try {
    const value = parseJson(options)
    const limit = isObject(value) ? value.get('limit') : undefined
    return limit instanceof Numeral ? limit.text : ''
  } catch {
    return ''
  }
}
