/** Manages tokens of a running server through its management API. */
import { CommandFailure } from '../records/failure.ts'
import type { KnownToken, TokenStore } from './token-keeper.ts'

interface WireToken {
  readonly clientId: string
  readonly roles: readonly string[]
  readonly generatedOn: string
  readonly tokenExpiry?: string
  readonly description?: string
}

/** Timeout of a request to the management API. All these requests are fast. */
const timeoutMs = 30_000

export function connectTo(adminUrl: string, token: string | undefined): TokenStore {
  const call = <T>(method: string, path: string, body?: object) =>
    send<T>(adminUrl, token, method, path, body)
  return {
    async roles() {
      const roles = await call<{ ID: string; Name: string }[]>(
        'GET',
        '/organizations/roles',
      )
      return roles.map(({ ID, Name }) => ({ id: ID, name: Name }))
    },
    async list() {
      const { clients } = await call<{ clients: WireToken[] }>('GET', '/clientIdSecrets')
      return clients.map(read)
    },
    async create({ roles, description, expiresAt }) {
      const created = await call<WireToken & { token: string }>(
        'POST',
        '/clientIdSecrets',
        { roles, description, tokenExpiry: expiresAt },
      )
      return { ...read(created), token: created.token }
    },
    async revoke(id) {
      await call('DELETE', `/clientIdSecrets/${encodeURIComponent(id)}`)
    },
    close: () => Promise.resolve(),
  }
}

function read(token: WireToken): KnownToken {
  const { clientId, roles, generatedOn, tokenExpiry, description } = token
  return {
    id: clientId,
    roles,
    createdAt: generatedOn,
    expiresAt: tokenExpiry,
    description,
  }
}

async function send<T>(
  adminUrl: string,
  token: string | undefined,
  method: string,
  path: string,
  body: object | undefined,
): Promise<T> {
  if (token === undefined)
    throw new CommandFailure(
      'no token was given. Set STELA_TOKEN to a token of an Organization ' +
        'Administrator, or stop the server and pass --data.',
    )
  let response: Response
  let text: string
  try {
    response = await fetch(`${adminUrl}/v2${path}`, {
      method,
      headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
      signal: AbortSignal.timeout(timeoutMs),
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    text = await response.text()
  } catch (error) {
    throw new CommandFailure(
      `cannot reach the server at ${adminUrl}: ${reasonOf(error)}. Check --admin-url.`,
    )
  }
  const answer = parse(text)
  if (response.ok && answer !== undefined) return answer as T
  throw new CommandFailure(explain(response.status, answer, adminUrl))
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

interface AnsweredError {
  readonly message?: unknown
  readonly errorCode?: unknown
}

function explain(status: number, answer: unknown, adminUrl: string): string {
  const { errors } = (answer ?? {}) as { errors?: readonly AnsweredError[] }
  const message = errors?.[0]?.message
  // UNKNOWN_PATH is an error of the Data API: the URL has its port instead of the management port.
  const isOther = errors?.[0]?.errorCode === 'UNKNOWN_PATH'
  if (typeof message === 'string' && !isOther)
    return `${message.charAt(0).toLowerCase()}${message.slice(1)}`
  return (
    `${adminUrl} is not the management API of a Stela server: it answered with HTTP ` +
    `status ${status}. Check --admin-url.`
  )
}

/** Why a fetch failed. The `cause` of the error contains the reason. */
function reasonOf(error: unknown): string {
  const { message, cause } = error as Error
  const { code, message: below } = (cause ?? { message: '' }) as NodeJS.ErrnoException
  // If several addresses of a host refuse the connection, the error has a code but no message.
  return below === '' ? (code ?? message) : below
}
