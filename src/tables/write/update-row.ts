/**
 * Updating a row. One that is not there is made by what is set or pushed, and goes again
 * when the last of it is cleared, unless it was inserted meanwhile.
 */
import type { Caller } from '../../caller.ts'
import type { Column } from '../../engine/schema.ts'
import { ApiError } from '../../errors/api-error.ts'
import type { Value } from '../../json/value.ts'
import { unfitValue } from '../column-clause.ts'
import type { RowStore } from '../row-store.ts'
import { changeRows } from './change-rows.ts'
import { checkVectors, embedTexts } from './column-content.ts'
import type { Alteration, RowUpdate } from './parse-row-update.ts'
import { findUnfitKey } from './key-size.ts'
import { hasValues, withContents, type Content, type Contents, type Row } from './row.ts'

export async function updateRow(
  store: RowStore,
  key: Contents,
  { contents: given, alterations }: RowUpdate,
  caller: Caller,
): Promise<void> {
  const unfit = findUnfitKey(store, key)
  if (unfit !== undefined)
    throw unfitValue(unfit.column, key.get(unfit.column) as Value, unfit.problem, store)
  const [contents] = await embedTexts(store, [given], caller)
  checkVectors(store, contents!)
  const none = withContents(store, undefined, key, false)
  const change = {
    id: store.view.idOfRow(none.values),
    apply(before: Row | undefined): Row | undefined {
      const row = before ?? none
      const changed = new Map([...contents!, ...altered(row, alterations)])
      const updated = withContents(store, row, changed, false)
      return updated.wasInserted || hasValues(updated, store) ? updated : undefined
    },
  }
  const options = { ordered: true, likelyNew: false }
  const [outcome] = await changeRows(store, [change], options, caller)
  if (outcome instanceof ApiError) throw outcome
}

function altered(
  { values }: Row,
  alterations: ReadonlyMap<Column, Alteration>,
): [Column, Content][] {
  return Array.from(alterations, ([column, alter]) => [
    column,
    alter(values.get(column.key)),
  ])
}
