/** Which indexes can be searched: each node tells of its own. */
import type { Client } from 'cassandra-driver'
import { hostOf } from './probes.ts'

/** Indexes that a node cannot search in, as "keyspace.index", by the node's address. */
export type UnqueryableIndexes = ReadonlyMap<string, ReadonlySet<string>>

/** Nodes of other data centers are not connected to, and not asked. */
export async function findUnqueryable(
  client: Client,
  view: string | undefined,
  dataCenter: string | undefined,
): Promise<UnqueryableIndexes> {
  const found = new Map<string, ReadonlySet<string>>()
  if (view === undefined) return found
  const text = `SELECT keyspace_name, index_name, is_queryable FROM ${view}`
  const hosts = client.hosts
    .values()
    .filter((host) => host.isUp() && (dataCenter ?? host.datacenter) === host.datacenter)
  for (const host of hosts) {
    const options = { prepare: true, host, fetchSize: 10_000 }
    const { rows } = await client.execute(text, [], options)
    const unready = rows
      .filter((row) => row['is_queryable'] !== true)
      .map((row) => `${row['keyspace_name'] as string}.${row['index_name'] as string}`)
    found.set(hostOf(host.address), new Set(unready))
  }
  return found
}
