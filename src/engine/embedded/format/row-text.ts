/**
 * Rows as they are stored: values by the keys of their columns, as JSON. For an ordinary table this
 * is also the form that clients get.
 *
 * A row that was inserted remains when its last value is cleared. A row that exists only through
 * updates disappears with its last value. Such a row is marked by a space after its text, which
 * JSON parsers ignore.
 */
import { storedForm } from '../../../language/columns/values.ts'
import { parseStored } from '../../../json/parse.ts'
import { printJsonInSteps } from '../../../json/print.ts'
import type { JsonObject } from '../../../json/value.ts'
import type { Steps } from '../../../runtime/steps.ts'
import type { RowView } from './row-view.ts'

/** Values by the keys of their columns, in display order. */
export interface StoredRow {
  /** Values of the row, without vectors except those of the primary key. */
  readonly values: JsonObject
  readonly wasInserted: boolean
}

export function readStoredRow(text: string): StoredRow {
  return { values: parseStored(text) as JsonObject, wasInserted: !text.endsWith(' ') }
}

export function* rowText({ values, wasInserted }: StoredRow, view: RowView): Steps<string> {
  const printed = printJsonInSteps(withFloats(values, view))
  const text = typeof printed === 'string' ? printed : yield* printed
  return wasInserted ? text : `${text} `
}

/** The values as they are printed: floating-point numbers keep their type, such as 1.0. */
function withFloats(values: JsonObject, { floatColumns, types }: RowView): JsonObject {
  if (floatColumns.length === 0) return values
  const printed = new Map(values)
  for (const { key, type } of floatColumns) {
    const value = values.get(key)
    if (value !== undefined) printed.set(key, storedForm(type, value, types))
  }
  return printed
}
