/** Tables that were dropped and created again with the same name and other column types. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Client } from 'cassandra-driver'
import { schemaCacheMs } from '../../src/engine/cassandra/catalog/catalog.ts'
import type { Engine } from '../../src/engine/contract.ts'
import { startServer, type TestServer } from '../harness.ts'
import { clientOf } from './connect.ts'
import { TestKeyspaces } from './test-keyspaces.ts'
import { testNode } from './test-node.ts'

/** Column types with a value of each. */
const values = {
  text: 'x',
  int: 7,
  bigint: 8,
  double: 1.5,
  boolean: true,
  uuid: '00000000-0000-4000-8000-000000000000',
  timestamp: '2024-01-02T03:04:05Z',
  date: '2024-01-02',
  decimal: 2.5,
} as const
type TypeName = keyof typeof values

const pairs: readonly (readonly [TypeName, TypeName])[] = [
  ['int', 'text'],
  ['text', 'int'],
  ['uuid', 'bigint'],
  ['double', 'timestamp'],
  ['boolean', 'date'],
  ['decimal', 'uuid'],
]

describe('a table that was dropped and created again with other types', () => {
  let keyspaces: TestKeyspaces
  let engines: Engine[]
  let servers: TestServer[]
  let client: Client

  const send = async (server: TestServer, target: string, body: object) => {
    const { codes, text, body: answered } = await server.command(target, body)
    assert.deepEqual(codes, [], `${JSON.stringify(body)}: ${text}`)
    return answered
  }

  before(async () => {
    keyspaces = await TestKeyspaces.make()
    engines = [await keyspaces.open(), await keyspaces.open()]
    servers = []
    for (const engine of engines)
      servers.push(await startServer({ checked: false }, engine))
    client = clientOf(await testNode())
  })

  after(async () => {
    await client.shutdown()
    for (const server of servers) await server.close()
    for (const engine of engines) await engine.close()
    await keyspaces.remove()
  })

  const create = (k: TypeName, a: TypeName, keyspace: string) =>
    send(servers[0]!, keyspace, {
      createTable: {
        name: 'again',
        definition: { columns: { k, a }, primaryKey: 'k' },
      },
    })

  /** Writes, reads, updates and deletes a row. */
  const use = async (server: TestServer, k: TypeName, a: TypeName, keyspace: string) => {
    const path = `${keyspace}/again`
    const row = { k: values[k], a: values[a] }
    const filter = { k: values[k] }
    await send(server, path, { insertOne: { document: row } })
    const { data } = await send(server, path, { findOne: { filter } })
    assert.deepEqual(data!.document, row)
    const update = { $set: { a: values[a] } }
    await send(server, path, { updateOne: { filter, update } })
    const found = await send(server, path, { find: { filter: { ...row } } })
    assert.deepEqual(found.data!.documents, [row])
    await send(server, path, { deleteOne: { filter } })
  }

  const others = async () => {
    // Waits until the cached schemas of other servers have expired.
    await new Promise((resolve) => setTimeout(resolve, schemaCacheMs + 100))
  }

  test('accepts reads and writes on the server that dropped and created the table', async () => {
    const [server] = servers
    const keyspace = '/default_keyspace'
    for (const [k, a] of pairs) {
      await create(k, a, keyspace)
      await use(server!, k, a, keyspace)
      await send(server!, keyspace, { dropTable: { name: 'again' } })
    }
  })

  test('accepts reads and writes on other servers', async () => {
    const keyspace = '/default_keyspace'
    for (const [k, a] of pairs.slice(0, 3)) {
      await create(k, a, keyspace)
      await others()
      await use(servers[1]!, k, a, keyspace)
      await send(servers[0]!, keyspace, { dropTable: { name: 'again' } })
    }
  })

  test('accepts reads and writes when its keyspace was also dropped and created again', async () => {
    const [server] = servers
    for (const [k, a] of pairs.slice(0, 3)) {
      await send(server!, '', { createKeyspace: { name: 'other' } })
      await create(k, a, '/other')
      await use(server!, k, a, '/other')
      await send(server!, '', { dropKeyspace: { name: 'other' } })
    }
  })

  test('accepts reads and writes when CQL created the table', async () => {
    const keyspace = '/default_keyspace'
    const name = `"${keyspaces.nameOf('default_keyspace')}".again`
    for (const [k, a] of pairs.slice(0, 3)) {
      await client.execute(`DROP TABLE IF EXISTS ${name}`)
      await client.execute(`CREATE TABLE ${name} (k ${k} PRIMARY KEY, a ${a})`)
      await others()
      for (const server of servers) await use(server, k, a, keyspace)
    }
  })
})
