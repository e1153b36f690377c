/** A database in the format of the management API. */
import type { DatabaseInfo } from '../databases/databases.ts'
import { zoneOf } from './regions.ts'
import type { AdminCall } from './route.ts'

export async function describeDatabase(info: DatabaseInfo, call: AdminCall) {
  const { databases } = call.services
  const keyspaces = await visibleKeyspaces(info, call)
  const { id, name, status, createdAt, terminatedAt } = info
  return {
    id,
    orgId: databases.organization,
    ownerId: databases.organization,
    status,
    creationTime: createdAt,
    // The server does not record the last use of a database, so the reply contains the time of its
    // creation instead.
    lastUsageTime: createdAt,
    ...(terminatedAt !== undefined && { terminationTime: terminatedAt }),
    info: {
      name,
      keyspace: keyspaces.includes(info.keyspace) ? info.keyspace : keyspaces[0],
      keyspaces,
      dbType: 'vector',
      datacenters: datacentersOf(info),
      ...placeOf(info),
    },
    availableActions: actionsOn(info, call),
    ...(status === 'ACTIVE' && { dataEndpointUrl: endpointOf(info, call) }),
  }
}

/** The data centers of a database. There is only one: this server. */
export function datacentersOf(info: DatabaseInfo) {
  return [
    {
      id: `${info.id}-1`,
      name: 'dc-1',
      status: info.status,
      dateCreated: info.createdAt,
      regionZone: zoneOf(info.region),
      regionClassification: 'standard',
      ...placeOf(info),
    },
  ]
}

function placeOf({ cloudProvider, region }: DatabaseInfo) {
  return { cloudProvider, region, tier: 'serverless', capacityUnits: 1 }
}

/**
 * The URL of a database's Data API. The URLs of databases differ only in the path, because a server
 * cannot set up a host name per database.
 */
function endpointOf({ id }: DatabaseInfo, { services }: AdminCall): string {
  const url = services.dataUrl()
  return id === services.databases.home.id ? url : `${url}/databases/${id}`
}

function actionsOn({ id, status }: DatabaseInfo, { services }: AdminCall): string[] {
  if (status === 'TERMINATED') return []
  const always = ['addKeyspace', 'removeKeyspace']
  return id === services.databases.home.id ? always : [...always, 'terminate']
}

async function visibleKeyspaces(
  { id }: DatabaseInfo,
  { services, principal }: AdminCall,
): Promise<string[]> {
  const all = (await services.databases.find(id)?.engine.listKeyspaces()) ?? []
  return all
    .filter((keyspace) => principal.may('describe', { database: id, keyspace }))
    .toSorted()
}
