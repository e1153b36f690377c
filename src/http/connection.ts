/**
 * Where HTTP/2 differs from HTTP/1.1. Its requests and responses behave like the older
 * ones, by way of Node's own compatibility, and are handed around as such; but they come
 * many at a time on one connection, each as a stream of its own.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Http2ServerRequest, ServerHttp2Stream } from 'node:http2'

/** Not by its version: a request line can claim any, and Node takes it for one of HTTP/1.1. */
export function isMultiplexed(request: IncomingMessage): boolean {
  return 'stream' in request
}

/** The stream of a request over HTTP/2. */
export function streamOf(request: IncomingMessage): ServerHttp2Stream {
  return (request as unknown as Http2ServerRequest).stream
}

/** The same object for all requests of a connection, for as long as that is open. */
export function connectionOf(request: IncomingMessage): object {
  if (!isMultiplexed(request)) return request.socket
  // Streams of an ended session have none; no request follows them.
  return streamOf(request).session ?? request
}

/** What the client calls the server; HTTP/2 has another name for it. */
export function hostOf({ headers }: IncomingMessage): string | undefined {
  return headers.host ?? (headers[':authority'] as string | undefined)
}

/**
 * Why the host of the request is not clear; undefined: it is. Proxies and servers
 * that choose differently between two of them can be played off against each other.
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

/** Hosts of requests that name one in their URL. */
const namedHosts = new WeakMap<IncomingMessage, string>()

/** A request may name the server in its URL, as those to proxies do: leaves the path. */
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

/** Whether the client of a request is known to have disconnected. */
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
