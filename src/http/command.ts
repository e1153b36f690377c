/**
 * A command's request from its headers to its response.
 *
 * The first check that fails answers: token present, (path and method: app.ts,) content
 * type, size; then the body (body.ts) and the command itself (commands/dispatch.ts).
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Authenticator, NotIdentified, Origin } from '../auth/authenticator.ts'
import type { Principal } from '../auth/principal.ts'
import type { Features, Level } from '../commands/define.ts'
import { dispatch, type Call, type Services } from '../commands/dispatch.ts'
import { nameOf, type Log } from '../commands/failures.ts'
import type { Database, Databases } from '../databases/databases.ts'
import type { Engine } from '../engine/engine.ts'
import { apiError } from '../errors/api-error.ts'
import type { Value } from '../json/value.ts'
import type { Credentials } from '../providers/models.ts'
import { databaseInHost, type Address } from './address.ts'
import { parseBody, type Arrivals } from './body.ts'
import {
  credentialsOf,
  featuresOf,
  isJson,
  tokenOf,
  type FeatureSettings,
} from './headers.ts'
import type { Metrics } from './metrics.ts'
import { missingToken, send, sendEmpty } from './reply.ts'
import type { Shutdown } from './shutdown.ts'

export interface HttpServices extends Services {
  /** All databases together. */
  readonly engine: Engine
  readonly databases: Databases
  readonly log: HttpLog
  readonly authenticator: Authenticator
  readonly features: FeatureSettings
  readonly arrivals: Arrivals
  readonly shutdown: Shutdown
  /** Undefined: nobody wants them. */
  readonly metrics: Metrics | undefined
  /** Commands that take as long or longer are logged. */
  readonly slowCommandMs: number
  /** Whether a proxy stands in front, whose word on who asks is to be taken. */
  readonly isBehindProxy: boolean
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
  const contentType = request.headers['content-type']
  if (contentType !== undefined && !isJson(contentType)) {
    const errors = [apiError('UNSUPPORTED_CONTENT_TYPE', { contentType })]
    send(response, { errors }, requestId)
    return
  }
  const { arrivals, shutdown, limits } = services
  const bytes = await arrivals.receive(request, limits.bodySizeMax)
  if (bytes === 'broken') return
  if (bytes === 'too large') {
    sendEmpty(response, 413, requestId)
    return
  }

  shutdown.running++
  const startedAt = performance.now()
  const call = new HttpCall(address, database, token, bytes, request, requestId, services)
  const reply = await dispatch(call, services)
  const elapsedMs = performance.now() - startedAt
  shutdown.running--
  services.metrics?.countCommand(call.command, reply, elapsedMs)
  if (elapsedMs >= services.slowCommandMs) logSlow(call, elapsedMs, services.log)
  // A stopping server would wait for more requests on a connection that is kept.
  if (shutdown.stopping) response.setHeader('Connection', 'close')
  send(response, reply, requestId)
}

/** The database that the request is for, or the id of one that is not there. */
function databaseFor(
  address: Address,
  request: IncomingMessage,
  databases: Databases,
): Database | string {
  const id = address.database ?? databaseInHost(request.headers.host)
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
  return { connection: request.socket, address: addressOfClient(request, services) }
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
class HttpCall implements Call, Origin {
  readonly database: Database
  readonly level: Level
  readonly keyspace: string
  readonly target: string
  readonly requestId: string
  command: string | undefined
  readonly #token: string
  readonly #bytes: Buffer
  readonly #request: IncomingMessage
  readonly #services: HttpServices

  constructor(
    address: Address,
    database: Database,
    token: string,
    bytes: Buffer,
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
    this.#bytes = bytes
    this.#request = request
    this.#services = services
  }

  parseBody(): Value {
    return parseBody(this.#bytes, this.#services.limits)
  }

  identify(): Principal | NotIdentified {
    return this.#services.authenticator.identify(this.#token, this)
  }

  get connection(): object {
    return this.#request.socket
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
    return signalOf(this.#request.socket)
  }
}

const signals = new WeakMap<Socket, AbortSignal>()

/**
 * Ends when the connection does. One for all requests of a connection, which come one after
 * the other, because making them is dear.
 */
function signalOf(socket: Socket): AbortSignal {
  let signal = signals.get(socket)
  if (signal === undefined) {
    const abort = new AbortController()
    signal = abort.signal
    signals.set(socket, signal)
    if (socket.destroyed) abort.abort()
    else socket.once('close', () => abort.abort())
  }
  return signal
}
