/** Connections to a cluster. */
import type { ConnectionOptions } from 'node:tls'
import { Client, policies } from 'cassandra-driver'
import type { EngineAccount } from '../../contract.ts'
import { EngineError } from '../../errors.ts'
import type { Replication } from '../../schema.ts'
import { probe, type ProbedCluster } from './capabilities.ts'
import type { Consistency } from './consistency.ts'
import { engineErrorOf } from './failures.ts'
import { Session, type StatementListener } from './session.ts'

export interface ClusterOptions {
  readonly contactPoints: readonly string[]
  readonly port: number
  /** Undefined: that of the first contact point. */
  readonly localDataCenter: string | undefined
  /** The server's own user. Undefined: the cluster asks for none. */
  readonly account: EngineAccount | undefined
  readonly tls: ConnectionOptions | undefined
  /** A file that says where the cluster is and how to reach it, instead of the above. */
  readonly bundle: string | undefined
  readonly consistency: Consistency
  readonly listener?: StatementListener
}

/** Statements of which the cluster knows the form: filters come in many. */
const preparedMax = 2_000

export async function openSession(
  options: ClusterOptions,
  account: EngineAccount | undefined,
): Promise<Session> {
  const client = new Client({
    ...whereToFind(
      options,
      options.localDataCenter ?? (await findDataCenter(options, account)),
    ),
    ...clientOptions(options, account),
    encoding: {
      map: Map,
      set: Set,
      useUndefinedAsUnset: false,
      useBigIntAsLong: true,
      useBigIntAsVarint: true,
    },
    maxPrepared: preparedMax,
  })
  await connect(client)
  return new Session(client, options.consistency, options.listener)
}

function whereToFind({ bundle, contactPoints }: ClusterOptions, localDataCenter: string) {
  return bundle === undefined
    ? { contactPoints: [...contactPoints], localDataCenter }
    : { cloud: { secureConnectBundle: bundle } }
}

function clientOptions({ port, tls }: ClusterOptions, account: EngineAccount | undefined) {
  return {
    // Page states of other versions differ.
    protocolOptions: { port, maxVersion: 4 },
    ...(account && {
      credentials: { username: account.name, password: account.password },
    }),
    ...(tls && { sslOptions: tls }),
  }
}

/** Which one a node is in, only it can tell. A bundle says so itself. */
async function findDataCenter(
  options: ClusterOptions,
  account: EngineAccount | undefined,
): Promise<string> {
  if (options.bundle !== undefined) return ''
  const client = new Client({
    contactPoints: [...options.contactPoints],
    ...clientOptions(options, account),
    policies: { loadBalancing: new policies.loadBalancing.RoundRobinPolicy() },
  })
  await connect(client)
  try {
    const { rows } = await client.execute('SELECT data_center FROM system.local')
    return rows[0]!['data_center'] as string
  } finally {
    await client.shutdown()
  }
}

async function connect(client: Client): Promise<void> {
  try {
    await client.connect()
  } catch (error) {
    await client.shutdown().catch(() => undefined)
    throw engineErrorOf(error)
  }
}

/** As many copies as there are nodes, where nobody says otherwise, but no more than these. */
const copiesMax = 3

/** In the data center that is asked. */
export async function replicationBy(session: Session): Promise<Replication> {
  const text = "SELECT data_center FROM system.local WHERE key = 'local'"
  const { rows } = await session.run({ text, values: [] }, 'schema')
  const local = rows[0]!['data_center'] as string
  const nodes = session.client.hosts.values().filter((host) => host.datacenter === local)
  const copies = Math.min(nodes.length, copiesMax)
  return { class: 'NetworkTopologyStrategy', counts: new Map([[local, copies]]) }
}

/** What the cluster has; one that cannot search by vector is refused. */
export async function probeCluster(session: Session): Promise<ProbedCluster> {
  const capabilities = await probe(session.client)
  if (!capabilities.vectors)
    throw new EngineError(
      'unsupported',
      `the cluster (release ${capabilities.release}) cannot search by vector. Use Apache Cassandra 5.0 or later`,
    )
  return capabilities
}
