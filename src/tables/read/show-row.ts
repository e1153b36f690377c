/** Rows as callers get them. */
import { columnPath } from '../../language/columns/column-path.ts'
import { hasFloats, isShownAsStored, showValue } from '../../language/columns/values.ts'
import type { StoredRecord } from '../../engine/contract.ts'
import type { Column } from '../../engine/schema.ts'
import { asFloats } from '../../json/floats.ts'
import { printJson } from '../../json/print.ts'
import { storedFields } from '../../json/stored-fields.ts'
import type { JsonObject, Value } from '../../json/value.ts'
import { describeForProjection } from '../schema/describe.ts'
import type { RowStore } from '../row-store.ts'

export interface Shown {
  /** Rows go out as the texts that are stored. */
  readonly whole: boolean
  /** Whether records must carry their vectors. */
  readonly withVectors: boolean
  /** What callers are told about the columns. */
  readonly schema: Value
  /** JSON text. */
  row(record: StoredRecord): string
}

const known = new WeakMap<readonly Column[], Shown>()

/** How rows are shown with these columns, in this order. */
export function showing(columns: readonly Column[], store: RowStore): Shown {
  // Of a table all columns are the same list each time, and what is shown is the same then.
  let shown = known.get(columns)
  if (shown === undefined) known.set(columns, (shown = newShown(columns, store)))
  return shown
}

function newShown(columns: readonly Column[], store: RowStore): Shown {
  const { table } = store
  const whole = isWhole(columns, store)
  // A vector that is part of the key is in the text as well.
  const isBeside = (column: Column) =>
    column.type.type === 'vector' && !store.key.includes(column)
  const keys = new Set(columns.map(({ key }) => key))
  const valueOf = (column: Column, fields: JsonObject, { search }: StoredRecord) => {
    if (isBeside(column)) {
      const numbers = search?.vectors?.get(columnPath(column.id).text)
      return numbers && asFloats(numbers)
    }
    const stored = fields.get(column.key)
    return stored === undefined ? undefined : showValue(column.type, stored, table.types)
  }
  return {
    whole,
    withVectors: columns.some(isBeside),
    schema: new Map(
      columns.map((column) => [column.name, describeForProjection(column, table)]),
    ),
    row(record) {
      if (whole) return record.text.trimEnd()
      const fields = storedFields(record.text, keys)
      const row: JsonObject = new Map()
      for (const column of columns) {
        const value = valueOf(column, fields, record)
        if (value !== undefined) row.set(column.name, value)
      }
      return printJson(row)
    },
  }
}

/** Whether texts hold what is to be shown, all of it and nothing else. */
function isWhole(columns: readonly Column[], { table, key }: RowStore): boolean {
  const { definition, types } = table
  return (
    columns.length === definition.columns.length &&
    definition.dropped.length === 0 &&
    columns.every(
      (column) =>
        column.key === column.name &&
        isShownAsStored(column.type, types) &&
        (column.floatsTyped === true || !hasFloats(column.type, types)) &&
        (column.type.type !== 'vector' || key.includes(column)),
    )
  )
}
