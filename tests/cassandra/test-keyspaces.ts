/**
 * Engines on the node that tests share. Each test has its own keyspaces, whose names start with a
 * random database key. Tests of the engine itself need keyspaces without a key. Only one file at a
 * time can use those.
 */
import { randomBytes } from 'node:crypto'
import { databaseEngine } from '../../src/databases/database-engine.ts'
import { around } from '../../src/engine/around.ts'
import { checked } from '../engine/contract/checked.ts'
import { openCassandraEngine } from '../../src/engine/cassandra/engine.ts'
import type { CassandraOptions } from '../../src/engine/cassandra/system/shared-parts.ts'
import type { Engine } from '../../src/engine/contract.ts'
import { databaseKeyFor, databaseKeyOf } from '../../src/engine/database-key.ts'
import { clientOf, engineOptionsOf, type ConnectOptions } from './connect.ts'
import { testNode } from './test-node.ts'

export class TestKeyspaces {
  readonly #connect: ConnectOptions
  readonly #key: string

  private constructor(connect: ConnectOptions, key: string) {
    this.#connect = connect
    this.#key = key
  }

  static async make(): Promise<TestKeyspaces> {
    const id = randomBytes(6).toString('hex')
    return new TestKeyspaces(await testNode(), databaseKeyFor(id))
  }

  /** Keyspaces whose names do not start with a key. */
  static async makePlain(): Promise<TestKeyspaces> {
    return new TestKeyspaces(await testNode(), '')
  }

  /** Name of a keyspace in the cluster. */
  nameOf(keyspace: string): string {
    return this.#key + keyspace
  }

  /**
   * Opens an engine. Several calls act as several servers, or as restarts; port, user and limits
   * can differ.
   */
  async open(
    options: Partial<
      Pick<CassandraOptions, 'port' | 'settingsPollMs' | 'account' | 'limits'>
    > = {},
  ): Promise<Engine> {
    const engine = await openCassandraEngine({
      ...engineOptionsOf(
        this.#connect,
        this.nameOf('stela'),
        this.nameOf('default_keyspace'),
      ),
      replication: {
        class: 'SimpleStrategy',
        counts: new Map([['replication_factor', 1]]),
      },
      ...options,
    })
    if (this.#key === '') return checked(engine)
    const front = databaseEngine(checked(engine), this.#key, (create) => create())
    // `close` of a database engine does not close the wrapped engine, so it is closed here.
    return around(front, { close: () => engine.close() })
  }

  /** Drops the remaining keyspaces. */
  async remove(): Promise<void> {
    const client = clientOf(this.#connect)
    try {
      const { rows } = await client.execute(
        'SELECT keyspace_name FROM system_schema.keyspaces',
      )
      for (const row of rows) {
        const name = row['keyspace_name'] as string
        if (databaseKeyOf(name) === this.#key && !name.startsWith('system'))
          await client.execute(`DROP KEYSPACE "${name}"`, [], { readTimeout: 60_000 })
      }
    } finally {
      await client.shutdown()
    }
  }
}
