/** The audit log: rejected requests, changes of roles, tokens and databases, and backups. */
import { fixedLimits } from '../limits.ts'
import type { Resource } from './policy.ts'
import type { Principal } from './principal.ts'

export interface AuditLog {
  info(details: object, message: string): void
  warn(details: object, message: string): void
}

/** Origin of a logged request; unknown details are absent. */
export interface AuditedRequest {
  readonly requestId?: string | undefined
  readonly address: string
  /** A command, or a method and path of the management API. */
  readonly command?: string | undefined
  readonly resource?: Resource
}

/** Refusals with the same reason and principal since their last log line. */
interface Refusals {
  count: number
  /** Details of the latest refusal. */
  details: object
}

export class Audit {
  readonly #log: AuditLog
  readonly #onUnauthenticated: (address: string) => void
  /** Refusals since the last log line, by reason and principal. */
  readonly #untold = new Map<string, Refusals>()
  #telling: NodeJS.Timeout | undefined

  /** `onUnauthenticated` gets the client address of each request without a valid token. */
  constructor(
    log: AuditLog,
    onUnauthenticated: (address: string) => void = () => undefined,
  ) {
    this.#log = log
    this.#onUnauthenticated = onUnauthenticated
  }

  /**
   * Logs a rejected request. `principal` is undefined when the client is not authenticated. The
   * first refusal with a reason and principal is logged at once. Further refusals within a second
   * share one line with their count and the details of the latest, so that clients cannot fill the
   * log.
   */
  refused(reason: RefusalReason, asked: AuditedRequest, principal?: Principal): void {
    if (principal === undefined) this.#onUnauthenticated(asked.address)
    const details = { audit: 'refused', reason, principal: principal?.name, ...asked }
    const key = `${reason} ${principal?.name ?? ''}`
    const untold = this.#untold.get(key)
    if (untold !== undefined) {
      untold.count++
      untold.details = details
      return
    }
    this.#log.warn(details, 'A request was rejected')
    this.#untold.set(key, { count: 0, details })
    this.#telling ??= setTimeout(this.#tell, fixedLimits.refusalLogMs).unref()
  }

  /** Logs the refusals that were counted since their last log line. */
  close(): void {
    clearTimeout(this.#telling)
    this.#tell()
    clearTimeout(this.#telling)
  }

  readonly #tell = (): void => {
    this.#telling = undefined
    for (const [key, refusals] of this.#untold) {
      const { count, details } = refusals
      if (count === 0) {
        this.#untold.delete(key)
        continue
      }
      this.#log.warn({ ...details, count }, 'Requests were rejected')
      refusals.count = 0
    }
    if (this.#untold.size > 0)
      this.#telling = setTimeout(this.#tell, fixedLimits.refusalLogMs).unref()
  }

  changed(what: AuditedChange, principal: Principal, asked: AuditedRequest): void {
    this.#log.info(
      { audit: 'changed', ...what, principal: principal.name, ...asked },
      `A ${what.kind} was changed`,
    )
  }

  /** Logs a backup. Backups are audited because they contain all data. */
  backedUp(principal: Principal, asked: AuditedRequest): void {
    this.#log.info(
      { audit: 'backup', principal: principal.name, ...asked },
      'A backup was started',
    )
  }
}

export type RefusalReason =
  'no token' | 'unknown token' | 'expired token' | 'locked out' | 'not permitted'

export interface AuditedChange {
  readonly kind: 'schema' | 'token' | 'role' | 'user' | 'database'
  readonly change: string
  /** Name or id of the changed object, such as a token. */
  readonly what: string
}
