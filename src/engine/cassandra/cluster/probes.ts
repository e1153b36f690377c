/** Short questions that tell how a cluster is. */
import { setTimeout as delay } from 'node:timers/promises'
import type { Client } from 'cassandra-driver'
import { disagreementMsMax } from './cluster-health.ts'
import { levelOfSettings, type Consistency } from './consistency.ts'
import type { ResultPage, Session } from './session.ts'
import { quoteTarget } from './statement.ts'

/** A node answers these at once, or is in trouble. */
const answerMsMax = 2_000

export function reachNode(session: Session): Promise<ResultPage> {
  const text = "SELECT key FROM system.local WHERE key = 'local'"
  return session.run({ text, values: [] }, 'schema', {
    level: 'LOCAL_ONE',
    readTimeoutMs: answerMsMax,
  })
}

export function reachQuorum(
  session: Session,
  options: { readonly systemKeyspace: string; readonly consistency: Consistency },
): Promise<ResultPage> {
  const { systemKeyspace: keyspace, consistency } = options
  const table = quoteTarget({ keyspace, name: 'settings' })
  const text = `SELECT version FROM ${table} WHERE name = ?`
  return session.run({ text, values: ['databases'] }, 'settle', {
    level: levelOfSettings(consistency),
    readTimeoutMs: answerMsMax,
  })
}

/** Those that are down are not asked: they learn of it when they are back. */
export async function agreesOnSchema(client: Client): Promise<boolean> {
  const versions = await schemaVersions(client)
  return new Set(versions.values()).size <= 1
}

/**
 * The versions of the schema that nodes have, once they have one; or those that they are left
 * with. Right after a change they disagree for a moment: only what lasts is wrong.
 */
export async function settledSchemas(
  client: Client,
): Promise<ReadonlyMap<string, readonly string[]>> {
  const deadline = performance.now() + disagreementMsMax
  for (;;) {
    const versions = await schemaVersions(client)
    const schemas = Map.groupBy(versions.keys(), (address) => versions.get(address)!)
    if (schemas.size <= 1 || performance.now() > deadline) return schemas
    await delay(lookAgainMs)
  }
}

const lookAgainMs = 200

/** By the addresses of nodes that are up, as the node that answers knows them. */
async function schemaVersions(client: Client): Promise<ReadonlyMap<string, string>> {
  const hosts = client.hosts.values()
  const down = hosts.filter((host) => !host.isUp()).map(({ address }) => hostOf(address))
  const versions = new Map<string, string>()
  // Both of one node, so that they are of one moment.
  const [host] = client.getState().getConnectedHosts()
  const options = { prepare: true, readTimeout: answerMsMax, ...(host && { host }) }
  for (const text of [
    "SELECT rpc_address, schema_version FROM system.local WHERE key = 'local'",
    'SELECT rpc_address, schema_version FROM system.peers',
  ]) {
    const { rows } = await client.execute(text, [], options)
    for (const row of rows) {
      const address = String(row['rpc_address'])
      const version = row['schema_version'] as { toString(): string } | null
      if (version !== null && !down.includes(address))
        versions.set(address, String(version))
    }
  }
  return versions
}

/** "127.0.0.1" of "127.0.0.1:9042". */
export function hostOf(address: string): string {
  return address.slice(0, address.lastIndexOf(':'))
}
