import type { ApiError } from '../errors/api-error.ts'

export type EngineErrorKind =
  /** The target, or its keyspace, was dropped. */
  | 'gone'
  /** The table has another schema by now, and nothing was done. */
  | 'changed'
  /** Too much waits already, of the caller or of all. Nothing was done. */
  | 'overloaded'
  | 'read'
  | 'write'
  /** No answer came in time. What was to be written may have been. */
  | 'timeout'
  /** Too few of the machines that keep the data can be reached. */
  | 'unavailable'
  /** None of the machines of the store can be reached. */
  | 'unreachable'
  /** The store does not know the credentials of the request. */
  | 'unauthenticated'
  /** It knows them, and does not permit this. */
  | 'unauthorized'
  /** The store cannot do this, however often it is asked. */
  | 'unsupported'
  /** An index of another target has the name that one would get. Nothing was done. */
  | 'indexExists'
  /** A collection lacks an index or a column, or what is noted of its options cannot be read. */
  | 'schema'
  /** Its options are noted in a form of which this version does not know. */
  | 'schemaVersion'
  /** A column was dropped, and the store takes its name with the old type only. */
  | 'droppedColumn'
  /** The store does not drop columns of this type. */
  | 'keptColumn'
  /** The store has no sets of values without an order. */
  | 'unorderedSet'
  /** The store has as many indexes as it takes. */
  | 'indexLimit'
  /** A position in a query's results that was never given out. */
  | 'position'
  | 'closed'
  | 'damaged'
  /** What is stored as a document is none: others have written it. */
  | 'unparseable'

/** The few ways in which an engine fails; the layer above gives them API meaning. */
export class EngineError extends Error {
  readonly kind: EngineErrorKind

  constructor(kind: EngineErrorKind, message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'EngineError'
    this.kind = kind
  }
}

/** Says in the caller's terms why the store failed. */
export type Explain = (failure: EngineError) => ApiError

/** For those who have no use for what was done beside it. */
export function rethrow(failure: EngineError): never {
  throw failure
}

/** Where nothing but failures of the store came of it, they fail the whole. */
export function throwIfAllFailed(outcomes: readonly unknown[]): void {
  const isFailed = (outcome: unknown) =>
    outcome instanceof EngineError || outcome === 'skipped'
  if (outcomes.every(isFailed)) throwFailed(outcomes)
}

/** For those who have done nothing where part of it has failed. */
export function throwFailed(outcomes: readonly unknown[]): void {
  for (const outcome of outcomes) if (outcome instanceof EngineError) throw outcome
}
