/**
 * Cross-origin resource sharing (CORS): which pages of other origins may read responses. Without
 * --cors-origins, no header is sent, so browsers let only pages of the same origin read responses.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'

/** '*', or the allowed origins. */
export type AllowedOrigins = '*' | readonly string[]

/**
 * Adds CORS headers to the response. Returns true for a preflight request, which it also
 * answers.
 */
export function allowOrigin(
  request: IncomingMessage,
  response: ServerResponse,
  origins: AllowedOrigins,
): boolean {
  const { origin } = request.headers
  // The response depends on the origin, so shared caches must store one response per origin.
  if (origins !== '*') response.appendHeader('Vary', 'Origin')
  const allowed = origins === '*' ? '*' : origins.find((each) => each === origin)
  const isQuestion =
    request.method === 'OPTIONS' &&
    origin !== undefined &&
    request.headers['access-control-request-method'] !== undefined
  if (allowed !== undefined && origin !== undefined) {
    response.setHeader('Access-Control-Allow-Origin', allowed)
    if (isQuestion) allowRequest(request, response)
    else response.setHeader('Access-Control-Expose-Headers', exposed)
  }
  if (isQuestion) response.writeHead(204).end()
  return isQuestion
}

const exposed = 'X-Request-Id, Retry-After, Mcp-Session-Id'

/**
 * Methods of all paths together, so that browsers can use one preflight response for every path.
 */
const methods = 'GET, HEAD, POST, PUT, PATCH, DELETE'

/**
 * Seconds that browsers may cache a preflight response: the longest period that any browser
 * accepts.
 */
const maxAge = '86400'

function allowRequest(request: IncomingMessage, response: ServerResponse): void {
  const wanted = request.headers['access-control-request-headers'] ?? ''
  response.appendHeader('Vary', 'Access-Control-Request-Headers')
  response.setHeader('Access-Control-Allow-Methods', methods)
  response.setHeader('Access-Control-Max-Age', maxAge)
  const headers = wanted.split(',').filter((name) => readHeaders.test(name))
  // If a preflight request names no headers, the response allows the usual headers.
  response.setHeader(
    'Access-Control-Allow-Headers',
    headers.length === 0 ? 'Token, Content-Type' : headers.join(','),
  )
}

/**
 * Request headers that pages may send: headers of this API, headers that clients and proxies add,
 * and headers of bodies.
 */
const readHeaders =
  /^\s*(?:token|authorization|accept|content-type|content-encoding|user-agent|reranking-api-key|mcp-[\w-]+|last-event-id|x-[\w-]+|feature-flag-[\w-]+)\s*$/i
