/** The schema cache of a server while CQL clients change the schema of the cluster. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Client } from 'cassandra-driver'
import { ClusterCatalog } from '../../src/engine/cassandra/catalog/catalog.ts'
import { defaultConsistency } from '../../src/engine/cassandra/cluster/consistency.ts'
import { Session } from '../../src/engine/cassandra/cluster/session.ts'
import type { Engine } from '../../src/engine/contract.ts'
import { apache } from '../engine/cassandra/capabilities.ts'
import { clientOf } from './connect.ts'
import { TestKeyspaces } from './test-keyspaces.ts'
import { testNode } from './test-node.ts'

describe('the catalog of a cluster', () => {
  let keyspaces: TestKeyspaces
  let engine: Engine
  let keyspace: string
  let client: Client
  let catalog: ClusterCatalog
  /**
   * A function that is called and awaited after each statement, so that tests can pause a
   * refresh.
   */
  let gate: () => Promise<undefined> | undefined

  before(async () => {
    keyspaces = await TestKeyspaces.make()
    engine = await keyspaces.open()
    keyspace = keyspaces.nameOf('default_keyspace')
    client = clientOf(await testNode(), { keyspace, encoding: { map: Map, set: Set } })
    const session = Session.open(async (act) => {
      const answered = await act(client)
      await gate()
      return answered
    }, defaultConsistency)
    const none = { enabled: false } as const
    const defaults = { lexical: none, rerank: none }
    catalog = new ClusterCatalog(session, defaults, apache, keyspaces.nameOf('stela'))
  })
  after(async () => {
    await client.shutdown()
    await engine.close()
    await keyspaces.remove()
  })

  /**
   * Starts a refresh. The reads that follow the read of the schema version wait until
   * `release` is called.
   */
  async function startHeldRefresh() {
    const held = Promise.withResolvers<undefined>()
    const reached = Promise.withResolvers<undefined>()
    let statements = 0
    gate = () => {
      if (++statements === 1) return undefined
      reached.resolve(undefined)
      return held.promise
    }
    const done = catalog.refresh(keyspace)
    await reached.promise
    gate = () => undefined
    return {
      async release() {
        held.resolve(undefined)
        await done
      },
    }
  }

  /** Creates a table, lets the catalog read its definition, and then changes the table. */
  async function changedTable(name: string): Promise<void> {
    gate = () => undefined
    await client.execute(`CREATE TABLE ${name} (id int PRIMARY KEY, word text)`)
    assert(await catalog.find(keyspace, name))
    await client.execute(`CREATE INDEX ${name}_word ON ${name} (word) USING 'sai'`)
  }

  test('keeps the current definition of a table that two refreshes read concurrently', async () => {
    await changedTable('twice')
    const slow = await startHeldRefresh()
    await catalog.refresh(keyspace)
    const table = await catalog.find(keyspace, 'twice')
    await slow.release()
    await catalog.checkCurrent(table!)
    await catalog.checkCurrent(table!, 'now')
    assert(catalog.isCurrent(table!))
  })

  test('ignores the outdated result of a slow refresh after a newer refresh', async () => {
    await changedTable('overtaken')
    const slow = await startHeldRefresh()
    await client.execute('ALTER TABLE overtaken ADD late int')
    await catalog.refresh(keyspace)
    const table = await catalog.find(keyspace, 'overtaken')
    await client.execute('CREATE TABLE unrelated (id int PRIMARY KEY)')
    await slow.release()
    await catalog.checkCurrent(table!, 'now')
  })
})
