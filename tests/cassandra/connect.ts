/** How clients reach a node, and whether it lets them in. */
import { Client, policies, type ClientOptions } from 'cassandra-driver'
import { defaultConsistency } from '../../src/engine/cassandra/cluster/consistency.ts'
import type { ClusterOptions } from '../../src/engine/cassandra/cluster/open-cluster.ts'
import type { CassandraOptions } from '../../src/engine/cassandra/system/shared-parts.ts'

export interface ConnectOptions {
  readonly contactPoints: readonly string[]
  readonly port: number
  readonly localDatacenter: string
  readonly user: string
  readonly password: string
}

/** How an engine reaches it. */
export function clusterOf(connect: ConnectOptions): ClusterOptions {
  const { contactPoints, port, localDatacenter, user, password } = connect
  return {
    contactPoints,
    port,
    localDataCenter: localDatacenter,
    account: { name: user, password },
    tls: undefined,
    bundle: undefined,
    consistency: defaultConsistency,
  }
}

/** Of an engine on it, with what a server would set besides. */
/** The defaults of the settings. */
export const testLimits = { scannedMax: 100_000, comparedMax: 1_000 }

export function engineOptionsOf(
  connect: ConnectOptions,
  systemKeyspace: string,
  firstKeyspace: string,
): CassandraOptions {
  return {
    ...clusterOf(connect),
    systemKeyspace,
    firstKeyspace,
    replication: undefined,
    settingsPollMs: 200,
    limits: testLimits,
    defaults: {
      lexical: { enabled: true, analyzer: 'standard' },
      rerank: { enabled: false },
    },
  }
}

/** How the command line reaches it. */
export function flagsOf({ contactPoints, port, user, password }: ConnectOptions): string[] {
  const where = ['--contact-points', contactPoints.join(), '--cassandra-port', String(port)]
  return [...where, '--cassandra-user', user, '--cassandra-password', password]
}

/** A client that asks no node but the contact points. */
export function clientOf(connect: ConnectOptions, options: ClientOptions = {}): Client {
  const { contactPoints, port, localDatacenter, user, password } = connect
  const { AllowListPolicy, RoundRobinPolicy } = policies.loadBalancing
  const addresses = contactPoints.map((address) => `${address}:${port}`)
  return new Client({
    contactPoints: addresses,
    localDataCenter: localDatacenter,
    credentials: { username: user, password },
    protocolOptions: { port, maxVersion: 4 },
    policies: { loadBalancing: new AllowListPolicy(new RoundRobinPolicy(), addresses) },
    ...options,
  })
}

/** Whether the user can log in and read. */
export async function tryLogin(connect: ConnectOptions): Promise<boolean> {
  const client = clientOf(connect)
  try {
    await client.execute('SELECT role FROM system_auth.roles')
    return true
  } catch {
    return false
  } finally {
    await client.shutdown()
  }
}
