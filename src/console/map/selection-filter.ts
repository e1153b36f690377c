/** Converts points selected on the map to a filter. */
import { keyColumns, type Place } from '../api/place.ts'
import type { JsonObject, Value } from '../json/value.ts'

/** Limits of the API: values in one $in, and comparisons in one filter. */
const valuesMax = 100
const comparisonsMax = 64

export type SelectionFilter =
  | { readonly filter: JsonObject }
  /** Ids of documents, too many for one filter: the page requests them in groups. */
  | { readonly ids: readonly Value[] }
  /** Why the selection cannot become a filter. */
  | { readonly lacks: string }

export function selectionFilter(
  place: Place,
  documents: readonly JsonObject[],
): SelectionFilter {
  const [key, ...others] = place.kind === 'table' ? keyColumns(place) : ['_id']
  if (others.length > 0) return rowsFilter([key!, ...others], documents)
  const ids = documents.map((document) => document.get(key!))
  if (ids.includes(undefined))
    return { lacks: 'Some of the selected documents have no id.' }
  const values = ids as readonly Value[]
  const lists = Array.from({ length: Math.ceil(values.length / valuesMax) }, (_, at) =>
    oneOf(key!, values.slice(at * valuesMax, (at + 1) * valuesMax)),
  )
  if (lists.length <= 1) return { filter: lists[0] ?? new Map() }
  // More keys than one $in allows. The page requests ids of documents in groups; rows get one
  // filter that combines several $in.
  if (place.kind === 'collection') return { ids: values }
  return lists.length > comparisonsMax
    ? { lacks: tooMany(comparisonsMax * valuesMax) }
    : { filter: new Map([['$or', lists]]) }
}

function oneOf(key: string, values: readonly Value[]): JsonObject {
  return new Map([[key, new Map([['$in', [...values]]])]])
}

/** A filter on keys of several columns, with one condition per row. */
function rowsFilter(keys: readonly string[], rows: readonly JsonObject[]): SelectionFilter {
  const rowsMax = Math.floor(comparisonsMax / keys.length)
  if (rows.length > rowsMax) return { lacks: tooMany(rowsMax) }
  const filters = rows.map(
    (row): JsonObject => new Map(keys.map((key) => [key, row.get(key) ?? null])),
  )
  return { filter: filters.length === 1 ? filters[0]! : new Map([['$or', filters]]) }
}

function tooMany(countMax: number): string {
  return `A filter can list at most ${countMax} rows of this table. Select fewer points.`
}
