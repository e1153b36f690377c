/**
 * A command's request from its headers to its response.
 *
 * The first check that fails answers: token present, (path and method: app.ts,) content
 * type, size; then the body (body.ts) and the command itself (commands/dispatch.ts).
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import {
  isPrincipal,
  type Authenticator,
  type NotIdentified,
  type Origin,
} from '../auth/authenticator.ts'
import type { Principal } from '../auth/principal.ts'
import { nextTurn, sliceMs } from '../caller.ts'
import type { Features, Level } from '../commands/define.ts'
import { dispatch, type Call, type Services } from '../commands/dispatch.ts'
import { nameOf, type Log } from '../commands/failures.ts'
import { commandsAt } from '../commands/registry.ts'
import { Trace } from '../commands/trace.ts'
import type { Database, Databases } from '../databases/databases.ts'
import type { Engine } from '../engine/engine.ts'
import { apiError, type ApiError } from '../errors/api-error.ts'
import type { Value } from '../json/value.ts'
import type { Credentials } from '../providers/models.ts'
import { databaseInHost, type Address } from './address.ts'
import { parseBody, type Arrivals } from './body.ts'
import { packingOf, packings, type Packing } from './compression.ts'
import { connectionOf, hostOf, isGone, isMultiplexed } from './connection.ts'
import {
  credentialsOf,
  featuresOf,
  isJson,
  tokenOf,
  tracingOf,
  type FeatureSettings,
  type TracingSettings,
} from './headers.ts'
import type { Metrics } from './metrics.ts'
import {
  giveBack,
  interestIn,
  type Interest,
  type Patience,
  type Waiting,
} from './patience.ts'
import type { RateLimit } from './rate-limit.ts'
import { missingToken, send, sendEmpty } from './reply.ts'
import type { Shutdown } from './shutdown.ts'

export interface HttpServices extends Services {
  /** All databases together. */
  readonly engine: Engine
  readonly databases: Databases
  readonly log: HttpLog
  readonly authenticator: Authenticator
  readonly features: FeatureSettings
  readonly tracing: TracingSettings
  readonly arrivals: Arrivals
  readonly shutdown: Shutdown
  /** Undefined: nobody wants them. */
  readonly metrics: Metrics | undefined
  /** Commands that take as long or longer are logged. */
  readonly slowCommandMs: number
  /** Whether a proxy stands in front, whose word on who asks is to be taken. */
  readonly isBehindProxy: boolean
  /** Commands at work; who comes when there are as many is refused. */
  readonly commandsMax: number
  readonly patience: Patience
  /** Undefined: anybody may be as fast as they like. */
  readonly rateLimit: RateLimit | undefined
  /** Whether bodies may be packed, of replies and of requests. */
  readonly compression: boolean
}

interface HttpLog extends Log {
  warn(details: object, message: string): void
}

export async function answerCommand(
  address: Address,
  request: IncomingMessage,
  response: ServerResponse,
  requestId: string,
  services: HttpServices,
): Promise<void> {
  const token = tokenOf(request.headers)
  if (token === undefined) {
    const address = addressOfClient(request, services)
    services.audit.refused('no token', { requestId, address })
    send(response, missingToken(), requestId)
    return
  }
  const database = databaseFor(address, request, services.databases)
  if (typeof database === 'string') {
    send(response, { errors: [apiError('UNKNOWN_DATABASE', { database })] }, requestId)
    return
  }
  const refusal = refusalOf(request, services)
  if (refusal !== undefined) {
    send(response, { errors: [refusal] }, requestId)
    return
  }
  const call = new HttpCall(address, database, token, request, requestId, services)
  // Before the body has arrived, so that nobody sends it for nothing, and again after it.
  if (isFull(services) || call.isTooFast()) {
    refuseForNow(call, response, services)
    return
  }
  const { arrivals, shutdown, limits } = services
  const packing = packingOf(request.headers['content-encoding'])
  const bytes = await arrivals.receive(request, limits.bodySizeMax, packing as Packing)
  if (bytes === 'broken') return
  if (bytes === 'too large') {
    sendEmpty(response, 413, requestId)
    return
  }
  if (bytes === 'damaged') {
    const problem = `its bytes are not ${packing!}, as the Content-Encoding header says`
    send(response, { errors: [apiError('REQUEST_NOT_JSON', { problem })] }, requestId)
    return
  }
  if (isFull(services)) {
    refuseForNow(call, response, services)
    return
  }

  shutdown.running++
  call.begin(bytes)
  const reply = await dispatch(call, services)
  const elapsedMs = call.end()
  shutdown.running--
  services.metrics?.countCommand(call.command, reply, elapsedMs, isGone(response))
  if (elapsedMs >= services.slowCommandMs) logSlow(call, elapsedMs, services.log)
  // A stopping server would wait for more requests on a connection that is kept.
  if (shutdown.stopping && !isMultiplexed(request))
    response.setHeader('Connection', 'close')
  if (call.lockedSeconds > 0) response.setHeader('Retry-After', call.lockedSeconds)
  send(response, reply, requestId)
}

/** What is wrong with the headers, if anything is. */
function refusalOf(
  { headers }: IncomingMessage,
  { compression }: HttpServices,
): ApiError | undefined {
  const contentType = headers['content-type']
  if (contentType !== undefined && !isJson(contentType))
    return apiError('UNSUPPORTED_CONTENT_TYPE', { contentType })
  const encoding = headers['content-encoding']
  const packing = packingOf(encoding)
  if (packing === undefined || (packing !== 'unknown' && compression)) return undefined
  return apiError('UNSUPPORTED_CONTENT_ENCODING', {
    encoding: encoding!,
    known: compression ? packings : [],
  })
}

function isFull({ shutdown, commandsMax }: HttpServices): boolean {
  return shutdown.running >= commandsMax
}

/** Nothing is wrong with the request, but it comes at the wrong time. */
function refuseForNow(
  call: HttpCall,
  response: ServerResponse,
  { metrics, rateLimit, commandsMax }: HttpServices,
): void {
  const seconds = Math.max(1, call.waitSeconds)
  const isTooFast = call.waitSeconds > 0
  metrics?.countRefused(isTooFast ? 'rate_limited' : 'overloaded')
  const error = isTooFast
    ? apiError('RATE_LIMIT_EXCEEDED', { perSecond: rateLimit!.perSecond, seconds })
    : apiError('SERVER_OVERLOADED', { max: commandsMax })
  response.setHeader('Retry-After', seconds)
  send(response, { errors: [error] }, call.requestId)
}

/** The database that the request is for, or the id of one that is not there. */
function databaseFor(
  address: Address,
  request: IncomingMessage,
  databases: Databases,
): Database | string {
  const id = address.database ?? databaseInHost(hostOf(request))
  return id === undefined ? databases.home : (databases.find(id) ?? id)
}

/** As far as it can be known: a proxy appends whom it got the request from. */
export function addressOfClient(
  request: IncomingMessage,
  { isBehindProxy }: Pick<HttpServices, 'isBehindProxy'>,
): string {
  const forwarded = isBehindProxy ? request.headers['x-forwarded-for'] : undefined
  const last = [forwarded].flat().at(-1)?.split(',').at(-1)?.trim()
  return last === undefined || last === '' ? (request.socket.remoteAddress ?? '') : last
}

export function originOf(
  request: IncomingMessage,
  services: Pick<HttpServices, 'isBehindProxy'>,
): Origin {
  return { connection: connectionOf(request), address: addressOfClient(request, services) }
}

/** Says where to look, and nothing of what was sent. */
function logSlow(call: HttpCall, elapsedMs: number, log: HttpLog): void {
  const { command = 'unknown', requestId } = call
  const target = nameOf(call)
  log.warn(
    { command, target, elapsedMs: Math.round(elapsedMs), requestId },
    'A command was slow',
  )
}

/** A request in the form that commands take. */
class HttpCall implements Call, Origin, Waiting {
  readonly database: Database
  readonly level: Level
  readonly keyspace: string
  readonly target: string
  readonly requestId: string
  trace: Trace | undefined
  command: string | undefined
  startedAt = 0
  /** How long to wait where it came too soon. */
  waitSeconds = 0
  /** How long to wait where too many bad tokens came from there. */
  lockedSeconds = 0
  principalName = ''
  readonly #token: string
  #bytes: Buffer | undefined
  /** When it last began to hold the thread. */
  #sliceStartedAt = 0
  #interest: Interest | undefined
  #notIdentified: NotIdentified | undefined
  readonly #request: IncomingMessage
  readonly #services: HttpServices

  constructor(
    address: Address,
    database: Database,
    token: string,
    request: IncomingMessage,
    requestId: string,
    services: HttpServices,
  ) {
    this.database = database
    this.level = address.level
    this.keyspace = address.keyspace
    this.target = address.name
    this.requestId = requestId
    this.#token = token
    this.#request = request
    this.#services = services
  }

  begin(bytes: Buffer): void {
    this.#bytes = bytes
    this.trace = traceOf(this, this.#request, this.#services.tracing)
    this.startedAt = this.#sliceStartedAt = performance.now()
    this.#services.patience.begin(this)
  }

  /** Milliseconds that it took. */
  end(): number {
    this.#services.patience.end(this)
    if (this.#interest !== undefined) giveBack(this.#interest, this.#request)
    return performance.now() - this.startedAt
  }

  /** Counts this one, unless nobody knows who sent it. */
  isTooFast(): boolean {
    const { rateLimit } = this.#services
    if (rateLimit === undefined) return false
    const found = this.identify()
    if (isPrincipal(found)) this.waitSeconds = rateLimit.take(found.name)
    // Not to be asked again: a bad token counts against where it comes from.
    else this.#notIdentified = found
    return this.waitSeconds > 0
  }

  parseBody(): Value {
    const bytes = this.#bytes!
    const body = parseBody(bytes, this.#services.limits)
    this.trace?.note(`Parsed a body of ${bytes.length} bytes`)
    return body
  }

  identify(): Principal | NotIdentified {
    const { authenticator } = this.#services
    const found = this.#notIdentified ?? authenticator.identify(this.#token, this)
    if (isPrincipal(found)) this.principalName = found.name
    else if (found.why === 'locked') this.lockedSeconds = found.seconds
    return found
  }

  get connection(): object {
    return connectionOf(this.#request)
  }

  get address(): string {
    return addressOfClient(this.#request, this.#services)
  }

  get features(): Features {
    return featuresOf(this.#services.features, this.#request.headers)
  }

  get credentials(): Credentials {
    return credentialsOf(this.#request.headers, this.#token)
  }

  get signal(): AbortSignal {
    this.#interest ??= interestIn(this.#request)
    return this.#interest.signal
  }

  check(): void {
    const { timeoutMs } = this.#services.patience
    if (timeoutMs > 0 && performance.now() - this.startedAt >= timeoutMs) this.timeOut()
    this.#interest?.signal.throwIfAborted()
  }

  pause(): Promise<void> | undefined {
    this.check()
    if (performance.now() - this.#sliceStartedAt < sliceMs) return undefined
    return this.#waitForTurn()
  }

  async #waitForTurn(): Promise<void> {
    await nextTurn()
    this.#sliceStartedAt = performance.now()
    // Only now can it be known: news of the connection waited for its turn, too.
    this.signal.throwIfAborted()
    this.check()
  }

  /**
   * What it waits for is given up. What it has handed to the store to be written is not: it
   * is waited for, and the reply tells what became of it.
   */
  timeOut(): void {
    this.#interest ??= interestIn(this.#request)
    this.#interest.end(lateness(this, this.#services.patience.timeoutMs))
  }
}

function lateness(call: HttpCall, timeoutMs: number): ApiError {
  const { command = 'The command', level } = call
  const effect = commandsAt[level].get(command)?.does
  const reads = effect === 'read' || effect === 'describe'
  return apiError(reads ? 'TIMEOUT_READING_DATA' : 'TIMEOUT_WRITING_DATA', {
    command,
    target: nameOf(call),
    seconds: timeoutMs / 1000,
  })
}

function traceOf(
  { requestId, database }: Call,
  request: IncomingMessage,
  settings: TracingSettings,
): Trace | undefined {
  const tracing = tracingOf(settings, request.headers)
  if (tracing === 'off') return undefined
  return new Trace({ requestId, tenantId: database.id, isFull: tracing === 'full' })
}
