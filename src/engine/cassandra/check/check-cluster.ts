/** Reports the state of a cluster to operators: capabilities, nodes, and incomplete targets. */
import type { Client, Host } from 'cassandra-driver'
import { listKeyspaces } from '../catalog/system-schema.ts'
import { probe, type ProbedCluster } from '../cluster/capabilities.ts'
import {
  openClient,
  sessionOf,
  withDataCenter,
  type ClusterOptions,
} from '../cluster/open-cluster.ts'
import { engineErrorOf } from '../cluster/failures.ts'
import { findUnqueryable } from '../cluster/index-readiness.ts'
import { reachQuorum, settledSchemas } from '../cluster/probes.ts'
import type { Session } from '../cluster/session.ts'
import { quoteTarget } from '../cluster/statement.ts'
import type { TextPlace } from '../lexical/postings.ts'
import { missingTables } from '../system/system-keyspace.ts'
import { checkKeyspace, type CheckedTarget } from './check-targets.ts'

export interface ClusterReport {
  readonly cluster: ProbedCluster
  readonly localDataCenter: string
  readonly nodes: readonly CheckedNode[]
  /** Nodes by schema version; several versions mean that the nodes disagree. */
  readonly schemas: ReadonlyMap<string, readonly string[]>
  /** Why the settings that all servers share cannot be read; undefined: no problem was found. */
  readonly settings: string | undefined
  readonly targets: readonly CheckedTarget[]
}

export interface CheckedNode {
  readonly address: string
  readonly dataCenter: string
  readonly release: string
  readonly isUp: boolean
}

export interface CheckOptions extends ClusterOptions {
  readonly systemKeyspace: string
}

/**
 * Reports the state of a cluster, and changes nothing. Throws an EngineError when the cluster
 * cannot be queried.
 */
export async function checkCluster(given: CheckOptions): Promise<ClusterReport> {
  const options = await withDataCenter(given)
  const client = await openClient(options, options.account)
  try {
    const session = sessionOf(client, options)
    const cluster = await probe(client)
    const { indexView } = cluster
    const queryable = await findUnqueryable(client, indexView, options.localDataCenter)
    const targets: CheckedTarget[] = []
    const isFilling = await unfilledPlaces(session, options)
    const keyspaces = await listKeyspaces(session, options.systemKeyspace)
    for (const keyspace of keyspaces.toSorted())
      targets.push(
        ...(await checkKeyspace(session, keyspace, cluster, queryable, isFilling)),
      )
    return {
      cluster,
      localDataCenter: options.localDataCenter ?? localOf(client),
      nodes: client.hosts.values().map(checkedNode).toSorted(byPlace),
      schemas: await settledSchemas(client),
      settings: await settingsProblem(session, options),
      targets,
    }
  } catch (error) {
    throw engineErrorOf(error)
  } finally {
    await client.shutdown()
  }
}

/**
 * Returns a function that determines whether the text index of a place is still being filled. If no
 * server has used the cluster yet, there are no such indexes.
 */
async function unfilledPlaces(
  session: Session,
  { systemKeyspace: keyspace }: CheckOptions,
): Promise<(place: TextPlace) => boolean> {
  if ((await missingTables(session, keyspace)).includes('text_indexes')) return () => false
  const text = `SELECT target, filling FROM ${quoteTarget({ keyspace, name: 'text_indexes' })}`
  const rows = await Array.fromAsync(session.rowsOf({ text, values: [] }, 'read'))
  const filling = new Map(
    rows.map((row) => [row['target'] as string, row['filling'] as Set<string> | null]),
  )
  return ({ target, path }) => filling.get(target)?.has(path) ?? false
}

function localOf(client: Client): string {
  return client.getState().getConnectedHosts()[0]?.datacenter ?? 'unknown'
}

function checkedNode(host: Host): CheckedNode {
  const { address, datacenter: dataCenter, cassandraVersion: release } = host
  return { address, dataCenter, release, isUp: host.isUp() }
}

function byPlace(a: CheckedNode, b: CheckedNode): number {
  const [one, other] = [a, b].map(({ dataCenter, address }) => `${dataCenter} ${address}`)
  return one! < other! ? -1 : 1
}

/**
 * Why the settings cannot be read; undefined: no problem was found. Missing settings are not a
 * problem: before its first server starts, a cluster has none.
 */
async function settingsProblem(
  session: Session,
  options: CheckOptions,
): Promise<string | undefined> {
  try {
    await reachQuorum(session, options)
    return undefined
  } catch (error) {
    const { kind, message } = engineErrorOf(error)
    return kind === 'gone' || kind === 'unsupported' ? undefined : message
  }
}
