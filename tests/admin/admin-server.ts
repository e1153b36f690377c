/** A server with its management API, and calls to it for tests. */
import assert from 'node:assert/strict'
import type { Config } from '../../src/settings/config.ts'
import { RunningServer } from '../commands/running-server.ts'
import { testToken, type Answer, type TestServer } from '../harness.ts'

export interface AdminAnswer {
  readonly http: number
  readonly headers: Headers
  readonly text: string
  /** The parsed body; reading it throws when it is not JSON. */
  readonly body: unknown
}

export interface WireDatabase {
  readonly id: string
  readonly orgId: string
  readonly ownerId: string
  readonly status: string
  readonly creationTime: string
  readonly lastUsageTime: string
  readonly terminationTime?: string
  readonly info: {
    readonly name: string
    readonly keyspace?: string
    readonly keyspaces: readonly string[]
    readonly cloudProvider: string
    readonly region: string
    readonly dbType: string
    readonly datacenters: readonly Record<string, unknown>[]
  }
  readonly availableActions: readonly string[]
  readonly dataEndpointUrl?: string
}

export interface WireRole {
  readonly ID: string
  readonly Name: string
  readonly Type: string
  readonly Policy: Policy
}

export interface Policy {
  readonly description: string
  readonly effect: string
  readonly resources: readonly string[]
  readonly actions: readonly string[]
}

export interface WireToken {
  readonly clientId: string
  readonly secret: string
  readonly token: string
  readonly orgId: string
  readonly roles: readonly string[]
  readonly generatedOn: string
  readonly tokenExpiry?: string
  readonly description?: string
}

/**
 * A server that runs during the tests of the file, or of the `describe`, that creates
 * this object.
 */
export class AdminServer extends RunningServer {
  constructor(
    config: Partial<Config> = {},
    prepare?: (server: TestServer) => Promise<unknown>,
  ) {
    // Lockout is off, because tests send many invalid tokens; tests of the lockout turn it on.
    const usual = { adminPort: 0, badCredentialsMax: 0, durable: false }
    super(config.limits, { ...usual, ...config }, prepare)
  }

  /** Calls the management API with the given token, by default the administrator's. */
  async call(
    method: string,
    path: string,
    { body, token = testToken, headers = {} }: CallOptions = {},
  ): Promise<AdminAnswer> {
    const response = await fetch(`${this.server.adminUrl}/v2${path}`, {
      method,
      headers: {
        Authorization: `Bearer ${token}`,
        'Content-Type': 'application/json',
        ...headers,
      },
      ...(body !== undefined && {
        body: typeof body === 'string' ? body : JSON.stringify(body),
      }),
    })
    const text = await response.text()
    return {
      http: response.status,
      headers: response.headers,
      text,
      get body() {
        return JSON.parse(text) as unknown
      },
    }
  }

  /** Sends a call, asserts that it succeeds and returns the body. */
  async ask<T>(method: string, path: string, options: CallOptions = {}): Promise<T> {
    const answer = await this.call(method, path, options)
    assert(answer.http < 300, `${method} ${path}: ${answer.http} ${answer.text}`)
    return (answer.text === '' ? undefined : answer.body) as T
  }

  /** Sends a call, asserts that it fails with this status and returns the message. */
  async refuse(
    status: number,
    method: string,
    path: string,
    options: CallOptions = {},
  ): Promise<string> {
    const answer = await this.call(method, path, options)
    assert.equal(answer.http, status, `${method} ${path}: ${answer.text}`)
    return messageIn(answer)
  }

  async createDatabase(fields: object = {}): Promise<WireDatabase> {
    const body = { name: 'a database', dbType: 'vector', ...fields }
    return this.ask<WireDatabase>('POST', '/databases', { body })
  }

  async organization(): Promise<string> {
    return (await this.ask<{ id: string }>('GET', '/currentOrg')).id
  }

  async roleId(name: string): Promise<string> {
    const roles = await this.ask<WireRole[]>('GET', '/organizations/roles')
    return roles.find((role) => role.Name === name)!.ID
  }

  /** Creates a token with the roles of these names. */
  async tokenOf(...names: readonly string[]): Promise<WireToken> {
    const roles = await Promise.all(names.map((name) => this.roleId(name)))
    return this.ask<WireToken>('POST', '/clientIdSecrets', { body: { roles } })
  }

  /**
   * Creates a role that allows these actions on these resources. Resource "" is the organization.
   */
  async createRole(
    resources: readonly string[],
    actions: readonly string[],
    name = `role ${++made}`,
  ): Promise<WireRole> {
    const organization = await this.organization()
    const policy = {
      description: 'for a test',
      effect: 'allow',
      resources: resources.map((place) => `drn:astra:org:${organization}${place}`),
      actions,
    }
    return this.ask<WireRole>('POST', '/organizations/roles', { body: { name, policy } })
  }

  /** Creates a token with exactly these permissions. */
  async tokenFor(
    resources: readonly string[],
    actions: readonly string[],
  ): Promise<WireToken> {
    const { ID } = await this.createRole(resources, actions)
    return this.ask<WireToken>('POST', '/clientIdSecrets', { body: { roles: [ID] } })
  }

  /** Sends a command to the Data API. */
  command(path: string, body: unknown, token = testToken): Promise<Answer> {
    return this.server.command(path, body, { Token: token })
  }

  /** Sends a command to the path of a database. */
  commandTo(
    database: string,
    path: string,
    body: unknown,
    token = testToken,
  ): Promise<Answer> {
    return this.server.send(`/databases/${database}/v1${path}`, {
      method: 'POST',
      headers: { Token: token, 'Content-Type': 'application/json' },
      body: JSON.stringify(body),
    })
  }
}

export interface CallOptions {
  /** The body: a string is sent as is, other values are sent as JSON. */
  readonly body?: unknown
  readonly token?: string
  readonly headers?: Record<string, string>
}

let made = 0

/** Returns the message of the only error in a reply. Asserts that the reply has the usual format. */
export function messageIn(answer: AdminAnswer): string {
  const { errors } = answer.body as { errors: { ID: number; message: string }[] }
  assert.deepEqual(Object.keys(answer.body as object), ['errors'])
  assert.equal(errors.length, 1)
  assert.deepEqual(Object.keys(errors[0]!), ['ID', 'message'])
  assert.equal(errors[0]!.ID, answer.http === 401 ? 340018 : answer.http)
  assert.match(errors[0]!.message, /^[A-Za-z"].*\.$/)
  assert.match(answer.headers.get('content-type')!, /^application\/json/)
  assert.notEqual(answer.headers.get('x-request-id'), null)
  return errors[0]!.message
}
