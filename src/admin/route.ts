/** Types of routes, and the request that they receive. */
import type { Access } from '../auth/access.ts'
import type { Action } from '../auth/actions.ts'
import type { AuditedRequest, Audit, AuditedChange } from '../auth/audit.ts'
import type { Resource } from '../auth/policy.ts'
import type { Principal } from '../auth/principal.ts'
import { TokenCredentials } from '../auth/tokens.ts'
import type { Databases } from '../databases/databases.ts'
import type { Engine, EngineCredentials } from '../engine/contract.ts'
import type { SlowCommands } from '../http/slow-commands.ts'
import type { Limits } from '../limits.ts'
import { Refusal } from './refusal.ts'

export interface AdminRoute {
  readonly method: Method
  /** Path below /v2; a part that starts with a colon matches any text. */
  readonly path: string
  /** Maximum size of the body in bytes, when it exceeds the default. */
  readonly bodySizeMax?: number
  run(call: AdminCall): AdminReply | Promise<AdminReply>
}

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

export interface AdminReply {
  readonly status: number
  readonly headers?: Readonly<Record<string, string>>
  /** The body: sent as JSON, or unchanged if it is a stream; absent: no body. */
  readonly body?: object
}

/** Services with the lifetime of the server, shared by all calls. */
export interface AdminServices {
  readonly engine: Engine
  readonly databases: Databases
  readonly access: Access
  readonly audit: Audit
  readonly limits: Limits
  readonly log: AdminLog
  readonly slowCommands: SlowCommands
  /** Minimum duration of a slow command in milliseconds; 0: slow commands are not recorded. */
  readonly slowCommandMs: number
  /** Aborted when the server stops, to end long-running calls. */
  readonly stopping: AbortSignal
  /** URL of the Data API of the home database. */
  readonly dataUrl: () => string
}

export interface AdminLog {
  error(details: object, message: string): void
}

/** The authenticated principal and its token. */
export interface AdminCaller {
  readonly principal: Principal
  readonly token: string
}

/** A request with an authenticated principal. */
export class AdminCall {
  readonly principal: Principal
  readonly services: AdminServices
  /** Path parameters. */
  readonly params: Readonly<Record<string, string>>
  readonly query: Readonly<Record<string, unknown>>
  /** Parsed by JSON.parse; undefined: the request has no body. */
  readonly body: unknown
  readonly #asked: AuditedRequest
  readonly #token: string

  constructor(
    { principal, token }: AdminCaller,
    services: AdminServices,
    sent: Pick<AdminCall, 'params' | 'query' | 'body'>,
    asked: AuditedRequest,
  ) {
    this.principal = principal
    this.services = services
    this.params = sent.params
    this.query = sent.query
    this.body = sent.body
    this.#asked = asked
    this.#token = token
  }

  /** Credentials of the request, for engines with accounts of their own. */
  get credentials(): EngineCredentials {
    return new TokenCredentials(this.#token)
  }

  /** Throws when the principal lacks the permission. */
  require(action: Action, resource: Resource = {}): void {
    if (!this.principal.allows(action, resource))
      throw this.forbid(`It requires ${action}`, resource)
  }

  /** The error for a missing permission, recorded in the audit log. */
  forbid(why: string, resource: Resource = {}): Refusal {
    this.services.audit.refused(
      'not permitted',
      { ...this.#asked, resource },
      this.principal,
    )
    return new Refusal(403, `The token does not permit this. ${why}`)
  }

  /** Records a change in the audit log. */
  noteChange(changed: AuditedChange, resource?: Resource): void {
    const asked = resource === undefined ? this.#asked : { ...this.#asked, resource }
    this.services.audit.changed(changed, this.principal, asked)
  }

  /** Records a backup in the audit log. */
  noteBackup(): void {
    this.services.audit.backedUp(this.principal, this.#asked)
  }

  /** The fields of the body, which must be an object. */
  get fields(): Readonly<Record<string, unknown>> {
    const { body } = this
    if (typeof body !== 'object' || body === null || Array.isArray(body))
      throw new Refusal(400, 'The body must be a JSON object')
    return body as Record<string, unknown>
  }
}
