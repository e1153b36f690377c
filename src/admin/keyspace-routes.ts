/** Keyspaces of a database. The Data API has equivalent commands. */
import type { Database } from '../databases/databases.ts'
import { isVisible, unknownDatabase } from './database-routes.ts'
import { isKeyspaceName } from './keyspace-name.ts'
import { Refusal } from './refusal.ts'
import type { AdminCall, AdminReply, AdminRoute } from './route.ts'

const path = '/databases/:id/keyspaces/:keyspace'

export const keyspaceRoutes: readonly AdminRoute[] = [
  { method: 'POST', path, run: createKeyspace },
  { method: 'DELETE', path, run: dropKeyspace },
]

/** Creates a keyspace; an existing keyspace is not changed. */
async function createKeyspace(call: AdminCall): Promise<AdminReply> {
  const { id, engine } = databaseFor('create', call)
  const { limits } = call.services
  const keyspace = call.params['keyspace']!
  if (!isKeyspaceName(keyspace, limits))
    throw new Refusal(
      400,
      `The name of a keyspace must have 1 to ${limits.nameLengthMax} letters, digits ` +
        'and underscores',
    )
  if (await engine.as(call.credentials).createKeyspace(keyspace))
    call.noteChange(
      { kind: 'schema', change: 'createKeyspace', what: keyspace },
      { database: id, keyspace },
    )
  return { status: 201 }
}

async function dropKeyspace(call: AdminCall): Promise<AdminReply> {
  const { id, engine } = databaseFor('drop', call)
  const keyspace = call.params['keyspace']!
  const isDropped = await engine.as(call.credentials).dropKeyspace(keyspace)
  if (!isDropped) return { status: 204 }
  call.noteChange(
    { kind: 'schema', change: 'dropKeyspace', what: keyspace },
    { database: id, keyspace },
  )
  return { status: 202 }
}

/**
 * The database in the path. Throws when the token lacks the permission to create or drop
 * keyspaces in it.
 */
function databaseFor(effect: 'create' | 'drop', call: AdminCall): Database {
  const { databases } = call.services
  const info = databases.info(call.params['id']!)
  if (info === undefined) throw unknownDatabase(call)
  const resource = { database: info.id, keyspace: call.params['keyspace']! }
  if (!call.principal.may(effect, resource)) {
    if (!isVisible(info, call)) throw unknownDatabase(call)
    throw call.forbid(`It requires db-keyspace-${effect}`, resource)
  }
  const database = databases.find(info.id)
  if (database === undefined)
    throw new Refusal(409, `The database ${info.id} is terminated`)
  return database
}
