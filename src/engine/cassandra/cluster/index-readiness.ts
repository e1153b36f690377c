/** Finds indexes that cannot be searched yet. Each node reports only its own state. */
import type { Client } from 'cassandra-driver'
import { hostOf } from './probes.ts'

/** Names of unqueryable indexes, as "keyspace.index", by address of the node. */
export type UnqueryableIndexes = ReadonlyMap<string, ReadonlySet<string>>

/**
 * Asks all nodes that are up which of their indexes cannot be searched. Skips nodes of other data
 * centers: this server has no connections to them.
 */
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
