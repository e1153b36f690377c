/** Two servers in separate processes, on a cluster of three nodes. */
import { CassandraCluster } from '../cassandra/cluster.ts'
import { flagsOf } from '../cassandra/connect.ts'
import { findPort } from '../cassandra/ports.ts'
import { ServerProcess } from '../faults/server-process.ts'
import type { CommandAnswer } from '../harness.ts'
import type { Random } from '../model/random.ts'

export type Place = 0 | 1

export class TwoServers {
  readonly cluster: CassandraCluster
  readonly #servers: [ServerProcess, ServerProcess]
  readonly #adminPorts: readonly [number, number]

  private constructor(
    cluster: CassandraCluster,
    servers: [ServerProcess, ServerProcess],
    adminPorts: readonly [number, number],
  ) {
    this.cluster = cluster
    this.#servers = servers
    this.#adminPorts = adminPorts
  }

  /** Starts both servers at the same time, on a cluster that no server has used. */
  static async start(): Promise<TwoServers> {
    const cluster = await CassandraCluster.start({ durable: true })
    try {
      const ports = [await findPort([address]), await findPort([address])] as const
      const start = (place: Place) => startOn(cluster, ports[place])
      return new TwoServers(cluster, await Promise.all([start(0), start(1)]), ports)
    } catch (error) {
      await cluster.remove()
      throw error
    }
  }

  at(place: Place): ServerProcess {
    return this.#servers[place]
  }

  /** The last output of the servers when all have ended; otherwise undefined. */
  allEnded(): string | undefined {
    const isEnded = ({ child }: ServerProcess) => child.exitCode !== null || child.killed
    return this.#servers.every(isEnded)
      ? this.#servers.map(({ err }) => err.slice(-2_000)).join('\n')
      : undefined
  }

  async restart(place: Place): Promise<void> {
    this.#servers[place] = await startOn(this.cluster, this.#adminPorts[place])
  }

  adminUrl(place: Place): string {
    return `http://${address}:${this.#adminPorts[place]}`
  }

  /** A server for the models of tests/model: sends each command to a server chosen at random. */
  either(random: Random) {
    const command = (path: string, body: string): Promise<CommandAnswer> =>
      this.at(random.pick([0, 1])).command(path, body)
    return {
      command,
      send: command,
      restart: async () => {
        const place = random.pick([0, 1] as const)
        await this.at(place).stop()
        await this.restart(place)
      },
    }
  }

  async close(): Promise<void> {
    await Promise.all(this.#servers.map((server) => server.stop()))
    await this.cluster.remove()
  }
}

const address = '127.0.0.1'

function startOn(cluster: CassandraCluster, adminPort: number): Promise<ServerProcess> {
  const flags = ['--engine', 'cassandra', ...flagsOf(cluster.connect)]
  return ServerProcess.start(undefined, ...flags, '--admin-port', String(adminPort))
}
