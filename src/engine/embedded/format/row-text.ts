/**
 * Rows as the store keeps them: the stored values by the keys of their columns, as JSON. Of
 * an ordinary table that is also what goes to the client.
 *
 * A row that was inserted stays when its last value is cleared; one that only an update
 * made goes with it. A space behind the text, which no reader of JSON minds, marks the latter.
 */
import { storedForm } from '../../../language/columns/values.ts'
import { parseStored } from '../../../json/parse.ts'
import { printJsonInSteps } from '../../../json/print.ts'
import type { JsonObject } from '../../../json/value.ts'
import type { Steps } from '../../../runtime/steps.ts'
import type { RowView } from './row-view.ts'

/** Values by the keys of their columns, in the order in which rows show them. */
export interface StoredRow {
  /** Without the vectors, except those of the primary key. */
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

/** The same values, to be printed: floating-point numbers are to look like such. */
function withFloats(values: JsonObject, { floatColumns, types }: RowView): JsonObject {
  if (floatColumns.length === 0) return values
  const printed = new Map(values)
  for (const { key, type } of floatColumns) {
    const value = values.get(key)
    if (value !== undefined) printed.set(key, storedForm(type, value, types))
  }
  return printed
}
