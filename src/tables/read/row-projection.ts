/** Parses projections of rows. */
import type { Column } from '../../language/columns/column.ts'
import { apiError } from '../../errors/api-error.ts'
import { isObject, jsonTypeOf, type Value } from '../../json/value.ts'
import { parseSwitch, refused } from '../../language/projection.ts'
import { labelsOf, unsupportedLabels } from '../column-label.ts'
import type { RowStore } from '../row-store.ts'

/** The columns to return: columns of the primary key in key order, then the others by name. */
export function parseRowProjection(
  value: Value | undefined,
  store: RowStore,
): readonly Column[] {
  const all = store.shownColumns
  if (value === undefined || value === null) return allReadable(store)
  if (!isObject(value))
    throw apiError('UNSUPPORTED_PROJECTION_DEFINITION', { type: jsonTypeOf(value) })
  if (value.size === 0) return allReadable(store)
  if (value.has('*') && value.size > 1)
    throw refused('*', 'it must be the only column of the projection')
  const switches = [...value].map(([name, choice]) => readSwitch(name, choice))
  const includes = switches[0]!.on
  const other = switches.find(({ on }) => on !== includes)
  if (other !== undefined)
    throw refused(
      other.name,
      'a projection must either include or exclude columns, but ' +
        `"${switches[0]!.name}" is ${includes ? 'included' : 'excluded'}`,
    )
  const isShown = value.has('*')
    ? () => includes
    : (name: string) => value.has(name) === includes
  checkReadable(store, [...store.unsupported.keys()].filter(isShown))
  checkReadable(store, store.unsupportedKey)
  const columns = all.filter(({ name }) => isShown(name))
  if (columns.length === 0)
    throw apiError('UNKNOWN_TABLE_COLUMNS_IN_PROJECTION', {
      table: store.name,
      columns: labelsOf(all),
      unknown: [...value.keys()],
    })
  return columns
}

function allReadable(store: RowStore): readonly Column[] {
  checkReadable(store, [...store.unsupported.keys()])
  return store.shownColumns
}

/**
 * Throws if a column has a type without a JSON form. Tables created by CQL may have such columns.
 */
function checkReadable(store: RowStore, names: readonly string[]): void {
  if (names.length === 0) return
  throw apiError('UNSUPPORTED_COLUMN_TYPES_IN_PROJECTION', {
    table: store.name,
    columns: labelsOf(store.shownColumns),
    unsupported: unsupportedLabels(store, names),
    isKey: names.some((name) => store.unsupportedKey.includes(name)),
  })
}

function readSwitch(name: string, choice: Value) {
  if (name === '') throw refused(name, 'no column has an empty name')
  return { name, on: parseSwitch(name, choice) }
}
