/**
 * Authentication: finds the principal of a token.
 *
 * Tokens are looked up by their digest. The duration of a lookup can reveal parts of stored digests
 * but nothing about tokens, so a lookup is as safe as a comparison in constant time. A whole token
 * is compared only with the last valid token of the same connection.
 */
import { apiError, type ApiError } from '../errors/api-error.ts'
import type { Holder } from './access.ts'
import type { RefusalReason } from './audit.ts'
import type { Lockout } from './lockout.ts'
import type { Principal } from './principal.ts'
import { digestOf, isGuessable } from './tokens.ts'

/** The connection and the client address of a request. */
export interface Origin {
  /** Identifies the connection: the same object for all its requests. */
  readonly connection: object
  readonly address: string
}

/** Why a request is unauthenticated. */
export type NotIdentified =
  | { readonly why: 'unknown' }
  /** The end of the token's validity, as an ISO time. */
  | { readonly why: 'expired'; readonly expiredAt: string }
  /** The client address sent too many invalid credentials. */
  | { readonly why: 'locked'; readonly seconds: number }

/** Looks up tokens, in this process or in a cluster. */
export interface TokenKeeper {
  find(digest: string, token: string): Holder | undefined | Promise<Holder | undefined>
}

export class Authenticator {
  readonly #tokens: TokenKeeper
  readonly #lockout: Lockout
  /**
   * The last valid token of each connection, and its holder. Because of this map, most requests
   * need no digest.
   */
  readonly #shown = new WeakMap<object, { token: string; holder: Holder }>()

  constructor(tokens: TokenKeeper, lockout: Lockout) {
    this.#tokens = tokens
    this.#lockout = lockout
  }

  /** Whether this token is the last valid token of the connection, and still valid. */
  hasShown(token: string, connection: object): boolean {
    const shown = this.#shown.get(connection)
    return shown?.token === token && isValid(shown.holder)
  }

  /**
   * The principal of a token, or why the token is not accepted. Returns synchronously for the last
   * valid token of the connection, which nearly all requests send, and otherwise a promise.
   */
  identify(
    token: string,
    origin: Origin,
  ): Principal | NotIdentified | Promise<Principal | NotIdentified> {
    const shown = this.#shown.get(origin.connection)
    if (shown?.token === token && isValid(shown.holder)) return shown.holder.principal
    return this.#lookUp(token, origin)
  }

  async #lookUp(token: string, origin: Origin): Promise<Principal | NotIdentified> {
    const digest = digestOf(token)
    const { address } = origin
    const locked = this.#lockout.lockedFor(address, digest)
    const seconds = locked instanceof Promise ? await locked : locked
    if (seconds > 0 && isGuessable(token)) return { why: 'locked', seconds }
    const holder = await this.#tokens.find(digest, token)
    if (holder === undefined || holder.isRevoked) {
      const noted = this.#lockout.noteBad(address)
      if (noted !== undefined) await noted
      return seconds > 0 ? { why: 'locked', seconds } : { why: 'unknown' }
    }
    // An expired token does not count as a guess: its sender knows a token that was valid.
    if (!isValid(holder))
      return { why: 'expired', expiredAt: new Date(holder.expiresAtMs).toISOString() }
    const noted = this.#lockout.noteGood(address, digest)
    if (noted !== undefined) await noted
    this.#shown.set(origin.connection, { token, holder })
    return holder.principal
  }
}

export function isPrincipal(found: Principal | NotIdentified): found is Principal {
  return 'name' in found
}

/** The error for an unauthenticated request. */
export function identityError(found: NotIdentified): ApiError {
  switch (found.why) {
    case 'unknown':
      return apiError('UNAUTHENTICATED_REQUEST')
    case 'expired':
      return apiError('EXPIRED_TOKEN', { expiredAt: found.expiredAt })
    case 'locked':
      return apiError('CREDENTIALS_LOCKED', { seconds: found.seconds })
  }
}

/** The reason that the audit log contains for an unauthenticated request. */
export function refusalReason({ why }: NotIdentified): RefusalReason {
  return refusalReasons[why]
}

const refusalReasons = {
  unknown: 'unknown token',
  expired: 'expired token',
  locked: 'locked out',
} satisfies Record<NotIdentified['why'], RefusalReason>

function isValid({ isRevoked, expiresAtMs }: Holder): boolean {
  return !isRevoked && (expiresAtMs === Infinity || Date.now() < expiresAtMs)
}
