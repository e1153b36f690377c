/** Stela and PostgreSQL, each with its data, as they are started and measured. */
import { Client, requestBytes } from '../client.ts'
import { collectionPath } from '../dataset.ts'
import type { Drive, Tally } from '../drive.ts'
import { ProcessTree } from '../process-tree.ts'
import { Stela, token, type StelaOptions } from '../processes.ts'
import { PostgresClient, type Statements } from './client.ts'
import { executeMessage } from './messages.ts'
import { statements, type Asked } from './requests.ts'
import { Cluster, Postgres, type Installation } from './server.ts'

/** Connections of the load generator to a server. */
export interface Connected {
  drive(drive: Drive): Promise<Tally>
  close(): void
}

/** A running server. */
export interface Running {
  readonly port: number
  readonly tree: ProcessTree
  stop(): Promise<void>
}

/** A server that can be started several times on the same data. */
export interface Contestant {
  readonly name: string
  start(): Promise<Running>
  /** `prepared`: the statements to prepare on PostgreSQL; by default those of all requests. */
  connect(port: number, connections: number, prepared?: Statements): Promise<Connected>
  /** The bytes of a request. */
  bytesOf(asked: Asked): Buffer
  remove(): void
}

export function stelaIn(dataDir: string, options: StelaOptions): Contestant {
  return {
    name: 'Stela',
    async start() {
      const server = await Stela.start(dataDir, options)
      const tree = new ProcessTree(server.pid)
      return { port: server.port, tree, stop: () => server.stop() }
    },
    connect: (port, connections) => Client.connect(port, connections),
    bytesOf: ({ body }) => requestBytes(collectionPath, token, body),
    remove: () => undefined,
  }
}

export function postgresFrom(installation: Installation): Contestant {
  const cluster = Cluster.create(installation)
  return {
    name: 'PostgreSQL',
    start: () => Postgres.start(installation, cluster),
    connect: (port, connections, prepared = statements) =>
      PostgresClient.connect(port, connections, prepared),
    bytesOf: ({ statement, values }) => executeMessage(statement, values),
    remove: () => cluster.remove(),
  }
}
