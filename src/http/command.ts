/**
 * A command's request from its headers to its response.
 *
 * The first check that fails answers: token, (path and method: app.ts,) host and database,
 * content type, room, size; then the body (body.ts) and the command itself
 * (commands/dispatch/dispatch.ts). Nothing of a body is read before who sends it is known.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { AnalysisBudget } from '../analysis-budget.ts'
import type { Authenticator } from '../auth/authenticator.ts'
import type { Effect, Principal } from '../auth/principal.ts'
import { sliceMs } from '../caller.ts'
import type { Features, Level, Reply } from '../commands/dispatch/define.ts'
import { dispatch, type Call, type Services } from '../commands/dispatch/dispatch.ts'
import { nameOf, timeoutError, type Log } from '../commands/dispatch/failures.ts'
import { commandsAt } from '../commands/dispatch/registry.ts'
import { Trace } from '../commands/dispatch/trace.ts'
import type { Database, Databases } from '../databases/databases.ts'
import type { Engine } from '../engine/contract.ts'
import { ApiError, apiError } from '../errors/api-error.ts'
import type { LongText } from '../json/long-text.ts'
import type { Value } from '../json/value.ts'
import type { Credentials } from '../providers/models.ts'
import { databaseInHost, type Address } from './address.ts'
import { authenticate, isUnauthenticated, type Unauthenticated } from './authenticate.ts'
import { parseBody } from './body.ts'
import { CallMemory, type Rooms } from './call-memory.ts'
import { addressOfClient, type ProxySettings } from './client-address.ts'
import { packingOf, packings, type Packing } from './compression.ts'
import {
  connectionOf,
  hostOf,
  hostProblem,
  isDisconnected,
  isGone,
  isMultiplexed,
} from './connection.ts'
import type { FairShare, Taker } from './fair-share.ts'
import {
  credentialsOf,
  featuresOf,
  isJson,
  tokenOf,
  tracingOf,
  type FeatureSettings,
  type TracingSettings,
} from './headers.ts'
import type { Metrics, Refusal } from './metrics.ts'
import {
  giveBack,
  interestIn,
  type Interest,
  type CommandTimeouts,
  type Waiting,
} from './command-timeout.ts'
import type { RateLimit } from './rate-limit.ts'
import type { BodyReceiver, NotReceived } from './receive-body.ts'
import { keepMaxUnknown, refuse } from './refuse.ts'
import type { ReplyWriter } from './reply-writer.ts'
import {
  byteLengthOf,
  lengthOf,
  printReply,
  retryAfterSeconds,
  send,
  sendText,
  statusOf,
} from './reply.ts'
import type { Shutdown } from './shutdown.ts'
import type { Turns } from './turns.ts'

export interface HttpServices extends Services, ProxySettings, Rooms {
  /** All databases together. */
  readonly engine: Engine
  readonly databases: Databases
  readonly log: HttpLog
  readonly authenticator: Authenticator
  readonly features: FeatureSettings
  readonly tracing: TracingSettings
  readonly shutdown: Shutdown
  /** Undefined: nobody wants them. */
  readonly metrics: Metrics | undefined
  /** Commands that take as long or longer are logged. */
  readonly slowCommandMs: number
  readonly timeouts: CommandTimeouts
  /** Undefined: anybody may be as fast as they like. */
  readonly rateLimit: RateLimit | undefined
  /** Whether bodies may be packed, of replies and of requests. */
  readonly compression: boolean
  /** Commands at work, until their replies are out. */
  readonly commandRoom: FairShare
  readonly bodies: BodyReceiver
  readonly replies: ReplyWriter
  /** Of the thread that answers, for commands that take long. */
  readonly turns: Turns
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
  const found = authenticate(request, requestId, services)
  const principal = found instanceof Promise ? await found : found
  if (isUnauthenticated(principal)) {
    refuseUnauthenticated(request, response, principal, requestId, services)
    return
  }
  const { limits, bodies, commandRoom, shutdown } = services
  const refuseWith = (error: ApiError) => {
    const keepMax = Math.max(limits.bodySizeMax, keepMin)
    const drain = { keepMax, drainMax: keepMax }
    refuse(request, response, { errors: [error] }, requestId, drain)
  }
  const database = databaseFor(address, request, services.databases)
  if (database instanceof ApiError) {
    refuseWith(database)
    return
  }
  const call = new HttpCall(address, database, principal, request, requestId, services)
  const refusal = refusalOf(request, services) ?? noRoomOf(call, response, services)
  if (refusal !== undefined) {
    refuseWith(refusal)
    return
  }
  const packing = packingOf(request.headers['content-encoding']) as Packing | undefined
  const askFor =
    request.headers.expect === undefined ? undefined : () => response.writeContinue()
  const body = await bodies.receive(request, call, limits.bodySizeMax, packing, askFor)
  if (body === 'broken') return
  if (typeof body === 'string') {
    refuseWith(notReceived(body, packing, services))
    return
  }
  if (!commandRoom.take(call, 1)) {
    body.release()
    refuseWith(overloaded('overloaded', services))
    return
  }
  shutdown.running++
  call.begin(body.takeBytes())
  const reply = await dispatch(call, services)
  const elapsedMs = call.end()
  body.release()
  services.metrics?.countCommand(call.command, reply, elapsedMs, isGone(response))
  if (elapsedMs >= services.slowCommandMs) logSlow(call, elapsedMs, services.log)
  // A stopping server would wait for more requests on a connection that is kept.
  if (shutdown.stopping && !isMultiplexed(request))
    response.setHeader('Connection', 'close')
  const sending = sendReply(call, response, reply, services)
  if (sending !== undefined) await sending
}

/** The command is at work until the last byte of its reply is out. */
function sendReply(
  call: HttpCall,
  response: ServerResponse,
  reply: Reply,
  services: HttpServices,
): Promise<void> | undefined {
  if (isGone(response)) {
    call.release()
    return undefined
  }
  response.once('close', () => call.release())
  const status = statusOf(reply)
  const body = printReply(reply)
  const size = byteLengthOf(body)
  if (typeof size !== 'number')
    return size.then((counted) => {
      // Then it was released, and must not take any room again.
      if (!isGone(response)) sendBody(call, response, status, body, counted, services)
    })
  sendBody(call, response, status, body, size, services)
  return undefined
}

function sendBody(
  call: HttpCall,
  response: ServerResponse,
  status: number,
  body: LongText,
  size: number,
  services: HttpServices,
): void {
  const { requestId } = call
  const { replies } = services
  if (call.holdReply(lengthOf(body), size))
    sendText(response, status, 'application/json', body, requestId, replies, size)
  else {
    const refusal = { errors: [overloaded('no_room_for_reply', services)] }
    send(response, refusal, requestId, replies)
  }
}

/** Bytes of a refused body after which a connection stays in use, however small bodies are. */
const keepMin = 1_000_000

/** Whatever the body holds, and without reading it. */
export function refuseUnauthenticated(
  request: IncomingMessage,
  response: ServerResponse,
  { error, retryAfterSeconds }: Unauthenticated,
  requestId: string | undefined,
  { limits, metrics }: Pick<HttpServices, 'limits' | 'metrics'>,
): void {
  metrics?.countRefused('unauthenticated')
  if (retryAfterSeconds > 0) response.setHeader('Retry-After', retryAfterSeconds)
  const drain = { keepMax: keepMaxUnknown, drainMax: limits.bodySizeMax }
  refuse(request, response, { errors: [error] }, requestId, drain)
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

/**
 * Nothing is wrong with the request, but it comes at the wrong time. This is asked before the
 * body has arrived, so that nobody sends it for nothing.
 */
function noRoomOf(
  call: HttpCall,
  response: ServerResponse,
  services: HttpServices,
): ApiError | undefined {
  const { commandRoom, rateLimit, metrics } = services
  if (!commandRoom.hasRoom(call, 1)) return overloaded('overloaded', services)
  const seconds = rateLimit?.take(call.principalName) ?? 0
  if (seconds === 0) return undefined
  metrics?.countRefused('rate_limited')
  response.setHeader('Retry-After', seconds)
  return apiError('RATE_LIMIT_EXCEEDED', { perSecond: rateLimit!.perSecond, seconds })
}

function notReceived(
  reason: Exclude<NotReceived, 'broken'>,
  packing: Packing | undefined,
  services: HttpServices,
): ApiError {
  switch (reason) {
    case 'too large':
      return apiError('BODY_TOO_LARGE', { max: services.limits.bodySizeMax })
    case 'no room':
      return overloaded('no_room_for_body', services)
    case 'damaged':
      return apiError('REQUEST_NOT_JSON', {
        problem: `its bytes are not ${packing!}, as the Content-Encoding header says`,
      })
  }
}

/** What there is no room for, by what is counted. */
const noRoomFor = {
  overloaded: 'commands',
  no_room_for_body: 'bodies',
  no_room_for_reply: 'replies',
} as const satisfies Partial<Record<Refusal, string>>

function overloaded(refusal: keyof typeof noRoomFor, { metrics }: HttpServices): ApiError {
  metrics?.countRefused(refusal)
  const reason = noRoomFor[refusal]
  return apiError('SERVER_OVERLOADED', { reason, seconds: retryAfterSeconds })
}

/** The database that the request is for, or why there is none. */
function databaseFor(
  address: Address,
  request: IncomingMessage,
  databases: Databases,
): Database | ApiError {
  let id = address.database
  if (id === undefined) {
    const problem = hostProblem(request)
    if (problem !== undefined) return apiError('MALFORMED_REQUEST', { problem })
    id = databaseInHost(hostOf(request))
    if (id === undefined) return databases.home
  }
  return databases.find(id) ?? apiError('UNKNOWN_DATABASE', { database: id })
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
class HttpCall implements Call, Taker, Waiting {
  readonly database: Database
  readonly level: Level
  readonly keyspace: string
  readonly target: string
  readonly requestId: string
  readonly principal: Principal
  readonly connection: object
  trace: Trace | undefined
  command: string | undefined
  /** When its body had arrived: the command's time counts from then. */
  startedAt = 0
  #bytes: Buffer | undefined
  readonly #memory: CallMemory
  /** When it last began to hold the thread. */
  #sliceStartedAt = 0
  #interest: Interest | undefined
  #analysis: AnalysisBudget | undefined
  readonly #request: IncomingMessage
  readonly #services: HttpServices

  constructor(
    address: Address,
    database: Database,
    principal: Principal,
    request: IncomingMessage,
    requestId: string,
    services: HttpServices,
  ) {
    this.database = database
    this.level = address.level
    this.keyspace = address.keyspace
    this.target = address.name
    this.requestId = requestId
    this.principal = principal
    this.connection = connectionOf(request)
    this.#memory = new CallMemory(this, services)
    this.#request = request
    this.#services = services
  }

  begin(bytes: Buffer): void {
    this.#bytes = bytes
    this.trace = traceOf(this, this.#request, this.#services.tracing)
    this.startedAt = this.#sliceStartedAt = performance.now()
    this.#services.timeouts.begin(this)
  }

  /** Its reply is known. Milliseconds that it took. */
  end(): number {
    this.#services.timeouts.end(this)
    this.#memory.endBody()
    if (this.#interest !== undefined) giveBack(this.#interest, this.#request)
    return performance.now() - this.startedAt
  }

  /** Its reply is out, or nobody waits for it. */
  release(): void {
    const { commandRoom, shutdown } = this.#services
    shutdown.running--
    commandRoom.giveBack(this, 1)
    this.#memory.end()
  }

  parseBody(): Value | Promise<Value> {
    const { trace } = this
    const bytes = this.#bytes!
    // Not needed again, and large ones wait long for what follows.
    this.#bytes = undefined
    const body = parseBody(bytes, this.#services.limits, this, (size) =>
      this.#memory.takeForBody(size),
    )
    if (trace === undefined) return body
    const size = bytes.length
    return Promise.resolve(body).then((value) => {
      trace.note(`Parsed a body of ${size} bytes`)
      return value
    })
  }

  reserveReply(effect: Effect): Promise<void> | undefined {
    return this.#memory.reserveReply(effect)
  }

  reserve(size: number, before: number): Promise<void> | undefined {
    return this.#memory.reserve(size, before)
  }

  borrow(size: number): Promise<() => void> {
    return this.#memory.borrow(size)
  }

  holdReply(length: number, size: number): boolean {
    return this.#memory.holdReply(length, size)
  }

  noRoomFor(what: 'body' | 'reply'): ApiError {
    return overloaded(`no_room_for_${what}`, this.#services)
  }

  get onlyReads(): boolean {
    const { does } = this
    return does === undefined || does === 'read' || does === 'describe'
  }

  get does(): Effect | undefined {
    return commandsAt[this.level].get(this.command ?? '')?.does
  }

  get principalName(): string {
    return this.principal.name
  }

  get analysis(): AnalysisBudget {
    return (this.#analysis ??= new AnalysisBudget(this))
  }

  get sharedConnection(): object | undefined {
    return isMultiplexed(this.#request) ? this.connection : undefined
  }

  get address(): string {
    return addressOfClient(this.#request, this.#services)
  }

  get features(): Features {
    return featuresOf(this.#services.features, this.#request.headers)
  }

  get token(): string {
    return tokenOf(this.#request.headers)!
  }

  get credentials(): Credentials {
    return credentialsOf(this.#request.headers, this.token)
  }

  get signal(): AbortSignal {
    this.#interest ??= interestIn(this.#request)
    return this.#interest.signal
  }

  check(): void {
    const { timeoutMs } = this.#services.timeouts
    if (timeoutMs > 0 && performance.now() - this.startedAt >= timeoutMs) this.timeOut()
    if (this.#interest !== undefined || isDisconnected(this.#request))
      this.signal.throwIfAborted()
  }

  pause(): Promise<void> | undefined {
    this.check()
    if (performance.now() - this.#sliceStartedAt < sliceMs) return undefined
    return this.#waitForTurn()
  }

  async #waitForTurn(): Promise<void> {
    await this.#services.turns.next(this.principalName)
    this.#sliceStartedAt = performance.now()
    // Only now can it be known: news of the connection waited for its turn, too.
    this.check()
  }

  /**
   * What it waits for is given up. What it has handed to the store to be written is not: it
   * is waited for, and the reply tells what became of it.
   */
  timeOut(): void {
    this.#interest ??= interestIn(this.#request)
    this.#interest.end(lateness(this, this.#services.timeouts.timeoutMs))
  }
}

function lateness(call: HttpCall, timeoutMs: number): ApiError {
  const { keyspace, target, command, does } = call
  const problem = `it was not done after ${timeoutMs / 1000} s`
  return timeoutError({ keyspace, target, command, does }, problem)
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
