/** What the management API is made of: routes, and what they see of a request. */
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
  /** Behind /v2; a part that starts with a colon stands for any text. */
  readonly path: string
  /** Bytes that a body may have, where it may have more than usual. */
  readonly bodySizeMax?: number
  run(call: AdminCall): AdminReply | Promise<AdminReply>
}

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

export interface AdminReply {
  readonly status: number
  readonly headers?: Readonly<Record<string, string>>
  /** Sent as JSON, or as it comes when it is a stream; absent: nothing is sent. */
  readonly body?: object
}

/** What lives as long as the server and serves every call. */
export interface AdminServices {
  readonly engine: Engine
  readonly databases: Databases
  readonly access: Access
  readonly audit: Audit
  readonly limits: Limits
  readonly log: AdminLog
  readonly slowCommands: SlowCommands
  /** Commands that take as long or longer are among them; 0: none are. */
  readonly slowCommandMs: number
  /** Raised when the server stops: what would go on for long ends then. */
  readonly stopping: AbortSignal
  /** Where the data of the home database is served. */
  readonly dataUrl: () => string
}

export interface AdminLog {
  error(details: object, message: string): void
}

/** Who asks, and by what that is known. */
export interface AdminCaller {
  readonly principal: Principal
  readonly token: string
}

/** One request of a known principal. */
export class AdminCall {
  readonly principal: Principal
  readonly services: AdminServices
  /** What the path has in the places of its colons. */
  readonly params: Readonly<Record<string, string>>
  readonly query: Readonly<Record<string, unknown>>
  /** As JSON.parse made it; undefined: there was none. */
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

  /** For stores that have accounts of their own. */
  get credentials(): EngineCredentials {
    return new TokenCredentials(this.#token)
  }

  /** Refuses principals that may not do this here. */
  require(action: Action, resource: Resource = {}): void {
    if (!this.principal.allows(action, resource))
      throw this.forbid(`It takes ${action}`, resource)
  }

  /** The refusal for what the token does not permit, noted in the log. */
  forbid(why: string, resource: Resource = {}): Refusal {
    this.services.audit.refused(
      'not permitted',
      { ...this.#asked, resource },
      this.principal,
    )
    return new Refusal(403, `The token does not permit this. ${why}`)
  }

  /** Notes in the log that something was changed. */
  noteChange(changed: AuditedChange, resource?: Resource): void {
    const asked = resource === undefined ? this.#asked : { ...this.#asked, resource }
    this.services.audit.changed(changed, this.principal, asked)
  }

  /** Notes in the log that a copy of everything is taken. */
  noteBackup(): void {
    this.services.audit.backedUp(this.principal, this.#asked)
  }

  /** The members of the body, which must be an object. */
  get fields(): Readonly<Record<string, unknown>> {
    const { body } = this
    if (typeof body !== 'object' || body === null || Array.isArray(body))
      throw new Refusal(400, 'The body must be a JSON object')
    return body as Record<string, unknown>
  }
}
