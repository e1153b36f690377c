/**
 * Rows as the engine keeps them: the stored values by the keys of their columns, as JSON. Of
 * an ordinary table that is also what goes to the client.
 *
 * A row that was inserted stays when its last value is cleared; one that only an update
 * made goes with it. A space behind the text, which no reader of JSON minds, marks the latter.
 */
import { hasFloats, storedForm } from '../language/columns/values.ts'
import type { Column, Table } from '../engine/schema.ts'
import { printJson } from '../json/print.ts'
import type { JsonObject } from '../json/value.ts'

export function rowText(row: JsonObject, table: Table, wasInserted: boolean): string {
  const text = printJson(withFloats(row, table))
  return wasInserted ? text : `${text} `
}

/** The same row, to be printed: its floating-point numbers are to look like such. */
function withFloats(row: JsonObject, table: Table): JsonObject {
  const columns = floatColumns(table)
  if (columns.length === 0) return row
  const printed = new Map(row)
  for (const { key, type } of columns) {
    const value = row.get(key)
    if (value !== undefined) printed.set(key, storedForm(type, value, table.types))
  }
  return printed
}

const known = new WeakMap<Table, readonly Column[]>()

function floatColumns(table: Table): readonly Column[] {
  let columns = known.get(table)
  if (columns === undefined) {
    columns = table.definition.columns.filter(({ type }) => hasFloats(type, table.types))
    known.set(table, columns)
  }
  return columns
}

export function wasInserted(text: string): boolean {
  return !text.endsWith(' ')
}
