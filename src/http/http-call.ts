/** An HTTP request in the form that commands use, and the services behind it. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { AnalysisBudget } from '../caller/analysis-budget.ts'
import { countsOf, printMet, printReport, type ReadReport } from '../caller/read-report.ts'
import type { Authenticator } from '../auth/authenticator.ts'
import type { Effect, Principal } from '../auth/principal.ts'
import type { Features, CommandLevel, Reply } from '../commands/dispatch/define.ts'
import { dispatch, type Call, type Services } from '../commands/dispatch/dispatch.ts'
import { nameOf, timeoutError, type Log } from '../commands/dispatch/failures.ts'
import { commandsAt } from '../commands/dispatch/registry.ts'
import { Trace } from '../commands/dispatch/trace.ts'
import type { Database, Databases } from '../databases/databases.ts'
import type { Engine } from '../engine/contract.ts'
import { apiError, type ApiError } from '../errors/api-error.ts'
import type { LongText } from '../json/long-text.ts'
import type { JsonObject, Value } from '../json/value.ts'
import type { ProviderCredentials } from '../providers/models.ts'
import type { Address } from './address.ts'
import { parseBody } from './body.ts'
import { CallMemory, type MemoryPools } from './call-memory.ts'
import { addressOfClient, type ProxySettings } from './client-address.ts'
import {
  releaseAbortSource,
  acquireAbortSource,
  type CommandTimeouts,
  type AbortSource,
  type Waiting,
} from './command-timeout.ts'
import { connectionOf, isDisconnected, isGone, isMultiplexed } from './connection.ts'
import type { FairShare, MemoryHolder } from './fair-share.ts'
import {
  credentialsOf,
  featuresOf,
  tokenOf,
  tracingOf,
  type FeatureSettings,
  type TracingSettings,
} from './headers.ts'
import type { Metrics, CommandRefusal } from './metrics.ts'
import type { CommandPlace, Protocol, WrappedCall } from './protocol.ts'
import type { RateLimit } from './rate-limit.ts'
import type { BodyReceiver } from './receive-body.ts'
import type { ReplyWriter } from './reply-writer.ts'
import { retryAfterSeconds, type BodyWriter, type TurnTaker } from './reply.ts'
import type { Shutdown } from './shutdown.ts'
import type { SlowCommands } from './slow-commands.ts'
import type { Turns } from './turns.ts'

export interface HttpServices extends Services, ProxySettings, MemoryPools {
  /** The engine with the keyspaces of all databases. */
  readonly engine: Engine
  readonly databases: Databases
  readonly log: HttpLog
  readonly authenticator: Authenticator
  readonly features: FeatureSettings
  readonly tracing: TracingSettings
  readonly shutdown: Shutdown
  /** Undefined: metrics are disabled. */
  readonly metrics: Metrics | undefined
  /** Commands that take at least this many milliseconds are logged and recorded as slow. */
  readonly slowCommandMs: number
  readonly slowCommands: SlowCommands
  /** Receives a report of each read; undefined: reads are not logged. */
  readonly onRead: ((call: HttpCall, report: ReadReport) => void) | undefined
  readonly timeouts: CommandTimeouts
  /** Undefined: no rate limit. */
  readonly rateLimit: RateLimit | undefined
  /** Whether replies may be compressed and compressed requests are accepted. */
  readonly compression: boolean
  /** Limits running commands; a command counts until its reply was sent. */
  readonly commandRoom: FairShare
  readonly bodies: BodyReceiver
  readonly replies: ReplyWriter
  /** Distributes the time of the event loop among all requests. */
  readonly turns: Turns
  /** The Model Context Protocol at /v1/mcp. */
  readonly mcp: Protocol
}

export interface HttpLog extends Log {
  warn(details: object, message: string): void
}

/** A request in the form that commands, limits and protocols use. */
export class HttpCall
  implements Call, WrappedCall, MemoryHolder, Waiting, TurnTaker, BodyWriter
{
  readonly database: Database
  readonly root: string
  level: CommandLevel
  keyspace: string
  target: string
  readonly requestId: string
  readonly principal: Principal
  readonly connection: object
  readonly sharedConnection: object | undefined
  trace: Trace | undefined
  command: string | undefined
  /**
   * Time at which the body had arrived, in milliseconds of performance.now(). The deadline is
   * counted from this time.
   */
  startedAt = 0
  reads = 0
  slowestRead: ReadReport | undefined
  before: Waiting | undefined
  after: Waiting | undefined
  #bytes: Buffer | undefined
  /** The parsed command of a protocol message; used instead of `#bytes`. */
  #body: Value | undefined
  readonly #memory: CallMemory
  #interest: AbortSource | undefined
  #analysis: AnalysisBudget | undefined
  readonly #request: IncomingMessage
  readonly #response: ServerResponse
  readonly #services: HttpServices

  constructor(
    address: Address,
    database: Database,
    principal: Principal,
    request: IncomingMessage,
    response: ServerResponse,
    requestId: string,
    services: HttpServices,
  ) {
    this.database = database
    this.root = address.root
    this.level = address.level
    this.keyspace = address.keyspace
    this.target = address.name
    this.requestId = requestId
    this.principal = principal
    this.connection = connectionOf(request)
    this.sharedConnection = isMultiplexed(request) ? this.connection : undefined
    this.#memory = new CallMemory(this, services)
    this.#request = request
    this.#response = response
    this.#services = services
  }

  begin(bytes: Buffer): void {
    this.#bytes = bytes
    this.trace = traceOf(this, this.#request, this.#services.tracing)
    this.startedAt = performance.now()
    this.#services.timeouts.begin(this)
  }

  async run(
    { level, keyspace, target }: CommandPlace,
    command: string,
    fields: JsonObject,
    replySizeMax?: number,
  ): Promise<Reply> {
    this.level = level
    this.keyspace = keyspace
    this.target = target
    this.command = undefined
    this.#body = new Map([[command, fields]])
    this.reads = 0
    this.slowestRead = undefined
    const startedAt = performance.now()
    const services =
      replySizeMax === undefined
        ? this.#services
        : { ...this.#services, limits: { ...this.#services.limits, replySizeMax } }
    const reply = await dispatch(this, services)
    this.count(reply, startedAt)
    return reply
  }

  /** Counts a finished command in metrics, and records it if it was slow. */
  count(reply: Reply, startedAt = this.startedAt): void {
    const { metrics, slowCommandMs } = this.#services
    const elapsedMs = performance.now() - startedAt
    metrics?.countCommand(this.command, reply, elapsedMs, isGone(this.#response))
    if (elapsedMs >= slowCommandMs) tellSlow(this, elapsedMs, this.#services)
  }

  noteRead(report: ReadReport): void {
    this.reads++
    if (report.elapsedMs >= (this.slowestRead?.elapsedMs ?? 0)) this.slowestRead = report
    this.trace?.note(`Followed a plan: ${printMet(report)}`, () => countsOf(report))
    this.#services.onRead?.(this, report)
  }

  /** Called when the reply is known: ends the timeout and releases the memory of the body. */
  end(): void {
    this.#services.timeouts.end(this)
    this.#memory.endBody()
    if (this.#interest !== undefined) releaseAbortSource(this.#interest, this.#request)
  }

  /** Called when the reply was sent or the client disconnected: releases all resources. */
  release(): void {
    const { commandRoom, shutdown } = this.#services
    shutdown.running--
    commandRoom.release(this, 1)
    this.#memory.end()
  }

  /** Parses the body, after waiting for the turn of the request. Called first for each command. */
  parseBody(): Value | Promise<Value> {
    if (this.#body !== undefined) return this.#body
    // The deadline was set in this turn, so it can have expired only after a pause.
    const turn = this.yieldTurn()
    if (turn === undefined) return this.#parseBytes()
    return turn.then(() => {
      this.check()
      return this.#parseBytes()
    })
  }

  #parseBytes(): Value | Promise<Value> {
    const { trace } = this
    const bytes = this.#bytes!
    // The bytes of a large body must not stay in memory while its values are parsed and used.
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

  holdReply(length: number, size: number): boolean | Promise<boolean> {
    return this.#memory.holdReply(length, size)
  }

  noRoomFor(what: 'reply' | 'values'): ApiError {
    return overloaded(`no_room_for_${what}`, this.#services)
  }

  get headers() {
    return this.#request.headers
  }

  get databaseId(): string {
    return this.database.id
  }

  get log(): Log {
    return this.#services.log
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

  get address(): string {
    return addressOfClient(this.#request, this.#services)
  }

  get features(): Features {
    return featuresOf(this.#services.features, this.#request.headers)
  }

  get token(): string {
    return tokenOf(this.#request.headers)!
  }

  get credentials(): ProviderCredentials {
    return credentialsOf(this.#request.headers, this.token)
  }

  get signal(): AbortSignal {
    this.#interest ??= acquireAbortSource(this.#request)
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
    // Events of the connection are delivered during the pause, so an abort is visible only after
    // it.
    return this.yieldTurn()?.then(() => this.check())
  }

  yieldTurn(): Promise<void> | undefined {
    return this.#services.turns.pause(this)
  }

  write(response: ServerResponse, body: LongText | Buffer, encoding: BufferEncoding): void {
    this.#services.replies.write(response, body, encoding, this)
  }

  /**
   * Aborts waits of the command. Writes that the engine has started are not aborted: the command
   * waits for them, and the reply states their outcome.
   */
  timeOut(): void {
    this.#interest ??= acquireAbortSource(this.#request)
    this.#interest.end(lateness(this, this.#services.timeouts.timeoutMs))
  }
}

function lateness(call: HttpCall, timeoutMs: number): ApiError {
  const { keyspace, target, command, does } = call
  const problem = `it exceeded its time limit of ${timeoutMs / 1000} s`
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

/** Logs and records a slow command without any values that the client sent. */
function tellSlow(
  call: HttpCall,
  elapsed: number,
  { log, slowCommands }: Pick<HttpServices, 'log' | 'slowCommands'>,
): void {
  const { command = 'unknown', requestId, databaseId: database, reads, slowestRead } = call
  const told = {
    ...{ command, target: nameOf(call), elapsedMs: Math.round(elapsed), requestId },
    ...(slowestRead !== undefined && { reads, slowestRead: printReport(slowestRead) }),
  }
  log.warn(told, 'Slow command')
  slowCommands.note({ time: new Date().toISOString(), database, ...told })
}

/** For each refusal: the reason in the message, and the exhausted resource. */
const noRoomFor = {
  overloaded: ['commands', ({ commandRoom }) => commandRoom],
  no_room_for_body: ['bodies', ({ bodies }) => bodies.room],
  no_room_for_reply: ['replies', ({ replyRoom }) => replyRoom],
  no_room_for_values: ['values', ({ valueRoom }) => valueRoom],
} as const satisfies Partial<
  Record<CommandRefusal, readonly [string, (services: HttpServices) => FairShare]>
>

export function overloaded(
  refusal: keyof typeof noRoomFor,
  services: HttpServices,
): ApiError {
  services.metrics?.countRefused(refusal)
  const [reason, roomOf] = noRoomFor[refusal]
  const { total: max } = roomOf(services)
  return apiError('SERVER_OVERLOADED', { reason, max, seconds: retryAfterSeconds })
}
