/** Authenticates requests by their headers. */
import type { IncomingMessage } from 'node:http'
import type { AuditedRequest, Audit } from '../auth/audit.ts'
import {
  identityError,
  isPrincipal,
  refusalReason,
  type Authenticator,
  type NotIdentified,
} from '../auth/authenticator.ts'
import type { Principal } from '../auth/principal.ts'
import type { Log } from '../commands/dispatch/failures.ts'
import { EngineError } from '../engine/errors.ts'
import { apiError, type ApiError } from '../errors/api-error.ts'
import { RequestOrigin, type ProxySettings } from './client-address.ts'
import { tokenOf } from './headers.ts'

export interface AuthenticationServices extends ProxySettings {
  readonly authenticator: Authenticator
  readonly audit: Audit
  readonly log: Log
}

/** The error of an unauthenticated request. */
export interface Unauthenticated {
  readonly error: ApiError
  /** Seconds until the address may try another token; 0: now. */
  readonly retryAfterSeconds: number
}

/**
 * Authenticates a request by its token. Returns synchronously if an earlier request of the
 * connection had the same token. Rejections are written to the audit log. Throws when the token
 * cannot be looked up.
 */
export function authenticate(
  request: IncomingMessage,
  requestId: string | undefined,
  services: AuthenticationServices,
): Principal | Unauthenticated | Promise<Principal | Unauthenticated> {
  const token = tokenOf(request.headers)
  const origin = new RequestOrigin(request, services)
  if (token === undefined) {
    services.audit.refused('no token', askedBy(request, origin, requestId))
    return { error: apiError('MISSING_AUTHENTICATION_TOKEN'), retryAfterSeconds: 0 }
  }
  const found = services.authenticator.identify(token, origin)
  if (!(found instanceof Promise) && isPrincipal(found)) return found
  const conclude = (known: Principal | NotIdentified): Principal | Unauthenticated => {
    if (isPrincipal(known)) return known
    services.audit.refused(refusalReason(known), askedBy(request, origin, requestId))
    const retryAfterSeconds = known.why === 'locked' ? known.seconds : 0
    return { error: identityError(known), retryAfterSeconds }
  }
  if (!(found instanceof Promise)) return conclude(found)
  return found.then(conclude, (failure: unknown) => {
    services.log.error({ err: failure, requestId }, 'A token could not be verified')
    throw lookupError(failure)
  })
}

/**
 * The error when a token cannot be looked up. The reason is only logged, because the client is not
 * authenticated. The error code says whether any node of the cluster is reachable, as it does for
 * commands.
 */
function lookupError(failure: unknown): ApiError {
  const isUnreachable = failure instanceof EngineError && failure.kind === 'unreachable'
  return apiError(
    isUnreachable ? 'FAILED_TO_CONNECT_TO_DATABASE' : 'UNAVAILABLE_DATABASE',
    { target: 'the database', problem: 'the token could not be verified' },
  )
}

function askedBy(
  { method, url }: IncomingMessage,
  { address }: RequestOrigin,
  requestId: string | undefined,
): AuditedRequest {
  const path = url!.split('?', 1)[0]!
  return { requestId, address, command: `${method!} ${path.slice(0, 200)}` }
}

export function isUnauthenticated(
  found: Principal | Unauthenticated,
): found is Unauthenticated {
  return 'error' in found
}
