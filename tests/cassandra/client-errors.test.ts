/**
 * Client errors that can occur only on a cluster. The server reports them with the family REQUEST.
 */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Client } from 'cassandra-driver'
import type { Engine } from '../../src/engine/contract.ts'
import { startServer, type TestServer } from '../harness.ts'
import { clientOf } from './connect.ts'
import { TestKeyspaces } from './test-keyspaces.ts'
import { testNode } from './test-node.ts'

const keyspace = '/default_keyspace'

describe('a client error on a cluster', () => {
  let keyspaces: TestKeyspaces
  let engine: Engine
  let server: TestServer
  let client: Client

  before(async () => {
    keyspaces = await TestKeyspaces.make()
    engine = await keyspaces.open()
    server = await startServer({ checked: false }, engine)
    client = clientOf(await testNode(), {
      keyspace: keyspaces.nameOf('default_keyspace'),
    })
    for (const statement of [
      `CREATE TABLE frozen_ones (k int PRIMARY KEY, l frozen<list<text>>, s frozen<set<int>>,
         m frozen<map<text, int>>, t text)`,
      'CREATE TABLE counts (id int PRIMARY KEY, hits counter)',
      "CREATE INDEX frozen_t ON frozen_ones (t) USING 'sai'",
    ])
      await client.execute(statement)
  })

  after(async () => {
    await client.shutdown()
    await server.close()
    await engine.close()
    await keyspaces.remove()
  })

  const refused = async (target: string, body: object, code: string, ...says: string[]) => {
    const { body: answered, text } = await server.command(keyspace + target, body)
    const [error] = answered.errors ?? []
    assert.deepEqual([error?.errorCode, error?.family], [code, 'REQUEST'], text)
    for (const said of says) assert(error!.message.includes(said), text)
  }
  const update = (filter: object, what: object) => ({ updateOne: { filter, update: what } })

  test('is reported for a change to parts of a frozen list, set or map', async () => {
    for (const what of [
      { $push: { l: 'x' } },
      { $push: { s: { $each: [1] } } },
      { $push: { m: { a: 1 } } },
      { $pullAll: { l: ['x'] } },
      { $pullAll: { m: ['a'] } },
    ])
      await refused(
        '/frozen_ones',
        update({ k: 1 }, what),
        'UNSUPPORTED_UPDATE_OPERATOR',
        'frozen',
      )
  })

  test('is reported for setting or inserting a counter', async () => {
    for (const what of [{ $set: { hits: 1 } }, { $unset: { hits: 1 } }])
      await refused(
        '/counts',
        update({ id: 1 }, what),
        'UNSUPPORTED_UPDATE_OPERATOR',
        'hits',
      )
    for (const insert of [
      { insertOne: { document: { id: 1 } } },
      { insertMany: { documents: [{ id: 1 }, { id: 2 }] } },
      { insertOne: { document: { id: 1, hits: 1 } } },
    ])
      await refused('/counts', insert, 'UNSUPPORTED_COLUMN_TYPES', 'hits')
  })

  test('is not reported for a filter whose value is a text with an unpaired surrogate', async () => {
    const insert = { insertOne: { document: { k: 7, t: 'b', l: ['b'], m: { b: 1 } } } }
    assert.deepEqual((await server.command(`${keyspace}/frozen_ones`, insert)).codes, [])
    const half = '\ud800'
    const cases: readonly (readonly [filter: object, count: number])[] = [
      [{ t: half }, 0],
      [{ t: { $in: ['b', half] } }, 1],
      [{ t: { $ne: half } }, 1],
      [{ t: { $nin: ['b', half] } }, 0],
      [{ t: { $gt: half } }, 0],
      [{ k: 7, t: half }, 0],
      [{ l: { $in: [half] } }, 0],
      [{ l: { $nin: [half] } }, 1],
      [{ m: { $keys: { $in: ['b', half] } } }, 1],
    ]
    for (const [filter, count] of cases) {
      const find = { find: { filter } }
      const { codes, text, body } = await server.command(`${keyspace}/frozen_ones`, find)
      assert.deepEqual(codes, [], `${JSON.stringify(filter)}: ${text}`)
      assert.equal(body.data!.documents!.length, count, JSON.stringify(filter))
    }
  })

  test('is reported for adding a dropped column with another type, and for dropping a column of a user-defined type', async () => {
    const path = '/retyped'
    const made = (target: string, body: object) =>
      server.command(keyspace + target, body).then(({ codes, text }) => {
        assert.deepEqual(codes, [], text)
      })
    const alter = (operation: object) => ({ alterTable: { operation } })
    await made('', { createType: { name: 'spot', definition: { fields: { x: 'int' } } } })
    const columns = { k: 'int', a: 'text', at: { type: 'userDefined', udtName: 'spot' } }
    const definition = { columns, primaryKey: 'k' }
    await made('', { createTable: { name: 'retyped', definition } })
    await made(path, alter({ drop: { columns: ['a'] } }))
    await refused(
      path,
      alter({ add: { columns: { a: 'int' } } }),
      'CANNOT_ADD_PREVIOUSLY_DROPPED_COLUMN',
      'another column name',
    )
    await made(path, alter({ add: { columns: { a: 'text' } } }))
    const drop = alter({ drop: { columns: ['at'] } })
    await refused(path, drop, 'CANNOT_DROP_USER_DEFINED_COLUMNS', '$unset')
  })

  test('is reported for a set of durations', async () => {
    const columns = { k: 'int', d: { type: 'set', valueType: 'duration' } }
    const definition = { columns, primaryKey: 'k' }
    await refused(
      '',
      { createTable: { name: 'durations', definition } },
      'UNSUPPORTED_SET_DEFINITION',
      'duration',
    )
    const add = { columns: { d: columns.d } }
    await refused(
      '/frozen_ones',
      { alterTable: { operation: { add } } },
      'UNSUPPORTED_SET_DEFINITION',
    )
  })
})
