/** Lines of the log that say who was refused, who changed what, and who took a copy. */
import type { Resource } from './policy.ts'
import type { Principal } from './principal.ts'

export interface AuditLog {
  info(details: object, message: string): void
  warn(details: object, message: string): void
}

/** What asked, as far as it is known. */
export interface AuditedRequest {
  readonly requestId?: string | undefined
  readonly address: string
  /** A command, or a method and path of the management API. */
  readonly command?: string | undefined
  readonly resource?: Resource
}

export class Audit {
  readonly #log: AuditLog

  constructor(log: AuditLog) {
    this.#log = log
  }

  /** `principal` undefined: nobody that is known. */
  refused(reason: RefusalReason, asked: AuditedRequest, principal?: Principal): void {
    this.#log.warn(
      { audit: 'refused', reason, principal: principal?.name, ...asked },
      'A request was refused',
    )
  }

  changed(what: AuditedChange, principal: Principal, asked: AuditedRequest): void {
    this.#log.info(
      { audit: 'changed', ...what, principal: principal.name, ...asked },
      `A ${what.kind} was changed`,
    )
  }

  /** A backup holds everything. */
  backedUp(principal: Principal, asked: AuditedRequest): void {
    this.#log.info(
      { audit: 'backup', principal: principal.name, ...asked },
      'A backup was begun',
    )
  }
}

export type RefusalReason =
  'no token' | 'unknown token' | 'expired token' | 'locked out' | 'not permitted'

export interface AuditedChange {
  readonly kind: 'schema' | 'token' | 'role' | 'user' | 'database'
  readonly change: string
  /** What was changed, by the name or id that it goes by. */
  readonly what: string
}
