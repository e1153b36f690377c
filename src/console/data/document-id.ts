/** Identity of a document or row: as a filter, a key, and text. */
import { hasKnownKey, keyColumns, type Place } from '../api/place.ts'
import { printJson } from '../json/print-json.ts'
import { shortText } from '../json/value-text.ts'
import type { JsonObject, Value } from '../json/value.ts'

/** A filter that matches only this document or row; undefined when the document lacks its id. */
export function idFilter(place: Place, document: JsonObject): JsonObject | undefined {
  if (!hasKnownKey(place)) return undefined
  const names = place.kind === 'table' ? keyColumns(place) : ['_id']
  const filter = new Map<string, Value>()
  for (const name of names) {
    const value = document.get(name)
    if (value === undefined) return undefined
    filter.set(name, value)
  }
  return filter
}

/** A key of the document that is the same on every page. */
export function idKey(place: Place, document: JsonObject, position: number): string {
  const filter = idFilter(place, document)
  return filter === undefined ? `#${position}` : printJson(filter)
}

/** The id as shown to the user. */
export function idText(place: Place, document: JsonObject): string {
  const filter = idFilter(place, document)
  if (filter === undefined) return place.kind === 'table' ? 'row' : 'document'
  return [...filter.values()].map(shortText).join(', ')
}

export function noun(place: Place, count: number): string {
  const one = place.kind === 'table' ? 'row' : 'document'
  return count === 1 ? one : `${one}s`
}
