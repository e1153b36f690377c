/** Short queries that report the state of a cluster. */
import { setTimeout as delay } from 'node:timers/promises'
import type { Client } from 'cassandra-driver'
import { disagreementMsMax } from './cluster-health.ts'
import { levelOfSettings, type Consistency } from './consistency.ts'
import type { ResultPage, Session } from './session.ts'
import { quoteTarget } from './statement.ts'

/** Timeout in milliseconds; a healthy node answers at once. */
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

/**
 * Whether all nodes that are up have the same schema. Nodes that are down receive the schema when
 * they return.
 */
export async function agreesOnSchema(client: Client): Promise<boolean> {
  const versions = await schemaVersions(client)
  return new Set(versions.values()).size <= 1
}

/**
 * Schema versions with the addresses of their nodes: one version as soon as all nodes agree,
 * otherwise several after a timeout. Nodes disagree briefly after every change.
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

/** Schema versions by address of the nodes that are up, as one node sees them. */
async function schemaVersions(client: Client): Promise<ReadonlyMap<string, string>> {
  const hosts = client.hosts.values()
  const down = hosts.filter((host) => !host.isUp()).map(({ address }) => hostOf(address))
  const versions = new Map<string, string>()
  // Both queries go to one node, so that they reflect one state.
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

/** Removes the port: "127.0.0.1" from "127.0.0.1:9042". */
export function hostOf(address: string): string {
  return address.slice(0, address.lastIndexOf(':'))
}
