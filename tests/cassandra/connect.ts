/** Connection settings of a node, and a check of its credentials. */
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

/** Options of an engine that connects to the cluster. */
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

/** Scan limits of an engine on the cluster: the defaults of the settings. */
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

/** Command-line flags to connect to the cluster. */
export function flagsOf({ contactPoints, port, user, password }: ConnectOptions): string[] {
  const where = ['--contact-points', contactPoints.join(), '--cassandra-port', String(port)]
  return [...where, '--cassandra-user', user, '--cassandra-password', password]
}

/** A client that connects only to the contact points. */
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
