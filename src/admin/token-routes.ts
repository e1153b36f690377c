/** Tokens: create, list without secrets, revoke. */
import type { CreatedToken, TokenInfo } from '../auth/access.ts'
import { Refusal } from './refusal.ts'
import type { AdminCall, AdminReply, AdminRoute } from './route.ts'

export const tokenRoutes: readonly AdminRoute[] = [
  { method: 'GET', path: '/clientIdSecrets', run: listTokens },
  { method: 'POST', path: '/clientIdSecrets', run: createToken },
  { method: 'POST', path: '/tokens', run: createToken },
  { method: 'DELETE', path: '/clientIdSecrets/:id', run: revokeToken },
]

function listTokens(call: AdminCall): AdminReply {
  call.require('org-token-read')
  return { status: 200, body: { clients: call.services.access.tokens.map(describe) } }
}

async function createToken(call: AdminCall): Promise<AdminReply> {
  call.require('org-token-write')
  const { access, databases } = call.services
  const { roles, description, tokenExpiry, orgId } = call.fields
  checkOrganization(orgId, 'orgId', databases.organization)
  const wanted = { roles, description, expiresAt: tokenExpiry }
  const created = await access.createToken(wanted, call.principal)
  call.noteChange({ kind: 'token', change: 'created', what: created.id })
  return { status: 200, body: reveal(created, databases.organization) }
}

async function revokeToken(call: AdminCall): Promise<AdminReply> {
  call.require('org-token-write')
  const { id } = await call.services.access.revokeToken(call.params['id']!, call.principal)
  call.noteChange({ kind: 'token', change: 'revoked', what: id })
  return { status: 200, body: {} }
}

/** Throws when a request names an organization other than this server's. */
export function checkOrganization(
  given: unknown,
  field: string,
  organization: string,
): void {
  if (given !== undefined && given !== null && given !== '' && given !== organization)
    throw new Refusal(400, `${field} must be ${organization}, or left out`)
}

function describe({ id, roles, createdAt, description, expiresAt }: TokenInfo) {
  return {
    clientId: id,
    roles,
    generatedOn: createdAt,
    description,
    tokenExpiry: expiresAt,
  }
}

/** The reply for a created token. No other reply contains the secret. */
function reveal(created: CreatedToken, orgId: string) {
  const { secret, token } = created
  return { ...describe(created), orgId, secret, token }
}
