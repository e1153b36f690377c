import type { ApiError } from '../errors/api-error.ts'

export type EngineErrorKind =
  /** The target, or its keyspace, was dropped. */
  | 'gone'
  /** The table's schema has changed meanwhile. Nothing was done. */
  | 'changed'
  /** The queue of the caller, or of all callers, is full. Nothing was done. */
  | 'overloaded'
  | 'read'
  | 'write'
  /** No answer arrived in time. A write may have been applied. */
  | 'timeout'
  /** Too few replicas can be reached. */
  | 'unavailable'
  /** No node of the store can be reached. */
  | 'unreachable'
  /** The store does not accept the credentials of the request. */
  | 'unauthenticated'
  /** The account lacks a permission for the operation. */
  | 'unauthorized'
  /** The store does not support the operation; retrying is pointless. */
  | 'unsupported'
  /** The store cannot represent a value of the request. Nothing was written. */
  | 'value'
  /** Another target has an index with the name that a new index would get. Nothing was done. */
  | 'indexExists'
  /** A collection lacks an index or column, or its stored options cannot be read. */
  | 'schema'
  /** A collection's options are stored in a format that this version does not know. */
  | 'schemaVersion'
  /** A dropped column had this name, and the store accepts the name only with its old type. */
  | 'droppedColumn'
  /** The store cannot drop columns of this type. */
  | 'keptColumn'
  /** The store does not support sets of durations, because durations have no order. */
  | 'unorderedSet'
  /** The store's maximum number of indexes is reached. */
  | 'indexLimit'
  /** Invalid position: this query never returned it. */
  | 'position'
  | 'closed'
  | 'damaged'
  /** A stored document is not valid: another program wrote it. */
  | 'unparseable'

/** Failures of an engine. The layers above the engine map each kind to an API error. */
export class EngineError extends Error {
  readonly kind: EngineErrorKind

  constructor(kind: EngineErrorKind, message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'EngineError'
    this.kind = kind
  }
}

/** Maps a failure of the store to an API error for the caller's command. */
export type Explain = (failure: EngineError) => ApiError

/** An `Explain` that throws the failure instead; for callers that report no partial success. */
export function rethrow(failure: EngineError): never {
  throw failure
}

/** Throws when every write failed or was skipped; a partial success is reported instead. */
export function throwIfAllFailed(outcomes: readonly unknown[]): void {
  const isFailed = (outcome: unknown) =>
    outcome instanceof EngineError || outcome === 'skipped'
  if (outcomes.every(isFailed)) throwFailed(outcomes)
}

/** Throws the first failure; for callers that report no partial success. */
export function throwFailed(outcomes: readonly unknown[]): void {
  for (const outcome of outcomes) if (outcome instanceof EngineError) throw outcome
}
