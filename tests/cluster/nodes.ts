import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { types } from 'cassandra-driver'
import { openCassandraEngine } from '../../src/engine/cassandra/engine.ts'
import { CassandraCluster } from '../cassandra/cluster.ts'
import { clientOf, engineOptionsOf, tryLogin } from '../cassandra/connect.ts'

describe('a Cassandra cluster', () => {
  let cluster: CassandraCluster
  before(async () => {
    cluster = await CassandraCluster.start({ durable: true })
  })
  after(() => cluster.remove())

  test('allows logins and keeps rows while a node is down, and after it is back', async () => {
    const client = clientOf(cluster.connect)
    await client.execute(
      `CREATE KEYSPACE library WITH replication =
         {'class': 'NetworkTopologyStrategy', 'replication_factor': 3}`,
    )
    await client.execute('CREATE TABLE library.books (id int PRIMARY KEY, title text)')
    await client.execute(
      "INSERT INTO library.books (id, title) VALUES (1, 'Solaris')",
      [],
      {
        consistency: types.consistencies.all,
      },
    )
    await client.shutdown()
    const titleAt = async (position: number, consistency: types.consistencies) => {
      const reader = clientOf(cluster.nodes[position]!.connect)
      try {
        const { rows } = await reader.execute(
          'SELECT title FROM library.books WHERE id = 1',
          [],
          // A read takes seconds until the nodes detect that another node is down.
          { consistency, isIdempotent: true, readTimeout: 60_000 },
        )
        return rows[0]?.get('title') as string | undefined
      } finally {
        await reader.shutdown()
      }
    }
    await cluster.kill(0)
    assert(!(await tryLogin(cluster.nodes[0]!.connect)))
    for (const position of [1, 2])
      assert.equal(await titleAt(position, types.consistencies.quorum), 'Solaris')
    await cluster.restart(0)
    for (const position of [0, 1, 2])
      assert.equal(await titleAt(position, types.consistencies.all), 'Solaris')
  })

  test('shares settings between engines that start on it at the same time', async () => {
    for (let round = 0; round < 5; round++) {
      const options = engineOptionsOf(cluster.connect, `shared_${round}`, `first_${round}`)
      const open = () => openCassandraEngine(options)
      const engines = await Promise.all([open(), open(), open()])
      for (const engine of engines) {
        assert((await engine.listKeyspaces()).includes(`first_${round}`))
        await engine.close()
      }
    }
  })
})
