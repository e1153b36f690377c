/**
 * Rows as the engine keeps them: the stored values by the keys of their columns, as JSON. Of
 * an ordinary table that is also what goes to the client.
 *
 * A row that was inserted stays when its last value is cleared; one that only an update
 * made goes with it. A space behind the text, which no reader of JSON minds, marks the latter.
 */
import { printJson } from '../json/print.ts'
import type { JsonObject } from '../json/value.ts'

export function rowText(row: JsonObject, wasInserted: boolean): string {
  return wasInserted ? printJson(row) : `${printJson(row)} `
}

export function wasInserted(text: string): boolean {
  return !text.endsWith(' ')
}
