/** Maps failures of the driver and the cluster to the error kinds of the engine contract. */
import { errors, types } from 'cassandra-driver'
import { EngineError, type EngineErrorKind } from '../../errors.ts'

const { responseErrorCodes: codes } = types

/** Codes of failures that the node causes, not the statement. */
const serverFaults: ReadonlySet<number> = new Set([codes.serverError, codes.protocolError])

const kinds: ReadonlyMap<number, EngineErrorKind> = new Map([
  [codes.badCredentials, 'unauthenticated'],
  [codes.unavailableException, 'unavailable'],
  [codes.overloaded, 'overloaded'],
  [codes.isBootstrapping, 'unavailable'],
  [codes.truncateError, 'write'],
  [codes.writeTimeout, 'timeout'],
  [codes.readTimeout, 'timeout'],
  [codes.readFailure, 'read'],
  [codes.writeFailure, 'write'],
  [codes.unauthorized, 'unauthorized'],
])

/** Whether the grammar of this cluster does not support the statement. */
export function isSyntaxError(error: unknown): boolean {
  return codeOf(error) === codes.syntaxError
}

/** Whether the cluster parsed the statement and rejected its content. */
export function isInvalid(error: unknown): boolean {
  const code = codeOf(error)
  return code === codes.invalid || code === codes.configError
}

/** Whether a CREATE failed because another server has already created the object. */
export function isAlreadyExistsError(error: unknown): boolean {
  return codeOf(error) === codes.alreadyExists
}

/** Whether TRUNCATE failed because not all nodes are up. */
export function isTruncationError(error: unknown): boolean {
  return codeOf(error) === codes.truncateError
}

/**
 * Whether the outcome of a write is unknown, because no answer arrived in time. A conditional write
 * can also fail as unavailable after its Paxos round began; another coordinator, which may reach
 * more nodes, can then complete it.
 */
export function isOutcomeUnknown(error: unknown): boolean {
  const code = codeOf(error)
  return (
    isInDoubtByItself(error) ||
    code === codes.writeTimeout ||
    code === codes.writeFailure ||
    code === codes.unavailableException ||
    (error instanceof errors.NoHostAvailableError && hasBegun(error))
  )
}

/** Whether a host may have received the request before its connection was lost. */
function hasBegun({ innerErrors }: errors.NoHostAvailableError): boolean {
  return Object.values(innerErrors as Record<string, unknown>).some(isInDoubtByItself)
}

function isInDoubtByItself(error: unknown): boolean {
  if (error instanceof errors.OperationTimedOutError) return true
  return isLost(error) && !error.requestNotWritten
}

/** The driver's error for a connection that ended. */
interface LostConnection extends Error {
  readonly isSocketError: true
  readonly requestNotWritten?: boolean
}

function isLost(error: unknown): error is LostConnection {
  return error instanceof Error && 'isSocketError' in error && error.isSocketError === true
}

/**
 * Waits for one of several writes. Failures that concern only this write are returned as its
 * outcome; others are thrown.
 */
export async function orFailure<T>(write: Promise<T>): Promise<T | EngineError> {
  try {
    return await write
  } catch (error) {
    if (error instanceof EngineError && ofOneWrite.has(error.kind)) return error
    throw error
  }
}

const ofOneWrite: ReadonlySet<EngineErrorKind> = new Set([
  ...(['overloaded', 'read', 'write', 'timeout', 'unsupported', 'value'] as const),
  ...(['unavailable', 'unreachable'] as const),
])

/**
 * Converts a failure to an EngineError. `act` is the kind of failures without a more specific kind.
 */
export function engineErrorOf(
  failure: unknown,
  act: 'read' | 'write' = 'read',
): EngineError {
  if (failure instanceof EngineError) return failure
  const message = messageOf(failure)
  return new EngineError(kindOf(failure, message, act), message, { cause: failure })
}

/**
 * Describes a failure. Avoids the driver's message for NoHostAvailableError, which contains stack
 * traces.
 */
function messageOf(failure: unknown): string {
  if (isLost(failure)) return 'the connection to a node was lost'
  if (!(failure instanceof errors.NoHostAvailableError))
    return failure instanceof Error ? failure.message : String(failure)
  const reasons = Object.entries(failure.innerErrors as Record<string, unknown>).map(
    ([host, error]) => `${host} ${reasonOf(error)}`,
  )
  const whole = isNameError(failure)
    ? 'the host names of the contact points cannot be resolved'
    : 'all nodes are down'
  return `no node of the cluster can be reached: ${reasons.join('; ') || whole}`
}

/** Whether the host names of all contact points failed to resolve. */
export function isNameError(error: unknown): boolean {
  return error instanceof errors.NoHostAvailableError && error.message.includes('resolved')
}

function reasonOf(error: unknown): string {
  if (isBusy(error)) return 'has too many unanswered statements'
  if (!(error instanceof Error)) return 'does not answer'
  const [, wanted, known] = wrongDataCenter.exec(error.message) ?? []
  if (wanted !== undefined)
    return `has no data center ${wanted}. Set --local-datacenter to one of: ${known}`
  if (error instanceof errors.AuthenticationError)
    return /\bno authenticator\b/.test(error.message)
      ? 'requires a user and a password. Set --cassandra-user and --cassandra-password'
      : `rejects the connection: ${error.message}`
  const { code } = error as NodeJS.ErrnoException
  if (code === 'ERR_SSL_WRONG_VERSION_NUMBER')
    return 'does not use TLS. Set --cassandra-tls to off, or choose another --cassandra-port'
  if (typeof code === 'string' && /CERT|ALTNAME/.test(code))
    return `has a certificate that is not trusted (${code})`
  return typeof code === 'string' ? `failed with ${code}` : `failed: ${error.message}`
}

const wrongDataCenter =
  /^localDataCenter was configured as '(.*)', but only found hosts in data centers: \[(.*)\]$/

function kindOf(failure: unknown, message: string, act: 'read' | 'write'): EngineErrorKind {
  if (failure instanceof errors.OperationTimedOutError || isLost(failure)) return 'timeout'
  if (isBusy(failure)) return 'overloaded'
  if (isUndecided(failure)) return 'unavailable'
  if (failure instanceof errors.AuthenticationError) return 'unauthenticated'
  if (failure instanceof errors.NoHostAvailableError) return kindOfAll(failure)
  const code = codeOf(failure)
  if (code === undefined) return act
  const kind = kinds.get(code)
  if (kind !== undefined) return kind
  for (const [refusal, text] of refusals) if (text.test(message)) return refusal
  if (isAboutMissingTarget(message)) return 'gone'
  if (isAboutMissingColumn(message)) return 'changed'
  return serverFaults.has(code) ? act : 'unsupported'
}

/**
 * Kind of the error for a statement that failed on all hosts. It is not an outage if all hosts
 * reject the credentials, if a connection has too many unanswered statements, or if all hosts have
 * evicted the prepared statement, which happens while a schema changes.
 */
function kindOfAll({ innerErrors }: errors.NoHostAvailableError): EngineErrorKind {
  const all = Object.values((innerErrors ?? {}) as Record<string, unknown>)
  const isRefused = (error: unknown) =>
    !isUndecided(error) &&
    (error instanceof errors.AuthenticationError || codeOf(error) === codes.badCredentials)
  const isForgotten = (error: unknown) => codeOf(error) === codes.unprepared
  if (all.length === 0) return 'unreachable'
  if (all.every(isRefused)) return 'unauthenticated'
  if (all.some(isBusy)) return 'overloaded'
  if (all.every(isForgotten)) return 'changed'
  return all.some((error) => codeOf(error) !== undefined) ? 'unavailable' : 'unreachable'
}

/** Whether the connection has reached its limit of statements without an answer. */
function isBusy(error: unknown): boolean {
  return error instanceof errors.BusyConnectionError
}

/**
 * Whether too few nodes are up to authenticate or authorize the user. The credentials may then
 * still be valid.
 */
function isUndecided(error: unknown): boolean {
  return (
    error instanceof Error &&
    /\bunable to perform auth(?:entication|orization)\b/i.test(error.message)
  )
}

/**
 * Whether the message says that a table or keyspace does not exist. Error codes are checked before
 * messages, because messages differ between releases.
 */
function isAboutMissingTarget(message: string): boolean {
  return missingTarget.test(message)
}

const missingTarget =
  /\b(?:table|keyspace)\b.*\b(?:does not|doesn't) exist|unconfigured table|unknown CF/i

/** Whether the cluster rejected a full scan because the statement lacks ALLOW FILTERING. */
export function isFilteringError(error: unknown): boolean {
  return error instanceof EngineError && /\bALLOW FILTERING\b/.test(error.message)
}

/** Whether the cluster rejected a statement because an index that it needs does not exist. */
export function isMissingIndexError(error: unknown): boolean {
  return (
    isFilteringError(error) ||
    (error instanceof EngineError &&
      error.message.includes('requires the column to be indexed'))
  )
}

/** Messages of rejected definitions and values. */
const refusals: readonly (readonly [EngineErrorKind, RegExp])[] = [
  // The vendor or the operators of the cluster set this limit.
  ['indexLimit', /\bcannot have more than \d+\b[^,]*\bindexes\b/i],
  ['droppedColumn', /\bpreviously dropped column\b/i],
  ['keptColumn', /\bcannot drop non-frozen column\b/i],
  ['value', /\blonger than maximum of 65535\b/i],
  ['unorderedSet', /\bdurations are not allowed inside sets\b/i],
]

function isAboutMissingColumn(message: string): boolean {
  return /undefined column name|unknown identifier|unknown field|unkown field/i.test(
    message,
  )
}

function codeOf(error: unknown): number | undefined {
  return error instanceof errors.ResponseError ? error.code : undefined
}
