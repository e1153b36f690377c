/**
 * Updates a row. Updating a missing row creates it when a value is set or pushed. Such a
 * row disappears when its last value is unset, unless it was inserted meanwhile.
 */
import type { Caller } from '../../caller/caller.ts'
import type { Value } from '../../json/value.ts'
import { unfitValue } from '../column-clause.ts'
import type { RowStore } from '../row-store.ts'
import { checkVectors, embedTexts, type Contents } from './column-content.ts'
import { findUnfitKey } from './key-size.ts'
import { mergeRows } from './merge-rows.ts'
import type { RowUpdate } from './parse-row-update.ts'

export async function updateRow(
  store: RowStore,
  key: Contents,
  { contents: given, elements }: RowUpdate,
  caller: Caller,
): Promise<void> {
  const unfit = findUnfitKey(store, key)
  if (unfit !== undefined)
    throw unfitValue(unfit.column, key.get(unfit.column) as Value, unfit.problem, store)
  const [contents] = await embedTexts(store, [given], caller)
  checkVectors(store, contents!)
  const values = new Map([...key, ...contents!])
  const merge = { kind: 'update', values, elements } as const
  const [outcome] = await mergeRows(store, [merge], true, caller)
  if (outcome instanceof Error) throw outcome
}
