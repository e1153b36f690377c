/**
 * A command's request from its headers to its response.
 *
 * The first check that fails answers: token present, (path and method: app.ts,) content
 * type, size; then the body (body.ts) and the command itself (commands/dispatch.ts).
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Authenticator } from '../auth/authenticator.ts'
import type { Principal } from '../auth/principal.ts'
import type { Features, Level } from '../commands/define.ts'
import { dispatch, type Call, type Services } from '../commands/dispatch.ts'
import { apiError } from '../errors/api-error.ts'
import type { Value } from '../json/value.ts'
import type { Credentials } from '../providers/models.ts'
import type { Address } from './address.ts'
import { parseBody, type Arrivals } from './body.ts'
import {
  credentialsOf,
  featuresOf,
  isJson,
  tokenOf,
  type FeatureSettings,
} from './headers.ts'
import { missingToken, send, sendEmpty } from './reply.ts'
import type { Shutdown } from './shutdown.ts'

export interface HttpServices extends Services {
  readonly authenticator: Authenticator
  readonly features: FeatureSettings
  readonly arrivals: Arrivals
  readonly shutdown: Shutdown
}

export async function answerCommand(
  address: Address,
  request: IncomingMessage,
  response: ServerResponse,
  services: HttpServices,
): Promise<void> {
  const token = tokenOf(request.headers)
  if (token === undefined) {
    send(response, missingToken())
    return
  }
  const contentType = request.headers['content-type']
  if (contentType !== undefined && !isJson(contentType)) {
    send(response, { errors: [apiError('UNSUPPORTED_CONTENT_TYPE', { contentType })] })
    return
  }
  const { arrivals, shutdown, limits } = services
  const bytes = await arrivals.receive(request, limits.bodySizeMax)
  if (bytes === 'broken') return
  if (bytes === 'too large') {
    sendEmpty(response, 413)
    return
  }

  shutdown.running++
  const call = new HttpCall(address, token, bytes, request, services)
  const reply = await dispatch(call, services)
  shutdown.running--
  // A stopping server would wait for more requests on a connection that is kept.
  if (shutdown.stopping) response.setHeader('Connection', 'close')
  send(response, reply)
}

/** A request in the form that commands take. */
class HttpCall implements Call {
  readonly level: Level
  readonly keyspace: string
  readonly target: string
  readonly #token: string
  readonly #bytes: Buffer
  readonly #request: IncomingMessage
  readonly #services: HttpServices

  constructor(
    address: Address,
    token: string,
    bytes: Buffer,
    request: IncomingMessage,
    services: HttpServices,
  ) {
    this.level = address.level
    this.keyspace = address.keyspace
    this.target = address.name
    this.#token = token
    this.#bytes = bytes
    this.#request = request
    this.#services = services
  }

  parseBody(): Value {
    return parseBody(this.#bytes, this.#services.limits)
  }

  identify(): Principal | undefined {
    return this.#services.authenticator.identify(this.#token, this.#request.socket)
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
