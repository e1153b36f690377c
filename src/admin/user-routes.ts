/** Routes of users. A user is a configured account, or a name with stored roles. */
import type { User } from '../auth/access.ts'
import type { Role } from '../auth/roles.ts'
import type { AdminCall, AdminReply, AdminRoute } from './route.ts'
import { checkOrganization } from './token-routes.ts'

export const userRoutes: readonly AdminRoute[] = [
  { method: 'GET', path: '/organizations/users', run: listUsers },
  { method: 'PUT', path: '/organizations/users', run: putUser },
  { method: 'DELETE', path: '/organizations/users/:id', run: removeUser },
  { method: 'PUT', path: '/organizations/users/:id/roles', run: putRoles },
]

const organizationName = 'stela'

function listUsers(call: AdminCall): AdminReply {
  call.require('org-user-read')
  const { access, databases } = call.services
  const roles = rolesById(call)
  return {
    status: 200,
    body: {
      OrgID: databases.organization,
      OrgName: organizationName,
      Users: access.users.map((user) => describe(user, roles)),
    },
  }
}

async function putUser(call: AdminCall): Promise<AdminReply> {
  call.require('org-user-write')
  const { access, databases } = call.services
  const { email, orgID, roles } = call.fields
  checkOrganization(orgID, 'orgID', databases.organization)
  const user = await access.setUser(email, roles, call.principal)
  call.noteChange({ kind: 'user', change: 'roles set', what: user.name })
  return { status: 200, body: describe(user, rolesById(call)) }
}

async function putRoles(call: AdminCall): Promise<AdminReply> {
  call.require('org-user-write')
  const { access } = call.services
  const { name } = access.user(call.params['id']!)
  await access.setUser(name, call.fields['roles'], call.principal)
  call.noteChange({ kind: 'user', change: 'roles set', what: name })
  return { status: 204 }
}

async function removeUser(call: AdminCall): Promise<AdminReply> {
  call.require('org-user-write')
  const { name } = await call.services.access.removeUser(call.params['id']!, call.principal)
  call.noteChange({ kind: 'user', change: 'removed', what: name })
  return { status: 204 }
}

function rolesById({ services }: AdminCall): ReadonlyMap<string, Role> {
  return new Map(services.access.roles.map((role) => [role.id, role]))
}

function describe({ id, name, isAccount, roles }: User, byId: ReadonlyMap<string, Role>) {
  const known = roles.flatMap((role) => byId.get(role) ?? [])
  return {
    UserID: id,
    Email: name,
    // A user without a configured account has no password and cannot sign in yet.
    Status: isAccount ? 'active' : 'invited',
    Roles: known.map((role) => ({ ID: role.id, Name: role.name })),
  }
}
