/**
 * Rows a few at a time: as many as were asked for, but no more than their texts leave room
 * for. A look through thousands of documents does not hold thousands of large ones.
 */
import { textCost, type Budget } from '../plan/budget.ts'
import type { Parameter } from '../plan/conditions.ts'
import type { StoreConnection } from './store-connection.ts'

/** Characters of texts that are held at a time, about. */
const textsLengthMax = 16_000_000

export interface Batch {
  readonly rows: unknown[][]
  /** Whether there was no room for what follows. */
  readonly isCut: boolean
}

/** The third column of each row is its text. */
export function readBatch(
  store: StoreConnection,
  sql: string,
  parameters: readonly Parameter[],
  budget: Budget,
): Batch {
  const rows: unknown[][] = []
  let left = textsLengthMax
  for (const columns of store.prepared(sql).iterate(...parameters)) {
    const row = columns as unknown as unknown[]
    rows.push(row)
    const text = row[2] as string
    budget.spend(textCost(text))
    left -= text.length
    if (left < 0) return { rows, isCut: true }
  }
  return { rows, isCut: false }
}
