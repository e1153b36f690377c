/** Default and custom roles. */
import type { Role } from '../auth/roles.ts'
import type { AdminCall, AdminReply, AdminRoute } from './route.ts'

export const roleRoutes: readonly AdminRoute[] = [
  { method: 'GET', path: '/organizations/roles', run: listRoles },
  { method: 'POST', path: '/organizations/roles', run: createRole },
  { method: 'GET', path: '/organizations/roles/:id', run: showRole },
  { method: 'PUT', path: '/organizations/roles/:id', run: updateRole },
  { method: 'DELETE', path: '/organizations/roles/:id', run: deleteRole },
]

function listRoles(call: AdminCall): AdminReply {
  call.require('org-role-read')
  const { access } = call.services
  return { status: 200, body: access.roles.map((role) => describe(role, call)) }
}

function showRole(call: AdminCall): AdminReply {
  call.require('org-role-read')
  const role = call.services.access.role(call.params['id']!)
  return { status: 200, body: describe(role, call) }
}

async function createRole(call: AdminCall): Promise<AdminReply> {
  call.require('org-role-write')
  const { name, policy } = call.fields
  const role = await call.services.access.createRole(name, policy, call.principal)
  call.noteChange({ kind: 'role', change: 'created', what: role.id })
  return { status: 201, body: describe(role, call) }
}

async function updateRole(call: AdminCall): Promise<AdminReply> {
  call.require('org-role-write')
  const id = call.params['id']!
  const { name, policy } = call.fields
  const role = await call.services.access.updateRole(id, name, policy, call.principal)
  call.noteChange({ kind: 'role', change: 'updated', what: id })
  return { status: 200, body: describe(role, call) }
}

async function deleteRole(call: AdminCall): Promise<AdminReply> {
  call.require('org-role-delete')
  const { id } = await call.services.access.deleteRole(call.params['id']!, call.principal)
  call.noteChange({ kind: 'role', change: 'deleted', what: id })
  return { status: 204 }
}

/** A role in the format of replies. Clients expect this capitalization of the field names. */
function describe(role: Role, { services }: AdminCall) {
  return {
    ID: role.id,
    OrgID: services.databases.organization,
    Name: role.name,
    Type: role.isDefault ? 'default' : 'custom',
    Policy: role.policy,
    LastUpdateDateTime: role.updatedAt,
    LastUpdateUserID: role.updatedBy,
  }
}
