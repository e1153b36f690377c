/** Users of the cluster, who authenticate requests with their names and passwords. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { accountToken } from '../../src/auth/tokens.ts'
import type { Engine } from '../../src/engine/contract.ts'
import { startServer, type TestServer } from '../harness.ts'
import { clientOf } from './connect.ts'
import { indexesMax } from './node-config.ts'
import { TestKeyspaces } from './test-keyspaces.ts'
import { testNode } from './test-node.ts'

describe('users of the cluster', () => {
  const reader = { name: `reader_${process.pid}`, password: 'reads: "all"' }
  const maker = { name: `maker_${process.pid}`, password: 'makes' }
  const path = '/default_keyspace/books'
  let keyspaces: TestKeyspaces
  let engine: Engine
  let server: TestServer

  before(async () => {
    keyspaces = await TestKeyspaces.make()
    engine = await keyspaces.open()
    server = await startServer({ checked: false, adminPort: 0 }, engine)
    const created = await server.command('/default_keyspace', {
      createCollection: { name: 'books' },
    })
    assert.deepEqual(created.codes, [], created.text)
    await server.command(path, { insertOne: { document: { _id: 1, n: 1 } } })
    const keyspace = keyspaces.nameOf('default_keyspace')
    await asSuperuser(
      createRole(reader),
      createRole(maker),
      `GRANT SELECT ON KEYSPACE "${keyspace}" TO ${reader.name}`,
      `GRANT CREATE ON KEYSPACE "${keyspace}" TO ${maker.name}`,
    )
  })

  after(async () => {
    for (const { name } of [reader, maker]) await asSuperuser(`DROP ROLE IF EXISTS ${name}`)
    await server.close()
    await engine.close()
    await keyspaces.remove()
  })

  const as = (account: { name: string; password: string }, body: object, to = path) =>
    server.command(to, body, { Token: accountToken(account) })

  test('have only the permissions of their roles', async () => {
    const found = await as(reader, { find: {} })
    assert.deepEqual(found.body.data?.documents, [{ _id: 1, n: 1 }], found.text)
    const insert = { insertOne: { document: { _id: 2 } } }
    const refused: readonly (readonly [object, string])[] = [
      [insert, path],
      [{ deleteMany: { filter: {} } }, path],
      [{ createCollection: { name: 'more' } }, '/default_keyspace'],
      [{ createKeyspace: { name: 'more' } }, ''],
      [{ deleteCollection: { name: 'books' } }, '/default_keyspace'],
    ]
    for (const [body, to] of refused) {
      const { codes, text } = await as(reader, body, to)
      assert.deepEqual(codes, ['UNAUTHORIZED_ACCESS'], text)
      assert.match(text, /The cluster user that acts for this token may not/)
    }
    const { user: name, password } = await testNode()
    assert.deepEqual((await as({ name, password }, insert)).codes, [])
    const count = { countDocuments: {} }
    assert.deepEqual((await as(reader, count)).body.status, { count: 2 })
  })

  test('can create a collection without permission to read which indexes are ready', async () => {
    const options = { indexing: { deny: ['*'] }, lexical: { enabled: false } }
    const create = { createCollection: { name: 'own', options } }
    const { codes, text } = await as(maker, create, '/default_keyspace')
    assert.deepEqual(codes, [], text)
  })

  test('cannot create any part of a collection that needs more indexes than the cluster allows', async () => {
    const create = (name: string, options: object) =>
      as(maker, { createCollection: { name, options } }, '/default_keyspace')
    const { codes, text } = await create('searched', { vector: { dimension: 2 } })
    assert.deepEqual(codes, ['TOO_MANY_INDEXES_FOR_COLLECTION'], text)
    assert.match(text, new RegExp(`searched.* requires ${indexesMax + 1} indexes`))
    const listed = await as(maker, { findCollections: {} }, '/default_keyspace')
    const names = listed.body.status!['collections'] as string[]
    assert(!names.includes('searched'), listed.text)
    assert.deepEqual((await create('plain', {})).codes, [])
  })

  test('get an error that explains the maximum number of indexes per table', async () => {
    const columns = Array.from({ length: indexesMax + 1 }, (_, at) => `c${at}`)
    const definition = {
      columns: Object.fromEntries(['p', ...columns].map((name) => [name, 'int'])),
      primaryKey: 'p',
    }
    const made = await as(
      maker,
      { createTable: { name: 'wide', definition } },
      '/default_keyspace',
    )
    assert.deepEqual(made.codes, [], made.text)
    const answers = []
    for (const column of columns)
      answers.push(
        await as(
          maker,
          { createIndex: { name: `wide_${column}`, definition: { column } } },
          '/default_keyspace/wide',
        ),
      )
    const last = answers.pop()!
    for (const { codes, text } of answers) assert.deepEqual(codes, [], text)
    assert.deepEqual(last.codes, ['UNSUPPORTED_DATABASE_QUERY'], last.text)
    assert.match(last.text, new RegExp(`more than ${indexesMax} `))
  })

  test('are rejected with a wrong password, and under unknown names', async () => {
    for (const account of [
      { ...reader, password: 'guessed' },
      { name: 'nobody', password: 'x' },
      { name: '', password: '' },
    ]) {
      const { http, codes } = await as(account, { find: {} })
      assert.deepEqual([http, codes], [401, ['UNAUTHENTICATED_REQUEST']])
    }
  })

  test('cannot manage tokens or databases', async () => {
    const answer = await fetch(`${server.adminUrl}/v2/databases`, {
      method: 'POST',
      headers: {
        Authorization: `Bearer ${accountToken(reader)}`,
        'Content-Type': 'application/json',
      },
      body: JSON.stringify({ name: 'mine' }),
    })
    assert.equal(answer.status, 403)
  })

  test('change keyspaces through the management API as their roles permit', async () => {
    const listed = await manage(reader, 'GET', '')
    const [{ id }] = (await listed.json()) as [{ id: string }]
    const made = await manage(reader, 'POST', `/${id}/keyspaces/more`)
    assert.deepEqual([made.status, await engine.readSchema('more')], [403, undefined])
    const dropped = await manage(reader, 'DELETE', `/${id}/keyspaces/default_keyspace`)
    assert.equal(dropped.status, 403)
    assert.notEqual(await engine.readSchema('default_keyspace'), undefined)
    const { user: name, password } = await testNode()
    const superuser = { name, password }
    const path = `/${id}/keyspaces/theirs`
    assert.equal((await manage(superuser, 'POST', path)).status, 201)
    assert.equal((await manage(superuser, 'DELETE', path)).status, 202)
  })

  const manage = (
    account: { name: string; password: string },
    method: string,
    path: string,
  ) =>
    fetch(`${server.adminUrl}/v2/databases${path}`, {
      method,
      headers: { Authorization: `Bearer ${accountToken(account)}` },
    })

  test('cannot access the internal keyspace of the servers, nor can holders of tokens', async () => {
    const { user: name, password } = await testNode()
    const holders = [{}, { Token: accountToken({ name, password }) }]
    const path = '/stela'
    for (const headers of holders) {
      for (const [body, to] of [
        [{ listTables: {} }, path],
        [{ find: {} }, `${path}/settings`],
        [{ createCollection: { name: 'more' } }, path],
      ] as const) {
        const { codes, text } = await server.command(to, body, headers)
        assert.deepEqual(codes, ['UNKNOWN_KEYSPACE'], text)
      }
      const drop = { dropKeyspace: { name: 'stela' } }
      assert.deepEqual((await server.command('', drop, headers)).body.status, { ok: 1 })
      const create = { createKeyspace: { name: 'stela' } }
      const { codes } = await server.command('', create, headers)
      assert.deepEqual(codes, ['UNSUPPORTED_DATABASE_QUERY'])
    }
    const tables = await selectRows(
      'SELECT table_name FROM system_schema.tables WHERE keyspace_name = ?',
      keyspaces.nameOf('stela'),
    )
    assert(tables.length > 0)
  })
})

test('a server starts with the documented minimum of permissions', async () => {
  const keyspaces = await TestKeyspaces.make()
  const system = keyspaces.nameOf('stela')
  const account = { name: `server_${process.pid}`, password: 'serves' }
  await asSuperuser(createRole(account))
  try {
    await assert.rejects(keyspaces.open({ account }), {
      kind: 'unauthorized',
      message:
        /^the cluster user of the server may not .* or choose another one with --system-keyspace/,
    })
    await asSuperuser(
      `CREATE KEYSPACE "${system}" WITH replication =
         {'class': 'SimpleStrategy', 'replication_factor': 1}`,
      ...['CREATE', 'SELECT', 'MODIFY'].map(
        (right) => `GRANT ${right} ON KEYSPACE "${system}" TO ${account.name}`,
      ),
    )
    const engine = await keyspaces.open({ account })
    const keyspacesFound = await engine.listKeyspaces()
    await engine.close()
    assert.deepEqual(keyspacesFound, [])
  } finally {
    await asSuperuser(`DROP ROLE ${account.name}`)
    await keyspaces.remove()
  }
})

function createRole({ name, password }: { name: string; password: string }): string {
  return `CREATE ROLE ${name} WITH LOGIN = true AND PASSWORD = '${password}'`
}

async function selectRows(text: string, value: string): Promise<readonly unknown[]> {
  const client = clientOf(await testNode())
  try {
    return (await client.execute(text, [value], { prepare: true })).rows
  } finally {
    await client.shutdown()
  }
}

async function asSuperuser(...statements: string[]): Promise<void> {
  const client = clientOf(await testNode())
  try {
    for (const statement of statements) await client.execute(statement)
  } finally {
    await client.shutdown()
  }
}
