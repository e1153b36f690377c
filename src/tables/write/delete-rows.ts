/** Deletes rows by key. */
import type { Caller } from '../../caller/caller.ts'
import type { KeyConditions } from '../../language/columns/key-conditions.ts'
import type { RowStore } from '../row-store.ts'
import type { Contents } from './column-content.ts'

export async function deleteRow(
  { engine, table }: RowStore,
  key: Contents,
  caller: Caller,
): Promise<void> {
  const conditions = new Map(
    Array.from(key, ([{ name }, value]) => [name, { eq: [value!] }]),
  )
  await engine.deleteRows(table, conditions, caller)
}

/** Deletes all rows that match when the deletion starts, without a limit. */
export async function deleteRows(
  { engine, table }: RowStore,
  conditions: KeyConditions,
  caller: Caller,
): Promise<void> {
  await engine.deleteRows(table, conditions, caller)
}
