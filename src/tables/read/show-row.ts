/** Converts rows to the JSON of replies. */
import type { Row } from '../../engine/contract.ts'
import { asFloats } from '../../json/floats.ts'
import { printJsonInSteps } from '../../json/print.ts'
import type { JsonObject, Value } from '../../json/value.ts'
import type { Column } from '../../language/columns/column.ts'
import { shownForm } from '../../language/columns/values.ts'
import type { Shown } from '../../paging/show-all.ts'
import { atOnce, type Steps } from '../../runtime/steps.ts'
import { describeForProjection } from '../schema/describe.ts'
import type { RowStore } from '../row-store.ts'

/**
 * Cached descriptions by list of columns. Reads of all columns pass the same list object, so they
 * share a description.
 */
const described = new WeakMap<readonly Column[], Value>()

/** The projectionSchema of a reply. */
export function describeColumns(columns: readonly Column[], { table }: RowStore): Value {
  let description = described.get(columns)
  if (description === undefined)
    described.set(columns, (description = describe(columns, table)))
  return description
}

function describe(columns: readonly Column[], table: RowStore['table']): Value {
  return new Map(
    columns.map((column) => [column.name, describeForProjection(column, table)]),
  )
}

/** A row as JSON text with these columns, in the given order. */
export function showRow(
  row: Row,
  columns: readonly Column[],
  store: Pick<RowStore, 'table'>,
): Shown {
  if (row.text !== undefined) return row.text
  const { unread } = row
  if (unread === undefined) return atOnce(show(row, columns, store))
  const { text, steps } = unread
  return { text, steps: showAfter(steps, row, columns, store) }
}

function* showAfter(
  reading: Steps<void>,
  row: Row,
  columns: readonly Column[],
  store: Pick<RowStore, 'table'>,
): Steps<string> {
  yield* reading
  return yield* show(row, columns, store)
}

function* show(
  row: Row,
  columns: readonly Column[],
  { table }: Pick<RowStore, 'table'>,
): Steps<string> {
  const shown: JsonObject = new Map()
  for (const column of columns) {
    const value = row.get(column)
    if (value === undefined) continue
    const form =
      value instanceof Float32Array
        ? asFloats(value)
        : shownForm(column.type, value, table.types)
    shown.set(column.name, form)
  }
  const printed = printJsonInSteps(shown)
  return typeof printed === 'string' ? printed : yield* printed
}
