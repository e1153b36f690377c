/** Three real nodes; each one can be killed and started again. */
import { types } from 'cassandra-driver'
import { setTimeout as sleep } from 'node:timers/promises'
import { clientOf, type ConnectOptions } from './connect.ts'
import { CassandraNode, install, ringOf, type NodeOptions } from './node.ts'

const addresses = ['127.0.0.1', '127.0.0.2', '127.0.0.3']

/** Maximum time in milliseconds until each node notices that all other nodes are up. */
const noticeMsMax = 60_000

export class CassandraCluster {
  readonly nodes: readonly CassandraNode[]
  /** Connection settings with all nodes as contact points. */
  readonly connect: ConnectOptions

  private constructor(nodes: readonly CassandraNode[]) {
    this.nodes = nodes
    this.connect = { ...nodes[0]!.connect, contactPoints: addresses }
  }

  static async start(options: NodeOptions): Promise<CassandraCluster> {
    const ring = await ringOf(addresses, options)
    const installation = await install()
    const nodes = await Promise.all(
      addresses.map((address) => CassandraNode.create(installation, ring, address)),
    )
    const cluster = new CassandraCluster(nodes)
    try {
      await Promise.all(nodes.map((node) => node.start()))
      await cluster.#allSeeAll()
      return cluster
    } catch (error) {
      await cluster.remove()
      throw error
    }
  }

  kill(position: number): Promise<void> {
    return this.nodes[position]!.kill()
  }

  /** Restarts a stopped node with its existing data. */
  async restart(position: number): Promise<void> {
    await this.nodes[position]!.start()
    if (this.nodes.every((node) => node.isRunning)) await this.#allSeeAll()
  }

  /** Stops all nodes and removes their data. */
  async remove(): Promise<void> {
    await Promise.all(this.nodes.map((node) => node.remove()))
  }

  /** Resolves once each node can read a row with consistency ALL. */
  async #allSeeAll(): Promise<void> {
    const deadline = Date.now() + noticeMsMax
    for (const node of this.nodes) {
      const client = clientOf(node.connect)
      try {
        for (;;)
          try {
            await client.execute(roleQuery, [], { consistency: types.consistencies.all })
            break
          } catch (error) {
            if (Date.now() > deadline) throw error
            await sleep(100)
          }
      } finally {
        await client.shutdown()
      }
    }
  }
}

/** Reads a row of the roles, which are replicated to all nodes. */
const roleQuery = "SELECT role FROM system_auth.roles WHERE role = 'cassandra'"
