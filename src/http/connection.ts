/**
 * Differences between HTTP/2 and HTTP/1.1. Node's compatibility layer gives HTTP/2 requests and
 * responses the same interface, but several requests share a connection, each as its own stream.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Http2ServerRequest, ServerHttp2Stream } from 'node:http2'

/**
 * Whether the request uses HTTP/2. Checks the class instead of the version, because an HTTP/1.1
 * request line can contain any version.
 */
export function isMultiplexed(request: IncomingMessage): boolean {
  return 'stream' in request
}

/** The HTTP/2 stream of a request. */
export function streamOf(request: IncomingMessage): ServerHttp2Stream {
  return (request as unknown as Http2ServerRequest).stream
}

/** A key for the connection. All requests of an open connection have the same key. */
export function connectionOf(request: IncomingMessage): object {
  if (!isMultiplexed(request)) return request.socket
  // After a session has ended, its streams have no session. No further request uses the connection,
  // so the request itself can be the key.
  return streamOf(request).session ?? request
}

/** The host that the client addressed: the Host header, or `:authority` in HTTP/2. */
export function hostOf({ headers }: IncomingMessage): string | undefined {
  return headers.host ?? (headers[':authority'] as string | undefined)
}

/**
 * The reason why the host of the request is ambiguous; undefined if it is not. If a request has two
 * different hosts, a proxy and a server may choose different ones, which attackers can exploit.
 */
export function hostProblem(request: IncomingMessage): string | undefined {
  const { rawHeaders } = request
  let host: string | undefined
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i]!
    if (name.length !== 4 || name.toLowerCase() !== 'host') continue
    if (host !== undefined) return 'it has two Host headers'
    host = rawHeaders[i + 1]!
  }
  const named = namedHosts.get(request)
  if (named === undefined || host === undefined || isSameHost(named, host)) return undefined
  return `its URL has the host ${named}, but its Host header has ${host}`
}

/** Hosts of requests whose target was an absolute URL. */
const namedHosts = new WeakMap<IncomingMessage, string>()

/** Reduces an absolute URL, which HTTP permits as a target, to its path. Stores its host. */
export function stripHost(request: IncomingMessage): void {
  const url = request.url!
  if (url.startsWith('/')) return
  const found = /^https?:\/\/([^/?#]+)/i.exec(url)
  if (found === null) return
  namedHosts.set(request, found[1]!)
  request.url = url.slice(found[0].length)
}

function isSameHost(one: string, other: string): boolean {
  return withoutDefaultPort(one) === withoutDefaultPort(other)
}

function withoutDefaultPort(host: string): string {
  return host
    .trim()
    .toLowerCase()
    .replace(/:(?:80|443)?$/, '')
}

/** Whether the client waits for "100 Continue" before it sends the body. */
export function asksToContinue({ headers }: IncomingMessage): boolean {
  return headers.expect !== undefined && /\b100-continue\b/i.test(headers.expect)
}

/** Whether the server has noticed that the client of a request disconnected. */
export function isDisconnected(request: IncomingMessage): boolean {
  if (!isMultiplexed(request)) return request.socket.destroyed
  const stream = streamOf(request)
  return stream.destroyed || stream.aborted
}

/** Whether the client of a response has disconnected. */
export function isGone(response: ServerResponse): boolean {
  if (response.destroyed) return true
  const { stream } = response as { stream?: ServerHttp2Stream }
  return stream !== undefined && (stream.destroyed || stream.closed)
}
