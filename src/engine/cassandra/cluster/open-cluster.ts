/** Connections to a cluster. */
import type { ConnectionOptions } from 'node:tls'
import { Client } from 'cassandra-driver'
import type { EngineAccount } from '../../contract.ts'
import { EngineError } from '../../errors.ts'
import { probe, type ProbedCluster } from './capabilities.ts'
import { engineErrorOf } from './failures.ts'
import { Session, type Consistency, type StatementListener } from './session.ts'

export interface ClusterOptions {
  readonly contactPoints: readonly string[]
  readonly port: number
  readonly localDataCenter: string
  /** The server's own user. Undefined: the cluster asks for none. */
  readonly account: EngineAccount | undefined
  readonly tls: ConnectionOptions | undefined
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
    contactPoints: [...options.contactPoints],
    localDataCenter: options.localDataCenter,
    // Page states of other versions differ.
    protocolOptions: { port: options.port, maxVersion: 4 },
    encoding: { map: Map, set: Set, useUndefinedAsUnset: false },
    maxPrepared: preparedMax,
    ...(account && {
      credentials: { username: account.name, password: account.password },
    }),
    ...(options.tls && { sslOptions: options.tls }),
  })
  try {
    await client.connect()
  } catch (error) {
    await client.shutdown().catch(() => undefined)
    throw engineErrorOf(error)
  }
  return new Session(client, options.consistency, options.listener)
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
