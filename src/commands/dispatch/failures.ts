/** Converts failures of commands to errors of the catalog. No other module does this. */
import type { Engine } from '../../engine/contract.ts'
import { EngineError } from '../../engine/errors.ts'
import type { Effect } from '../../auth/principal.ts'
import { AnalyzerTooLarge } from '../../errors/analyzer-too-large.ts'
import { ApiError, ApiErrors, apiError } from '../../errors/api-error.ts'
import { reasonOf } from '../../errors/reason.ts'
import { JsonProblem } from '../../json/parse.ts'
import { isObject, type JsonObject } from '../../json/value.ts'
import { summarizeValue } from '../../options/read-value.ts'

/** Path and fields of the failed command, for messages. */
export interface ErrorContext {
  readonly keyspace: string
  readonly target: string
  /** Undefined before the command is identified. */
  readonly command: string | undefined
  readonly does: Effect | undefined
  readonly fields: JsonObject | undefined
}

export interface Log {
  error(details: object, message: string): void
}

export async function explainFailure(
  failure: unknown,
  context: ErrorContext,
  engine: () => Engine,
  log: Log,
): Promise<readonly ApiError[]> {
  if (failure instanceof ApiError) return [failure]
  if (failure instanceof ApiErrors) return failure.errors
  if (failure instanceof DOMException && failure.name === 'AbortError')
    return [
      apiError('UNEXPECTED_SERVER_ERROR', {
        kind: 'Aborted',
        problem: 'the client disconnected',
      }),
    ]
  if (failure instanceof EngineError && failure.kind === 'gone') {
    try {
      return [await unknownTarget(engine(), context.keyspace, context.target)]
    } catch (next) {
      return [explainHere(next, context, log)]
    }
  }
  return [explainHere(failure, context, log)]
}

/** The error for a missing keyspace, or a missing collection or table. */
export async function unknownTarget(
  engine: Engine,
  keyspace: string,
  name: string,
): Promise<ApiError> {
  const targets = await engine.listTargets(keyspace)
  return targets === undefined
    ? apiError('UNKNOWN_KEYSPACE', { keyspace })
    : apiError('UNKNOWN_COLLECTION_OR_TABLE', {
        keyspace,
        name,
        existing: targets.map((target) => target.name),
      })
}

export function explainHere(failure: unknown, context: ErrorContext, log: Log): ApiError {
  const target = nameOf(context)
  // The request was already parsed, so the JSON text that is invalid is a stored one.
  if (failure instanceof JsonProblem) return explainText(failure, target, log)
  if (failure instanceof AnalyzerTooLarge)
    return apiError('ANALYZER_TOO_LARGE', { target, size: failure.size, max: failure.max })
  if (!(failure instanceof EngineError)) return explainBug(failure, log)
  const problem = failure.message
  switch (failure.kind) {
    case 'gone':
      return apiError('UNKNOWN_KEYSPACE', { keyspace: context.keyspace })
    case 'changed':
      // Unreachable: dispatch.ts handles this kind by starting the command over.
      return explainBug(failure, log)
    case 'overloaded':
      return apiError('SERVER_OVERLOADED', { reason: 'store', problem, seconds: 1 })
    case 'position':
      return apiError('COMMAND_FIELD_VALUE_INVALID', {
        field: 'command.options.pageState',
        value: summarizeValue(pageStateOf(context.fields)),
        reason: problem,
      })
    case 'closed':
      return apiError('UNEXPECTED_SERVER_ERROR', {
        kind: 'Stopping',
        problem: 'the server is shutting down',
      })
    case 'write':
      log.error({ err: failure, target }, 'Write failed')
      return apiError('FAILED_WRITE_REQUEST', { target, problem })
    case 'timeout':
      log.error({ err: failure, target }, 'The database did not answer in time')
      return timeoutError(context, problem)
    case 'unavailable':
      log.error({ err: failure, target }, 'The database cannot be reached')
      return apiError('UNAVAILABLE_DATABASE', { target, problem })
    case 'unreachable':
      log.error({ err: failure, target }, 'The database cannot be reached')
      return apiError('FAILED_TO_CONNECT_TO_DATABASE', { target, problem })
    case 'droppedColumn':
      return apiError('CANNOT_ADD_PREVIOUSLY_DROPPED_COLUMN', { target, problem })
    case 'keptColumn':
      return apiError('CANNOT_DROP_USER_DEFINED_COLUMNS', { target, problem })
    case 'unorderedSet':
      return apiError('UNSUPPORTED_SET_DEFINITION_IN_STORE', { target, problem })
    case 'unauthenticated':
      return apiError('UNAUTHENTICATED_REQUEST')
    case 'unauthorized':
      return unauthorizedError(context.does, target, true)
    case 'schema':
      log.error({ err: failure, target }, 'A collection is incomplete in the database')
      return apiError('CORRUPTED_COLLECTION_SCHEMA', { target, problem })
    case 'schemaVersion':
      return apiError('COLLECTION_SCHEMA_VERSION_INVALID', { target, problem })
    case 'indexExists':
      return apiError('EXISTING_INDEX_FOR_COLLECTION', { target, problem })
    case 'indexLimit':
      if (context.command === 'createCollection')
        return apiError('TOO_MANY_INDEXES_FOR_COLLECTION', { target, problem })
      return apiError('UNSUPPORTED_DATABASE_QUERY', { target, problem })
    case 'unsupported':
      return apiError('UNSUPPORTED_DATABASE_QUERY', { target, problem })
    case 'value':
      return apiError('VALUE_NOT_STORABLE', { target, problem })
    case 'read':
      log.error({ err: failure, target }, 'Read failed')
      return apiError('FAILED_READ_REQUEST', { target, problem })
    case 'damaged':
      log.error({ err: failure, target }, 'Stored data is damaged')
      return apiError('STORED_DATA_DAMAGED', { target, problem })
    case 'unparseable':
      return explainText(failure, target, log)
  }
}

function explainText(failure: Error, target: string, log: Log): ApiError {
  log.error({ err: failure, target }, 'A stored document cannot be read')
  return apiError('DOCUMENT_FROM_DB_UNPARSEABLE', { target, problem: failure.message })
}

/**
 * The error for a timed-out command. A read changed nothing; a write may have been applied
 * partially.
 */
export function timeoutError(
  context: Omit<ErrorContext, 'fields'>,
  problem: string,
): ApiError {
  const { command = 'The command', does } = context
  // A command that timed out before it was identified wrote nothing, so the error of a read
  // applies.
  const reads = does === undefined || does === 'read' || does === 'describe'
  return apiError(reads ? 'TIMEOUT_READING_DATA' : 'TIMEOUT_WRITING_DATA', {
    command,
    target: nameOf(context),
    problem,
  })
}

/** The error for an effect that the roles of the token, or the cluster, do not permit. */
export function unauthorizedError(
  effect: Effect | undefined,
  target: string,
  byStore = false,
): ApiError {
  const action = effect === undefined ? 'use' : actions[effect]
  return apiError('UNAUTHORIZED_ACCESS', { target, action, byStore })
}

const actions: Readonly<Record<Effect, string>> = {
  read: 'read',
  write: 'write to',
  change: 'read and write to',
  describe: 'read the schema of',
  create: 'create',
  alter: 'change the schema of',
  drop: 'drop',
}

/**
 * An internal error. The log contains all details. The client gets a summary and an id by which the
 * details can be found in the log.
 */
function explainBug(failure: unknown, log: Log): ApiError {
  const error = apiError('UNEXPECTED_SERVER_ERROR', {
    kind: failure instanceof Error ? failure.name : 'Error',
    problem: reasonOf(failure).split('\n', 1)[0]!.replace(/\.$/, ''),
  })
  log.error(
    { err: failure, id: error.id },
    'A command failed because of a bug in the server',
  )
  return error
}

/** The name "keyspace.collection"; missing parts are omitted. */
export function nameOf(context: { keyspace: string; target: string }): string {
  if (context.keyspace === '') return 'the database'
  return context.target === '' ? context.keyspace : `${context.keyspace}.${context.target}`
}

function pageStateOf(fields: JsonObject | undefined) {
  const options = fields?.get('options')
  return isObject(options)
    ? (options.get('pageState') ?? options.get('pagingState'))
    : undefined
}
