/**
 * Validates the columns of a row or an update. Each check names all columns that fail it.
 */
import type { Column } from '../../engine/schema.ts'
import { apiError } from '../../errors/api-error.ts'
import { list } from '../../errors/catalog-entry.ts'
import { fixedLimits } from '../../limits.ts'
import { unsupportedLabels } from '../column-label.ts'
import type { RowStore } from '../row-store.ts'
import { allColumns, listColumns } from './column-lists.ts'

/** Error codes, which differ between inserts and updates. */
type Codes = typeof rowCodes | typeof updateCodes

export const rowCodes = {
  unknown: 'UNKNOWN_TABLE_COLUMNS',
  unwritable: 'UNSUPPORTED_COLUMN_TYPES',
  invalid: 'INVALID_COLUMN_VALUES',
  unserved: 'UNSUPPORTED_VECTORIZE_WHEN_MISSING_VECTORIZE_DEFINITION',
} as const

export const updateCodes = {
  unknown: 'UNKNOWN_TABLE_COLUMNS_IN_UPDATE',
  unwritable: 'UNSUPPORTED_COLUMN_TYPES_IN_UPDATE',
  invalid: 'INVALID_UPDATE_COLUMN_VALUES',
  unserved: 'UNSUPPORTED_VECTORIZE_IN_UPDATE',
} as const

export function checkKnown(store: RowStore, names: Iterable<string>, codes: Codes): void {
  const { columns, name: target } = store
  const unsupported = new Set<string>()
  const unknown = new Set<string>()
  for (const name of names)
    if (!columns.has(name)) {
      if (store.unsupported.has(name)) unsupported.add(name)
      unknown.add(name)
      if (unknown.size === fixedLimits.namesListedMax) break
    }
  checkSupported(store, [...unsupported], codes)
  if (unknown.size > 0)
    throw apiError(codes.unknown, {
      target,
      columns: allColumns(store),
      unknown: list([...unknown].sort()),
    })
}

/** Rejects columns of CQL-only types. */
export function checkSupported(
  store: RowStore,
  unsupported: readonly string[],
  codes: Codes,
): void {
  if (unsupported.length > 0)
    throw apiError(codes.unwritable, {
      target: store.name,
      columns: allColumns(store),
      unsupported: list(unsupportedLabels(store, new Set(unsupported))),
    })
}

/**
 * Throws if the table has counter columns, as tables created by CQL may: no rows can be inserted
 * into them.
 */
export function checkInsertable(store: RowStore): void {
  const counters = [...store.columns.values()].filter(({ type }) => type.type === 'counter')
  if (counters.length > 0)
    throw apiError(rowCodes.unwritable, {
      target: store.name,
      columns: allColumns(store),
      unsupported: listColumns(counters),
    })
}

export interface UnfitValues {
  /** Columns with invalid values, and why. */
  readonly invalid: readonly string[]
  /** Vector columns that were given a text, although they have no embedding service. */
  readonly unserved: readonly Column[]
}

export function checkValues(
  store: RowStore,
  { invalid, unserved }: UnfitValues,
  codes: Codes,
): void {
  const { name: target } = store
  if (invalid.length > 0)
    throw apiError(codes.invalid, {
      target,
      columns: allColumns(store),
      invalid: invalid.toSorted().join('; '),
    })
  if (unserved.length > 0)
    throw apiError(codes.unserved, {
      target,
      vectorize: listColumns([...store.columns.values()].filter(hasService)),
      used: listColumns(unserved),
    })
}

function hasService({ type }: Column): boolean {
  return type.type === 'vector' && type.service !== undefined
}
