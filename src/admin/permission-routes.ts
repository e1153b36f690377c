/**
 * Permissions of the requesting token. The console hides functions that the token does not permit.
 */
import { actions } from '../auth/actions.ts'
import type { Resource } from '../auth/policy.ts'
import { Refusal } from './refusal.ts'
import type { AdminCall, AdminReply, AdminRoute } from './route.ts'

export const permissionRoutes: readonly AdminRoute[] = [
  { method: 'GET', path: '/permissions', run: listPermissions },
]

/**
 * Replies with the permissions of the requesting token. Every token may send this request, and the
 * reply does not reveal which objects exist.
 */
function listPermissions(call: AdminCall): AdminReply {
  const { databases } = call.services
  const database = textOf(call, 'database') ?? databases.home.id
  const keyspace = textOf(call, 'keyspace')
  const target = textOf(call, 'name')
  const resource: Resource = { database, keyspace, target }
  const allowed = actions.filter(
    (action) =>
      call.principal.allows(action, resource) ||
      (action.startsWith('org-') && call.principal.allows(action, {})),
  )
  return { status: 200, body: { actions: allowed } }
}

function textOf({ query }: AdminCall, name: string): string | undefined {
  const value = query[name]
  if (value === undefined || typeof value === 'string') return value
  throw new Refusal(400, `${name} must be given at most once`)
}
