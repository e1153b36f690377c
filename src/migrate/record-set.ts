/** The documents of a collection or the rows of a table, as they are moved. */
import type { EngineErrorKind } from '../engine/errors.ts'

export interface RecordSet<R> {
  readonly noun: 'documents' | 'rows'
  /** All of them, each once. */
  pages(): AsyncIterable<readonly R[]>
  /** About as many. */
  estimate(): Promise<number>
  /** The same for records that are the same, in every engine. */
  canonical(record: R): string
  /** What tells it from others. */
  keyOf(record: R): string
  /** Existing records with the keys of `records`, by key. */
  find(records: readonly R[]): Promise<ReadonlyMap<string, R>>
  /** `exists`: one with this key is there, and was left as it is. */
  insert(records: readonly R[]): Promise<readonly ('done' | 'exists')[]>
}

/** Records that are read and written at a time. */
export const pageSize = 256

/** Characters of records that are enough for a page: they may be large. */
export const pageSizeMax = 4_000_000

/** What may go better a little later. */
export const passing: ReadonlySet<EngineErrorKind> = new Set([
  ...(['timeout', 'unavailable', 'unreachable', 'overloaded'] as const),
])
