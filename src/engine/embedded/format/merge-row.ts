/** Applies a merge to a stored row, or creates the row. */
import { shortestFloat } from '../../../json/floats.ts'
import type { JsonObject, Value } from '../../../json/value.ts'
import { withAdded, withoutAll } from '../../../language/columns/change-elements.ts'
import type { CollectionType } from '../../../language/columns/collections.ts'
import type { Steps } from '../../../runtime/steps.ts'
import type { ElementChange, RowMerge } from '../../contract.ts'
import type { StoredRow } from './row-text.ts'
import type { RowView } from './row-view.ts'

/** A merge in its stored form, as it is sent to the writer thread. */
export interface StoredMerge {
  readonly values: JsonObject
  /** Keys of the columns that lose their value. */
  readonly cleared: readonly string[]
  readonly elements: readonly (ElementChange & { readonly column: string })[]
  readonly isInsert: boolean
}

/**
 * The stored form of a merge. Excludes vectors outside of the primary key, because they are stored
 * beside rows.
 */
export function storedMerge(merge: RowMerge, view: RowView): StoredMerge {
  const values: JsonObject = new Map()
  const cleared: string[] = []
  for (const [column, value] of merge.values) {
    if (view.isBeside(column)) continue
    const { key, type } = view.column(column)
    if (value === undefined) cleared.push(key)
    else if (value instanceof Float32Array) values.set(key, shownNumbers(value))
    else values.set(key, view.fieldKeys.stored(type, value))
  }
  return {
    values,
    cleared,
    elements: Array.from(merge.elements ?? [], ([{ name, type }, change]) => {
      return { ...view.fieldKeys.storedChange(type, change), column: name }
    }),
    isInsert: merge.kind === 'insert',
  }
}

function shownNumbers(vector: Float32Array): Value[] {
  return Array.from(vector, shortestFloat)
}

export function* mergedRow(
  before: StoredRow | undefined,
  { values, cleared, elements, isInsert }: StoredMerge,
  view: RowView,
): Steps<StoredRow> {
  const merged: JsonObject = new Map()
  for (const { key, name, type } of view.layout) {
    const change = elements.find(({ column }) => column === name)
    const stored = before?.values.get(key)
    const value =
      change === undefined
        ? (values.get(key) ?? (cleared.includes(key) ? undefined : stored))
        : yield* changedElements(type as CollectionType, stored, change, view)
    if (value !== undefined) merged.set(key, value)
  }
  return { values: merged, wasInserted: isInsert || (before?.wasInserted ?? false) }
}

function changedElements(
  type: CollectionType,
  stored: Value | undefined,
  { kind, elements }: ElementChange,
  { types }: RowView,
): Steps<Value | undefined> {
  return kind === 'add'
    ? withAdded(type, stored, elements, types)
    : withoutAll(type, stored, elements, types)
}

/** Whether the row has values besides its key. Vectors that are stored beside it do not count. */
export function hasValues({ values }: StoredRow, { key }: RowView): boolean {
  return values.size > key.length
}
