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
  // A session that ended leaves its streams without; nobody comes after them.
  return streamOf(request).session ?? request
}

/** What the client calls the server; HTTP/2 has another name for it. */
export function hostOf({ headers }: IncomingMessage): string | undefined {
  return headers.host ?? (headers[':authority'] as string | undefined)
}

/** Whether nobody is left to read a response. */
export function isGone(response: ServerResponse): boolean {
  if (response.destroyed) return true
  const { stream } = response as { stream?: ServerHttp2Stream }
  return stream !== undefined && (stream.destroyed || stream.closed)
}
