/**
 * Routes of databases: list, create, terminate. Changes are complete when the reply is
 * sent.
 */
import type { DatabaseInfo } from '../databases/databases.ts'
import { pageOfDatabases } from './database-list.ts'
import { datacentersOf, describeDatabase } from './database-view.ts'
import { readNewDatabase } from './new-database.ts'
import { Refusal } from './refusal.ts'
import type { AdminCall, AdminReply, AdminRoute } from './route.ts'

export const databaseRoutes: readonly AdminRoute[] = [
  { method: 'GET', path: '/databases', run: listDatabases },
  { method: 'POST', path: '/databases', run: createDatabase },
  { method: 'GET', path: '/databases/:id', run: showDatabase },
  { method: 'POST', path: '/databases/:id/terminate', run: terminateDatabase },
  { method: 'GET', path: '/databases/:id/datacenters', run: listDatacenters },
]

/**
 * The database in the path. A database that the token may not see is reported as unknown.
 */
export function visibleDatabase(call: AdminCall): DatabaseInfo {
  const info = call.services.databases.info(call.params['id']!)
  if (info === undefined || !isVisible(info, call)) throw unknownDatabase(call)
  return info
}

export function isVisible({ id }: DatabaseInfo, { principal }: AdminCall): boolean {
  return principal.allows('org-db-view', { database: id })
}

export function unknownDatabase(call: AdminCall): Refusal {
  return new Refusal(404, `There is no database ${call.params['id']!.slice(0, 100)}`)
}

async function listDatabases(call: AdminCall): Promise<AdminReply> {
  const { databases, limits } = call.services
  const visible = databases.list().filter((info) => isVisible(info, call))
  const page = pageOfDatabases(visible, call.query, limits)
  const body = await Promise.all(page.map((info) => describeDatabase(info, call)))
  return { status: 200, body }
}

async function showDatabase(call: AdminCall): Promise<AdminReply> {
  return { status: 200, body: await describeDatabase(visibleDatabase(call), call) }
}

async function createDatabase(call: AdminCall): Promise<AdminReply> {
  call.require('org-db-create')
  const { databases, limits } = call.services
  const info = await databases.create(readNewDatabase(call.fields, limits))
  call.noteChange(
    { kind: 'database', change: 'created', what: info.id },
    { database: info.id },
  )
  // Clients expect the bare id in this header, not a URL.
  const headers = { Location: info.id }
  return { status: 201, headers, body: await describeDatabase(info, call) }
}

async function terminateDatabase(call: AdminCall): Promise<AdminReply> {
  const { id } = visibleDatabase(call)
  call.require('org-db-terminate', { database: id })
  await call.services.databases.terminate(id)
  call.noteChange({ kind: 'database', change: 'terminated', what: id }, { database: id })
  return { status: 202 }
}

function listDatacenters(call: AdminCall): AdminReply {
  return { status: 200, body: datacentersOf(visibleDatabase(call)) }
}
