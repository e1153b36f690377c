/**
 * Pages of other origins: which of them a browser lets read our answers. Without the
 * setting nothing is said, and browsers let none.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'

/** '*', or the origins of the pages that may. */
export type AllowedOrigins = '*' | readonly string[]

/**
 * Says in the response whether the page that asks may read it. True when that is all there
 * is to say: the request was the question that browsers ask beforehand, and is answered.
 */
export function allowOrigin(
  request: IncomingMessage,
  response: ServerResponse,
  origins: AllowedOrigins,
): boolean {
  const { origin } = request.headers
  // What a cache keeps for one page is not for the others.
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

/** Methods of all paths together, so that one preflight result serves every path. */
const methods = 'GET, HEAD, POST, PUT, PATCH, DELETE'

/** Seconds for which a browser need not ask again: the longest that any of them keeps. */
const maxAge = '86400'

function allowRequest(request: IncomingMessage, response: ServerResponse): void {
  const wanted = request.headers['access-control-request-headers'] ?? ''
  response.appendHeader('Vary', 'Access-Control-Request-Headers')
  response.setHeader('Access-Control-Allow-Methods', methods)
  response.setHeader('Access-Control-Max-Age', maxAge)
  const headers = wanted.split(',').filter((name) => readHeaders.test(name))
  // A page that asks for no header learns which it could send.
  response.setHeader(
    'Access-Control-Allow-Headers',
    headers.length === 0 ? 'Token, Content-Type' : headers.join(','),
  )
}

/** Headers that pages may send: ours, those of clients and proxies, and what comes with bodies. */
const readHeaders =
  /^\s*(?:token|authorization|accept|content-type|content-encoding|user-agent|reranking-api-key|mcp-[\w-]+|last-event-id|x-[\w-]+|feature-flag-[\w-]+)\s*$/i
