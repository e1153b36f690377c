/** Opens connections to a cluster and checks that the cluster can be used. */
import type { ConnectionOptions } from 'node:tls'
import { Client, errors, policies } from 'cassandra-driver'
import { fixedLimits } from '../../../limits.ts'
import type { EngineAccount } from '../../contract.ts'
import { EngineError } from '../../errors.ts'
import type { Replication } from '../../schema.ts'
import { probe, type ProbedCluster } from './capabilities.ts'
import type { Consistency } from './consistency.ts'
import { engineErrorOf, isNameError } from './failures.ts'
import { Session, type StatementListener } from './session.ts'
import type { WriteClock } from './write-clock.ts'

export interface ClusterOptions {
  readonly contactPoints: readonly string[]
  readonly port: number
  /** Data center to connect to; undefined: the data center of the first contact point. */
  readonly localDataCenter: string | undefined
  /** The server's own user; undefined: the cluster needs no authentication. */
  readonly account: EngineAccount | undefined
  readonly tls: ConnectionOptions | undefined
  /** Path of a secure connect bundle, which replaces the addresses above. */
  readonly bundle: string | undefined
  readonly consistency: Consistency
}

/**
 * Maximum prepared statements that the driver caches. Filters produce many different statements.
 */
const preparedMax = 2_000

/** State that all clients of a server share. Clients that only inspect a cluster do not need it. */
export interface ClientParts {
  /** Called for every retried statement. */
  readonly retried: () => void
  readonly clock: WriteClock
}

/** Opens a client that is logged in as the account. */
export async function openClient(
  options: ClusterOptions,
  account: EngineAccount | undefined,
  parts?: ClientParts,
): Promise<Client> {
  const client = new Client({
    ...whereToFind(options),
    ...clientOptions(options, account),
    encoding: {
      map: Map,
      set: Set,
      useUndefinedAsUnset: false,
      useBigIntAsLong: true,
      useBigIntAsVarint: true,
    },
    maxPrepared: preparedMax,
    pooling: { maxRequestsPerConnection: fixedLimits.nodeStatementsMax },
    ...(parts && {
      policies: {
        retry: new CountedRetries(parts.retried),
        timestampGeneration: parts.clock,
      },
    }),
  })
  await connect(client, options)
  return client
}

/** Retries by the driver's default policy, and counts retries. */
class CountedRetries extends policies.retry.RetryPolicy {
  readonly #retried: () => void

  constructor(retried: () => void) {
    super()
    this.#retried = retried
  }

  override retryResult(...given: Parameters<policies.retry.RetryPolicy['retryResult']>) {
    this.#retried()
    return super.retryResult(...given)
  }
}

export function sessionOf(
  client: Client,
  { consistency }: Pick<ClusterOptions, 'consistency'>,
  listener?: StatementListener,
): Session {
  return Session.open((act) => act(client), consistency, listener)
}

function whereToFind({ bundle, contactPoints, localDataCenter }: ClusterOptions) {
  return bundle === undefined
    ? { contactPoints: [...contactPoints], localDataCenter: localDataCenter! }
    : { cloud: { secureConnectBundle: bundle } }
}

function clientOptions({ port, tls }: ClusterOptions, account: EngineAccount | undefined) {
  return {
    // The protocol version is limited, because later versions encode page states differently.
    protocolOptions: { port, maxVersion: 4 },
    ...(account && {
      credentials: { username: account.name, password: account.password },
    }),
    ...(tls && { sslOptions: tls }),
  }
}

/**
 * Adds the local data center, which a node reports, to options that lack it. A bundle contains the
 * data center.
 */
export async function withDataCenter<O extends ClusterOptions>(options: O): Promise<O> {
  if (options.bundle !== undefined || options.localDataCenter !== undefined) return options
  const client = new Client({
    contactPoints: [...options.contactPoints],
    ...clientOptions(options, options.account),
    policies: { loadBalancing: new policies.loadBalancing.RoundRobinPolicy() },
  })
  await connect(client, options)
  try {
    return { ...options, localDataCenter: await dataCenterOf(client) }
  } finally {
    await client.shutdown()
  }
}

/** Data center of the node that answers. */
async function dataCenterOf(client: Client): Promise<string> {
  const text = 'SELECT data_center FROM system.local'
  const { rows } = await client.execute(text, [], { prepare: true })
  return rows[0]!['data_center'] as string
}

async function connect(client: Client, options: ClusterOptions): Promise<void> {
  const { bundle, contactPoints } = options
  try {
    await client.connect()
  } catch (error) {
    await client.shutdown().catch(() => undefined)
    closeFirst(client)
    if (bundle !== undefined) throw bundleError(error, bundle)
    const failure = engineErrorOf(error)
    if (!isNameError(error)) throw failure
    const problem = `${failure.message}: ${contactPoints.join(', ')}. Check --contact-points`
    throw new EngineError(failure.kind, problem, { cause: error })
  }
}

/**
 * Closes the driver's control connection. The driver leaves it open when nodes answer but are
 * unusable, and an open connection keeps the process alive.
 */
function closeFirst(client: Client): void {
  const { controlConnection } = client as unknown as {
    readonly controlConnection?: { readonly connection?: { close(): void } | null }
  }
  controlConnection?.connection?.close()
}

/**
 * The error when no connection could be made through a bundle. The driver's errors about a bundle
 * are plain errors that do not name the bundle.
 */
function bundleError(error: unknown, bundle: string): EngineError {
  if (error instanceof errors.DriverError) return engineErrorOf(error)
  const why = error instanceof Error ? error.message : String(error)
  const problem = `the secure connect bundle ${bundle} cannot be used: ${why}`
  return new EngineError('unsupported', problem, { cause: error })
}

/** Default replication factor: the number of nodes, up to this maximum. */
const copiesMax = 3

/** Default replication, in the data center of the contacted node. */
export async function replicationBy(client: Client): Promise<Replication> {
  const local = await dataCenterOf(client)
  const nodes = client.hosts.values().filter((host) => host.datacenter === local)
  const copies = Math.min(nodes.length, copiesMax)
  return { class: 'NetworkTopologyStrategy', counts: new Map([[local, copies]]) }
}

/**
 * Checks that each data center exists and has enough nodes for a quorum of the replicas. Otherwise
 * the problem would show only later, in statements that need the quorum.
 */
export function checkReplication(client: Client, { counts }: Replication): void {
  const hosts = client.hosts.values()
  const centers = Map.groupBy(hosts, ({ datacenter }) => datacenter)
  for (const [center, copies] of counts) {
    // This entry is a replication factor for all data centers.
    if (center === 'replication_factor') continue
    const nodes = centers.get(center)?.length
    if (nodes === undefined)
      throw new EngineError(
        'unsupported',
        `there is no data center ${center}. Data centers for --replication: ` +
          [...centers.keys()].join(', '),
      )
    const quorum = Math.floor(copies / 2) + 1
    if (quorum > nodes)
      throw new EngineError(
        'unsupported',
        `--replication has ${copies} replicas in ${center}, whose quorum is ${quorum}, ` +
          `but the data center has only ${nodes} nodes. Use fewer replicas`,
      )
  }
}

/** Probes the cluster. Throws if the cluster does not support vector search. */
export async function probeCluster(client: Client): Promise<ProbedCluster> {
  const capabilities = await probe(client)
  if (!capabilities.vectors)
    throw new EngineError(
      'unsupported',
      `the cluster (release ${capabilities.release}) cannot search by vector. Use Apache Cassandra 5.0 or later, DSE 6.9, HCD or Astra`,
    )
  return capabilities
}
