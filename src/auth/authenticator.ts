/**
 * Token in, principal out.
 *
 * Tokens are found by their digest. How long that takes tells something about digests, and
 * so nothing about tokens, which makes it as safe as comparing in constant time. Whole tokens
 * are compared only with one that the same connection has shown before.
 */
import { apiError, type ApiError } from '../errors/api-error.ts'
import type { Holder } from './access.ts'
import type { RefusalReason } from './audit.ts'
import type { Lockout } from './lockout.ts'
import type { Principal } from './principal.ts'
import { digestOf, isGuessable } from './tokens.ts'

/** Where a request comes from. */
export interface Origin {
  /** The same object for all requests of a connection. */
  readonly connection: object
  readonly address: string
}

/** Why a request is unauthenticated. */
export type NotIdentified =
  | { readonly why: 'unknown' }
  /** The token was valid until then, an ISO time. */
  | { readonly why: 'expired'; readonly expiredAt: string }
  /** Too many bad credentials came from the same address. */
  | { readonly why: 'locked'; readonly seconds: number }

/** Who keeps the tokens: this process, or a cluster that has to be asked. */
export interface TokenKeeper {
  find(digest: string, token: string): Holder | undefined | Promise<Holder | undefined>
}

export class Authenticator {
  readonly #tokens: TokenKeeper
  readonly #lockout: Lockout
  /** What connections have shown already, so that it is not worked out for each request. */
  readonly #shown = new WeakMap<object, { token: string; holder: Holder }>()

  constructor(tokens: TokenKeeper, lockout: Lockout) {
    this.#tokens = tokens
    this.#lockout = lockout
  }

  /** Whether the connection has shown the token before, and it is still valid. */
  hasShown(token: string, connection: object): boolean {
    const shown = this.#shown.get(connection)
    return shown?.token === token && isValid(shown.holder)
  }

  /**
   * Answers at once for a token that the connection has shown before, as nearly all requests
   * have; for others, when the keeper of the tokens has answered.
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
    // Its sender had a right to it once, and is not guessing.
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

/** What an unauthenticated request is answered. */
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

/** What the audit log calls it. */
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
