/**
 * Protects against requests that web pages send without their user's knowledge.
 *
 * A page of any site can make a browser send requests to a server on the user's machine. If the
 * page's host name resolves to that machine (DNS rebinding), the page can even read the replies.
 * The Origin and Host headers are then equal, so comparing them proves nothing. However, an
 * attacker cannot make an IP address or localhost resolve to another machine.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { isIP } from 'node:net'
import { hostOf } from './connection.ts'
import type { AllowedOrigins } from './cors.ts'
import { keepMaxUnknown, refuseBy } from './refuse.ts'
import { sendText } from './reply.ts'

export interface OriginSettings {
  /** Foreign origins that CORS allows. */
  readonly corsOrigins: AllowedOrigins | undefined
  /** Public base URL, if set. */
  readonly publicUrl: string | undefined
}

/**
 * Whether the request was sent by a client other than a page, by a page of this server, or by a
 * page of an allowed origin.
 */
export function isTrustedOrigin(
  request: IncomingMessage,
  settings: OriginSettings,
): boolean {
  const { origin } = request.headers
  if (origin === undefined) return true
  const { corsOrigins, publicUrl } = settings
  if (corsOrigins === '*' || corsOrigins?.includes(origin)) return true
  const from = URL.parse(origin)
  if (from === null) return false
  if (publicUrl !== undefined && URL.parse(publicUrl)?.origin === from.origin) return true
  const host = hostOf(request)?.toLowerCase()
  return from.host === host && isFixedName(from.hostname)
}

/**
 * Whether every client resolves the host name to the same machine: localhost or an IP address.
 */
function isFixedName(hostname: string): boolean {
  return hostname === 'localhost' || isIP(hostname.replace(/^\[|\]$/g, '')) !== 0
}

export function refuseOrigin(
  request: IncomingMessage,
  response: ServerResponse,
  requestId: string,
  bodySizeMax: number,
): void {
  const message =
    'Web pages of this origin may not call this server. Allow the origin with --cors-origins.'
  // MCP clients expect errors in the form of JSON-RPC.
  const body = JSON.stringify({ jsonrpc: '2.0', error: { code: -32600, message } })
  const bounds = { keepMax: keepMaxUnknown, drainMax: bodySizeMax }
  refuseBy(
    (writer) => sendText(response, 403, 'application/json', body, requestId, writer),
    request,
    response,
    bounds,
  )
}
