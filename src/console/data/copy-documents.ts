/** Documents as text for the clipboard. */
import type { Place } from '../api/place.ts'
import { printPretty } from '../json/print-json.ts'
import type { JsonObject } from '../json/value.ts'
import { listFields } from './columns.ts'
import { csvCell, writeRow } from './csv-text.ts'

export type CopyFormat = 'JSON' | 'CSV'

/**
 * One document as an object, several as an array; or CSV with a header, without the columns that
 * the user has hidden.
 */
export function documentsAsText(
  place: Place,
  documents: readonly JsonObject[],
  format: CopyFormat,
  hidden: ReadonlySet<string>,
): string {
  if (format === 'JSON')
    return printPretty(documents.length === 1 ? documents[0]! : [...documents])
  const names = listFields(place, documents).filter(
    (name) => !hidden.has(name) && documents.some((document) => document.has(name)),
  )
  const rows = documents.map((document) =>
    writeRow(names.map((name) => csvCell(document.get(name)))),
  )
  return writeRow(names) + rows.join('')
}
