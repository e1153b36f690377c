/** Points that were chosen on the map, as a filter. */
import { keyColumns, type Place } from '../api/place.ts'
import type { JsonObject, Value } from '../json/value.ts'

/** Values that the API takes in one $in. */
export const selectedMax = 100

export type SelectionFilter =
  | { readonly filter: JsonObject }
  /** Why there is none. */
  | { readonly lacks: string }

export function selectionFilter(
  place: Place,
  documents: readonly JsonObject[],
): SelectionFilter {
  const [key, ...others] = place.kind === 'table' ? keyColumns(place) : ['_id']
  if (others.length > 0)
    return { lacks: 'Rows of this table have several keys, which one filter cannot list.' }
  if (documents.length > selectedMax)
    return { lacks: `A filter lists at most ${selectedMax} ids. Choose fewer points.` }
  const ids = documents.map((document) => document.get(key!))
  if (ids.includes(undefined)) return { lacks: 'Some of these have no id.' }
  return { filter: new Map([[key!, new Map([['$in', ids as Value[]]])]]) }
}
