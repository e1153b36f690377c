/**
 * The documents of a collection or the rows of a table, as a migration reads and writes them.
 */
import type { EngineErrorKind } from '../engine/errors.ts'

export interface RecordSet<R> {
  readonly noun: 'documents' | 'rows'
  /** All records, each exactly once. */
  pages(): AsyncIterable<readonly R[]>
  /** Approximate number of records. */
  estimate(): Promise<number>
  /**
   * Text of a record. Two records have the same text if and only if they are equal, in any engine.
   */
  canonical(record: R): string
  /** The key of a record as text. */
  keyOf(record: R): string
  /** Existing records with the keys of `records`, by key. */
  find(records: readonly R[]): Promise<ReadonlyMap<string, R>>
  /** `exists`: a record with this key exists and was not changed. */
  insert(records: readonly R[]): Promise<readonly ('done' | 'exists')[]>
}

/** Maximum number of records that are read or written together. */
export const pageSize = 256

/**
 * Characters of records after which a page ends. This bounds the memory of pages with large
 * records.
 */
export const pageSizeMax = 4_000_000

/** Errors that may disappear when the operation is retried. */
export const passing: ReadonlySet<EngineErrorKind> = new Set([
  ...(['timeout', 'unavailable', 'unreachable', 'overloaded'] as const),
])
