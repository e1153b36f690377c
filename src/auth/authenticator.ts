/**
 * Token in, principal out.
 *
 * Tokens are found by their digest. How long that takes tells something about digests, and
 * so nothing about tokens, which makes it as safe as comparing in constant time. Whole tokens
 * are compared only with one that the same connection has shown before.
 */
import { apiError, type ApiError } from '../errors/api-error.ts'
import type { Access, Holder } from './access.ts'
import type { Lockout } from './lockout.ts'
import type { Principal } from './principal.ts'
import { organizationAdministratorId } from './roles.ts'
import { digestOf, isGuessable } from './tokens.ts'

/** Where a request comes from. */
export interface Origin {
  /** The same object for all requests of a connection. */
  readonly connection: object
  readonly address: string
}

/** Why somebody is nobody. */
export type NotIdentified =
  | { readonly why: 'unknown' }
  /** Too many bad credentials came from the same address. */
  | { readonly why: 'locked'; readonly seconds: number }

export class Authenticator {
  readonly #access: Access
  readonly #lockout: Lockout
  /** What connections have shown already, so that it is not worked out for each request. */
  readonly #shown = new WeakMap<object, { token: string; holder: Holder }>()

  constructor(access: Access, lockout: Lockout) {
    this.#access = access
    this.#lockout = lockout
  }

  identify(token: string, origin: Origin): Principal | NotIdentified {
    const shown = this.#shown.get(origin.connection)
    if (shown?.token === token && isValid(shown.holder)) return shown.holder.principal
    const digest = digestOf(token)
    const { address } = origin
    const seconds = this.#lockout.lockedFor(address, digest)
    if (seconds > 0 && isGuessable(token)) return { why: 'locked', seconds }
    const holder = this.#access.find(digest)
    if (holder === undefined) this.#lockout.noteBad(address)
    if (holder === undefined || !isValid(holder))
      return seconds > 0 ? { why: 'locked', seconds } : { why: 'unknown' }
    this.#lockout.noteGood(address, digest)
    this.#shown.set(origin.connection, { token, holder })
    return holder.principal
  }

  /** Creates an administrator token where there is none; nobody can see it again later. */
  async createFirstToken(): Promise<string | undefined> {
    if (this.#access.hasAdministrator) return undefined
    const roles = [organizationAdministratorId]
    const description = 'made at the first start'
    return (await this.#access.createToken({ roles, description }, undefined)).token
  }
}

export function isPrincipal(found: Principal | NotIdentified): found is Principal {
  return 'name' in found
}

/** What somebody is told who is not identified. */
export function identityError(found: NotIdentified): ApiError {
  return found.why === 'locked'
    ? apiError('CREDENTIALS_LOCKED', { seconds: found.seconds })
    : apiError('UNAUTHENTICATED_REQUEST')
}

function isValid({ isRevoked, expiresAtMs }: Holder): boolean {
  return !isRevoked && (expiresAtMs === Infinity || Date.now() < expiresAtMs)
}
