/** Creates the listening server: HTTP/1.1 without TLS, or HTTP/2 and HTTP/1.1 with TLS. */
import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http'
import {
  constants,
  createSecureServer,
  type Http2ServerRequest,
  type Http2ServerResponse,
} from 'node:http2'
import type { Socket } from 'node:net'
import type { ArrivalQueue } from './arrival-queue.ts'
import {
  ConnectionGate,
  type ConnectionCounter,
  type AddressLimits,
} from './connection-gate.ts'
import { watchCertificate, readCertificate, type CertificateFiles } from './certificate.ts'
import { isMultiplexed, streamOf } from './connection.ts'
import { Incoming } from './incoming.ts'
import { fixedLimits } from '../limits.ts'
import { http } from '../runtime/node-http.ts'
import { StreamResets } from './stream-resets.ts'

const { keepAliveMs, headersMsMax, streamsMax, streamMemoryMax } = fixedLimits

/** Flow-control window in bytes: enough for connections with high latency. */
const windowSize = 1_048_576

export interface ListenerSettings {
  readonly addressLimits: AddressLimits
  readonly arrivals: ArrivalQueue
  /** Undefined: connections are not counted. */
  readonly counter: ConnectionCounter | undefined
  /**
   * A request whose body has not arrived after this many milliseconds is aborted; 0: no limit.
   */
  readonly requestTimeoutMs: number
  /** Maximum open connections; further ones are closed at once. 0: unlimited. */
  readonly connectionsMax: number
  /** Undefined: no TLS. */
  readonly tls: CertificateFiles | undefined
  readonly log: (level: 'info' | 'warn', message: string) => void
  /** Called for every accepted connection. */
  readonly onConnection: () => void
}

/**
 * Creates the server. `onContinue` receives requests of clients that wait for "100 Continue" before
 * they send the body. If it is absent, the server sends "100 Continue" for each such request. Other
 * expectations are ignored, as HTTP permits: otherwise Node would reject the request before the
 * token is checked.
 */
export function createListener(
  settings: ListenerSettings,
  onRequest: RequestListener,
  onContinue?: RequestListener,
): Server {
  const { tls, requestTimeoutMs, connectionsMax } = settings
  const timeouts = {
    keepAliveTimeout: keepAliveMs,
    requestTimeout: requestTimeoutMs,
    headersTimeout: Math.min(headersMsMax, requestTimeoutMs || headersMsMax),
    connectionsCheckingInterval: 1_000,
  }
  const server =
    tls === undefined
      ? http.createServer({ ...timeouts, IncomingMessage: Incoming }, onRequest)
      : createTlsServer(tls, timeouts, settings, onRequest, onContinue)
  if (tls === undefined) {
    server.on('checkExpectation', onRequest)
    if (onContinue !== undefined) server.on('checkContinue', onContinue)
  }
  if (connectionsMax > 0) server.maxConnections = connectionsMax
  new ConnectionGate(settings.arrivals, settings.addressLimits, settings.counter).guard(
    server,
    tls !== undefined,
  )
  // The listener must be added after the gate: the gate takes over earlier listeners and delays
  // them until a connection may start.
  server.on('connection', settings.onConnection)
  return server
}

function createTlsServer(
  files: CertificateFiles,
  timeouts: object,
  { requestTimeoutMs, addressLimits, counter, log }: ListenerSettings,
  onRequest: RequestListener,
  onContinue: RequestListener | undefined,
): Server {
  const { resetRate } = addressLimits
  const certificate = readCertificate(files)
  const server = createSecureServer({
    ...timeouts,
    ...certificate,
    allowHTTP1: true,
    http1Options: { IncomingMessage: Incoming },
    handshakeTimeout: headersMsMax,
    maxSessionMemory: streamMemoryMax,
    // These options limit a burst of resets on one connection. StreamResets limits resets per
    // address.
    ...(resetRate > 0 && { streamResetBurst: 2 * resetRate, streamResetRate: resetRate }),
    settings: {
      maxConcurrentStreams: streamsMax,
      initialWindowSize: windowSize,
    },
  })
  server.on('session', (session) => {
    session.setLocalWindowSize(windowSize)
    // An idle session is closed gracefully: open streams finish first.
    session.setTimeout(keepAliveMs, () => session.close())
  })
  if (resetRate > 0) {
    const resets = new StreamResets(resetRate, counter)
    server.on('stream', (stream) => resets.watch(stream))
  }
  const limited = (listener: RequestListener) => {
    return (request: Http2ServerRequest, response: Http2ServerResponse) => {
      const incoming = request as unknown as IncomingMessage
      if (isMultiplexed(incoming)) limitArrival(incoming, requestTimeoutMs)
      listener(incoming, response as unknown as ServerResponse)
    }
  }
  server.on('request', limited(onRequest)).on('checkExpectation', limited(onRequest))
  if (onContinue !== undefined) server.on('checkContinue', limited(onContinue))
  const unfollow = watchCertificate(
    files,
    certificate,
    (newer) => server.setSecureContext({ ...newer }),
    log,
  )
  server.on('close', unfollow)
  return withCut(server as unknown as Server)
}

/** Aborts an HTTP/2 request that arrives too slowly. Node itself does this for HTTP/1.1. */
function limitArrival(request: IncomingMessage, timeoutMs: number): void {
  const stream = streamOf(request)
  if (timeoutMs === 0 || stream.endAfterHeaders) return
  const timer = setTimeout(() => stream.close(constants.NGHTTP2_CANCEL), timeoutMs)
  const arrived = () => clearTimeout(timer)
  stream.once('end', arrived).once('close', arrived)
}

/** Adds closeAllConnections, which HTTP/2 servers lack. */
function withCut(server: Server): Server {
  const sockets = new Set<Socket>()
  server.on('connection', (socket: Socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  })
  server.closeAllConnections = () => {
    for (const socket of sockets) socket.destroy()
  }
  return server
}
