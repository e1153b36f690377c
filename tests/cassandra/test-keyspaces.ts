/**
 * Engines on the node that tests share. Tests have keyspaces of their own there: their names
 * start with a key, as those of a database do. Tests of the engine itself, which say what
 * keyspaces are called, have those without one; only one file can do that at a time.
 */
import { randomBytes } from 'node:crypto'
import { databaseEngine } from '../../src/databases/database-engine.ts'
import { around } from '../../src/engine/around.ts'
import { checked } from '../../src/engine/checked.ts'
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

  /** Those without a key. */
  static async makePlain(): Promise<TestKeyspaces> {
    return new TestKeyspaces(await testNode(), '')
  }

  /** What the cluster calls a keyspace. */
  nameOf(keyspace: string): string {
    return this.#key + keyspace
  }

  /** Any number of times, as several servers, or one after the other; by another port or user, or with other limits. */
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
    // The one of a database leaves closing to those who opened the engine.
    return around(front, { close: () => engine.close() })
  }

  /** Drops all that is left. */
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
