/** A copy of a document or row, as the start of an insert. */
import type { Place } from '../api/place.ts'
import { printPretty } from '../json/print-json.ts'
import type { JsonObject } from '../json/value.ts'
import { readWhole } from './change-documents.ts'

/**
 * The text of a copy. A copied document has no `_id`, so that the server creates one. A copied row
 * has the key of its original, which the user has to change.
 */
export async function duplicateText(place: Place, document: JsonObject): Promise<string> {
  const copy = new Map(await readWhole(place, document))
  if (place.kind === 'collection') copy.delete('_id')
  return printPretty(copy)
}
