/**
 * Which web pages may speak for the people who look at them.
 *
 * A page of any site can have a browser send requests to a server on the same machine, and
 * with a name that it lets point there, it can even read the answers. The name is in the
 * Origin header then, and in the Host header, so the two being equal proves nothing. An
 * attacker can redirect neither an IP address nor localhost, though.
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

/** Whether the request comes from no page, from one of the server's own or an allowed one. */
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

/** Whether the name means the same machine to everyone who uses it. */
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
  // Errors have the form of JSON-RPC here.
  const body = JSON.stringify({ jsonrpc: '2.0', error: { code: -32600, message } })
  const bounds = { keepMax: keepMaxUnknown, drainMax: bodySizeMax }
  refuseBy(
    (writer) => sendText(response, 403, 'application/json', body, requestId, writer),
    request,
    response,
    bounds,
  )
}
