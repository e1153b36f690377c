/** What the driver and the cluster fail with, in the few ways that engines fail. */
import { errors, types } from 'cassandra-driver'
import { EngineError, type EngineErrorKind } from '../../errors.ts'

const { responseErrorCodes: codes } = types

/** Not the statement's. */
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

/** Whether the statement used something that the grammar of this cluster lacks. */
export function isSyntaxError(error: unknown): boolean {
  return codeOf(error) === codes.syntaxError
}

/** Whether the cluster understood the statement, and refused it for what it says. */
export function isInvalid(error: unknown): boolean {
  const code = codeOf(error)
  return code === codes.invalid || code === codes.configError
}

/** Whether what was to be made is there already, and so was made by others. */
export function isAboutExisting(error: unknown): boolean {
  return codeOf(error) === codes.alreadyExists
}

/** Whether not all nodes have emptied a table: all of them have to be there. */
export function isAboutTruncation(error: unknown): boolean {
  return codeOf(error) === codes.truncateError
}

/**
 * Whether it is not known if a write was made: nobody said so in time. A conditional one may
 * find too few nodes half way, and be finished by others; by another node all may be there.
 */
export function isInDoubt(error: unknown): boolean {
  const code = codeOf(error)
  return (
    isInDoubtByItself(error) ||
    code === codes.writeTimeout ||
    code === codes.writeFailure ||
    code === codes.unavailableException ||
    (error instanceof errors.NoHostAvailableError && hasBegun(error))
  )
}

/** Some host may have got the request before its connection was lost. */
function hasBegun({ innerErrors }: errors.NoHostAvailableError): boolean {
  return Object.values(innerErrors as Record<string, unknown>).some(isInDoubtByItself)
}

function isInDoubtByItself(error: unknown): boolean {
  if (error instanceof errors.OperationTimedOutError) return true
  return isLost(error) && !error.requestNotWritten
}

/** What the driver fails with when a connection ends. */
interface LostConnection extends Error {
  readonly isSocketError: true
  readonly requestNotWritten?: boolean
}

function isLost(error: unknown): error is LostConnection {
  return error instanceof Error && 'isSocketError' in error && error.isSocketError === true
}

/** What fails one of several writes, and need not fail others, is their outcome. */
export async function orFailure<T>(write: Promise<T>): Promise<T | EngineError> {
  try {
    return await write
  } catch (error) {
    if (error instanceof EngineError && ofOneWrite.has(error.kind)) return error
    throw error
  }
}

const ofOneWrite: ReadonlySet<EngineErrorKind> = new Set([
  ...(['overloaded', 'read', 'write', 'timeout', 'unsupported'] as const),
  ...(['unavailable', 'unreachable'] as const),
])

/** `act` is what failed, where the failure itself does not tell. */
export function engineErrorOf(
  failure: unknown,
  act: 'read' | 'write' = 'read',
): EngineError {
  if (failure instanceof EngineError) return failure
  const message = messageOf(failure)
  return new EngineError(kindOf(failure, message, act), message, { cause: failure })
}

/** The driver's own words show stacks where no host could be asked. */
function messageOf(failure: unknown): string {
  if (isLost(failure)) return 'the connection to a node was lost'
  if (!(failure instanceof errors.NoHostAvailableError))
    return failure instanceof Error ? failure.message : String(failure)
  const reasons = Object.entries(failure.innerErrors as Record<string, unknown>).map(
    ([host, error]) => `${host} ${reasonOf(error)}`,
  )
  const whole = isAboutNames(failure)
    ? 'the names of contact points cannot be resolved'
    : 'none is up'
  return `no node of the cluster can be asked: ${reasons.join('; ') || whole}`
}

/** Whether no contact point has an address. */
export function isAboutNames(error: unknown): boolean {
  return error instanceof errors.NoHostAvailableError && error.message.includes('resolved')
}

function reasonOf(error: unknown): string {
  if (isBusy(error)) return 'is behind with its answers'
  if (!(error instanceof Error)) return 'does not answer'
  const [, wanted, known] = wrongDataCenter.exec(error.message) ?? []
  if (wanted !== undefined)
    return `knows no data center ${wanted}. Give --local-datacenter one of these: ${known}`
  if (error instanceof errors.AuthenticationError)
    return /\bno authenticator\b/.test(error.message)
      ? 'asks for a user and a password. Give --cassandra-user and --cassandra-password'
      : `refuses: ${error.message}`
  const { code } = error as NodeJS.ErrnoException
  if (code === 'ERR_SSL_WRONG_VERSION_NUMBER')
    return 'does not encrypt. Set --cassandra-tls to off, or name another --cassandra-port'
  if (typeof code === 'string' && /CERT|ALTNAME/.test(code))
    return `shows a certificate that is not accepted (${code})`
  return typeof code === 'string' ? `fails with ${code}` : `fails: ${error.message}`
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
 * Hosts that refuse the credentials are no outage, nor are those that forget statements as
 * fast as they are prepared: they do so while a schema changes.
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

/** As many statements as it takes wait for answers of the node. */
function isBusy(error: unknown): boolean {
  return error instanceof errors.BusyConnectionError
}

/** Too few nodes are left to say who the user is and what is permitted: that is no refusal. */
function isUndecided(error: unknown): boolean {
  return (
    error instanceof Error &&
    /\bunable to perform auth(?:entication|orization)\b/i.test(error.message)
  )
}

/** Texts are looked at last: they differ between releases. */
function isAboutMissingTarget(message: string): boolean {
  return missingTarget.test(message)
}

const missingTarget =
  /\b(?:table|keyspace)\b.*\b(?:does not|doesn't) exist|unconfigured table|unknown CF/i

/** Whether nodes would have to look at all that there is, and were not told to. */
export function isAboutFiltering(error: unknown): boolean {
  return error instanceof EngineError && /\bALLOW FILTERING\b/.test(error.message)
}

/** Whether a statement needs an index that is not there. */
export function isAboutMissingIndex(error: unknown): boolean {
  return (
    isAboutFiltering(error) ||
    (error instanceof EngineError &&
      error.message.includes('requires the column to be indexed'))
  )
}

/** What definitions are refused for. */
const refusals: readonly (readonly [EngineErrorKind, RegExp])[] = [
  // A limit of the product, or one that the cluster's operators have set.
  ['indexLimit', /\bcannot have more than \d+\b[^,]*\bindexes\b/i],
  ['droppedColumn', /\bpreviously dropped column\b/i],
  ['keptColumn', /\bcannot drop non-frozen column\b/i],
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
