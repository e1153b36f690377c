/** Migration between a data folder and a cluster, on a real node. */
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { rm } from 'node:fs/promises'
import { after, before, describe, test } from 'node:test'
import { around } from '../../src/engine/around.ts'
import type { Engine } from '../../src/engine/contract.ts'
import { databaseKeyFor } from '../../src/engine/database-key.ts'
import { openEmbeddedEngine } from '../../src/engine/embedded/engine.ts'
import { EngineError } from '../../src/engine/errors.ts'
import {
  migrate,
  type Migrated,
  type MigrationListener,
} from '../../src/migrate/migrate.ts'
import type { WireDatabase, WireRole, WireToken } from '../admin/admin-server.ts'
import { startStela, type Ran } from '../cli/run-stela.ts'
import {
  startServer,
  temporaryFolder,
  testToken,
  type Answer,
  type TestServer,
} from '../harness.ts'
import { clientOf, flagsOf } from './connect.ts'
import { TestKeyspaces } from './test-keyspaces.ts'
import { testNode } from './test-node.ts'

const quiet: MigrationListener = {
  copying: () => () => undefined,
  copied: () => undefined,
  verifying: () => undefined,
}

/** Documents with numbers and names that stores may represent in several ways. */
const books = [
  { _id: 'a', n: 1, $vector: [0.1, 0.25], $lexical: 'a quick fox' },
  { _id: 2, n: 1e100, price: 12.5, $vector: null, tags: ['x', { y: null }] },
  {
    _id: { $uuid: '6f1c8b1e-1111-4222-8333-444455556666' },
    'a.b': 'ü\u0000"',
    $lexical: null,
  },
  {
    _id: { $date: 1700000000000 },
    $vector: { $binary: 'PoAAAD8AAAA=' },
    deep: { a: [[1]] },
  },
]

const spot = { fields: { x: 'int', y: 'double' } }

const readings = {
  columns: {
    place: 'text',
    hour: 'int',
    words: 'text',
    near: { type: 'vector', dimension: 2 },
    at: { type: 'userDefined', udtName: 'spot' },
    tags: { type: 'set', valueType: 'text' },
    counts: { type: 'map', keyType: 'int', valueType: 'decimal' },
    lasts: 'duration',
    big: 'varint',
    raw: 'blob',
  },
  primaryKey: { partitionBy: ['place'], partitionSort: { hour: -1 } },
}

const rows = [
  {
    ...{
      place: 'Oslo',
      hour: 1,
      words: 'rain and wind',
      near: [0.5, 0.25],
      lasts: 'P1DT2H',
    },
    ...{ tags: ['b', 'a', 'ä'], big: 123456789012345, raw: { $binary: 'AP8=' } },
    ...{
      at: { x: 1, y: 0.5 },
      counts: [
        [10, 1.5],
        [9, 2],
      ],
    },
  },
  { place: 'Oslo', hour: 2 },
  { place: 'Rome', hour: 1, words: '', at: { x: 3 } },
]

/** Sends a command, to another database if the path names one. */
function sendTo(
  server: TestServer,
  path: string,
  body: object,
  token: string,
): Promise<Answer> {
  return server.send(path.startsWith('/databases') ? path : `/v1${path}`, {
    method: 'POST',
    headers: { Token: token, 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  })
}

async function manage<T>(server: TestServer, path: string, body?: object): Promise<T> {
  const response = await fetch(`${server.adminUrl}/v2${path}`, {
    method: body === undefined ? 'GET' : 'POST',
    headers: { Authorization: `Bearer ${testToken}`, 'Content-Type': 'application/json' },
    ...(body && { body: JSON.stringify(body) }),
  })
  assert(response.ok, path)
  return (await response.json()) as T
}

function makeDatabase(server: TestServer, keyspace: string): Promise<WireDatabase> {
  const body = { name: 'second', dbType: 'vector', keyspace }
  return manage<WireDatabase>(server, '/databases', body)
}

async function makeToken(server: TestServer): Promise<string> {
  const roles = await manage<WireRole[]>(server, '/organizations/roles')
  const role = roles.find(({ Name }) => Name === 'Database Administrator')!
  const body = { roles: [role.ID] }
  return (await manage<WireToken>(server, '/clientIdSecrets', body)).token
}

describe('migration between a folder and a cluster', () => {
  let keyspaces: TestKeyspaces
  let dataDir: string
  let token: string
  let other: string
  let told: ReadonlyMap<string, string>

  /** All data that a client can read, as text by path. */
  const readAll = async (server: TestServer, paths: readonly string[]) => {
    const found = new Map<string, string>()
    for (const path of paths) {
      const documents: string[] = []
      let pageState: string | undefined
      do {
        const options = { ...(pageState && { pageState }) }
        const read = { find: { projection: { '*': 1 }, options } }
        const { codes, body } = await sendTo(server, path, read, token)
        assert.deepEqual(codes, [], path)
        const { documents: page, nextPageState } = body.data!
        documents.push(...page!.map((document) => JSON.stringify(document)))
        pageState = nextPageState ?? undefined
      } while (pageState !== undefined)
      found.set(path, documents.toSorted().join('\n'))
    }
    for (const [path, command] of [
      ['/default_keyspace', { findCollections: { options: { explain: true } } }],
      ['/default_keyspace', { listTables: { options: { explain: true } } }],
      ['/default_keyspace', { listTypes: { options: { explain: true } } }],
      ['/default_keyspace/readings', { listIndexes: { options: { explain: true } } }],
      [`/databases/${other}/v1/shop`, { findCollections: {} }],
    ] as const) {
      const { text } = await sendTo(server, path, command, token)
      found.set(`${path} ${Object.keys(command)[0]!}`, text)
    }
    return found
  }
  const paths = () => [
    ...['/default_keyspace/books', '/default_keyspace/readings'],
    `/databases/${other}/v1/shop/orders`,
  ]

  before(async () => {
    keyspaces = await TestKeyspaces.make()
    const server = await startServer({ adminPort: 0 })
    dataDir = server.dataDir
    const send = async (path: string, body: object) => {
      const { codes, text } = await sendTo(server, path, body, testToken)
      assert.deepEqual(codes, [], text)
    }
    other = (await makeDatabase(server, 'shop')).id
    token = await makeToken(server)

    const options = {
      vector: { dimension: 2, metric: 'euclidean' },
      lexical: { enabled: true, analyzer: 'standard' },
      indexing: { deny: ['deep'] },
    }
    await send('/default_keyspace', { createCollection: { name: 'books', options } })
    await send('/default_keyspace/books', { insertMany: { documents: books } })
    await send('/default_keyspace', { createType: { name: 'spot', definition: spot } })
    await send('/default_keyspace', {
      createTable: { name: 'readings', definition: readings },
    })
    const index = (name: string, column: unknown) => ({ name, definition: { column } })
    const table = '/default_keyspace/readings'
    await send(table, { createIndex: index('by_tags', 'tags') })
    await send(table, { createVectorIndex: index('by_near', 'near') })
    await send(table, { createTextIndex: index('by_words', 'words') })
    await send(table, { insertMany: { documents: rows } })
    await send(`/databases/${other}/v1/shop`, {
      createCollection: { name: 'orders', options: { indexing: { deny: ['*'] } } },
    })
    for (let from = 0; from < 300; from += 100) {
      const documents = Array.from({ length: 100 }, (_, i) => ({ _id: from + i, n: i }))
      await send(`/databases/${other}/v1/shop/orders`, { insertMany: { documents } })
    }
    told = await readAll(server, paths())
    await server.stop()
  })

  after(async () => {
    await keyspaces.remove()
    await rm(dataDir, { recursive: true, force: true })
  })

  const withBoth = async <T>(act: (from: Engine, to: Engine) => Promise<T>): Promise<T> => {
    const log = () => undefined
    const from = await openEmbeddedEngine({
      dataDir,
      durable: false,
      searchThreads: 1,
      log,
    })
    const to = await keyspaces.open()
    try {
      return await act(from, to)
    } finally {
      await from.close()
      await to.close()
    }
  }
  const move = () =>
    withBoth(async (from, to) => (await migrate(from, to, quiet)) as Migrated)
  const countsOf = ({ targets }: Migrated) =>
    targets.map(({ name, moved, present, differing, isSame }) => [
      ...[name.replace(/^s_\w{12}__/, ''), moved, present, differing.count, isSame],
    ])

  test('reports all obstacles before it writes anything', async () => {
    await withBoth(async (from, to) => {
      const unexpected = () => Promise.reject(new Error('something was written'))
      const taken = around(to, {
        readSchema: () =>
          Promise.resolve({ targets: [], types: [{ name: 'spot', fields: [] }] }),
        readSetting: async (proceed, name) =>
          name === 'roles' ? { value: '["others"]', version: '1' } : proceed(name),
        ...{ createKeyspace: unexpected, changeSchema: unexpected, write: unexpected },
        writeSetting: unexpected,
      })
      const long = 'k'.repeat(49)
      await from.createKeyspace(long)
      const migration = await migrate(from, taken, quiet)
      assert('obstacles' in migration)
      const [type, name, setting] = migration.obstacles
      assert.match(type!, /^default_keyspace: type spot has other fields/)
      const { length } = keyspaces.nameOf(long)
      assert.match(
        name!,
        new RegExp(
          `k{49}: the name of the keyspace has ${length} characters; the maximum is 48`,
        ),
      )
      assert.match(setting!, /"roles" already exists in the destination/)
      assert.equal(migration.obstacles.length, 3)
      await from.dropKeyspace(long)
    })
  })

  test('continues after an interruption', async () => {
    await withBoth(async (from, to) => {
      let writes = 0
      const failing = around(to, {
        write(proceed, ...given) {
          if (++writes > 2) throw new EngineError('closed', 'the line was cut')
          return proceed(...given)
        },
      })
      await assert.rejects(migrate(from, failing, quiet), /the line was cut/)
      assert.equal(await to.readSetting('tokens'), undefined)
    })
    const moved = await move()
    assert.deepEqual(countsOf(moved), [
      ['default_keyspace.books', 0, 4, 0, true],
      ['default_keyspace.readings', 0, 3, 0, true],
      ['shop.orders', 44, 256, 0, true],
    ])
    assert.deepEqual(moved.settings, ['databases', 'tokens'])
    assert(moved.isSame)
  })

  test('keeps tokens, and the destination returns the same replies to reads', async () => {
    const engine = await keyspaces.open()
    const server = await startServer({ checked: false }, engine)
    try {
      assert.deepEqual(await readAll(server, paths()), told)
      const search = { find: { sort: { $lexical: 'fox' } } }
      const { body } = await server.command('/default_keyspace/books', search)
      assert.deepEqual(
        body.data!.documents!.map(({ _id }) => _id),
        ['a'],
      )
    } finally {
      await server.close()
      await engine.close()
    }
  })

  test('changes nothing when it is repeated', async () => {
    const again = await move()
    assert.deepEqual(countsOf(again), [
      ['default_keyspace.books', 0, 4, 0, true],
      ['default_keyspace.readings', 0, 3, 0, true],
      ['shop.orders', 0, 300, 0, true],
    ])
    assert.deepEqual(again.settings, [])
  })

  test('detects records that were changed at the destination, and keeps the changes', async () => {
    const engine = await keyspaces.open()
    const server = await startServer({ checked: false }, engine)
    const change = { updateOne: { filter: { _id: 7 }, update: { $set: { n: -1 } } } }
    await sendTo(server, `/databases/${other}/v1/shop/orders`, change, token)
    const row = { updateOne: { filter: rows[1], update: { $set: { words: 'new' } } } }
    await server.command('/default_keyspace/readings', row)
    await server.close()
    await engine.close()
    const { targets, isSame } = await move()
    assert(!isSame)
    assert.deepEqual(
      targets.map(({ differing, isSame }) => [differing.some.length, isSame]),
      [
        [0, true],
        [1, false],
        [1, false],
      ],
    )
    assert.match(targets[1]!.differing.some[0]!, /Oslo/)
  })

  const moveBack = async () => {
    const folder = await temporaryFolder()
    const from = await keyspaces.open()
    const log = () => undefined
    const to = await openEmbeddedEngine({
      ...{ dataDir: folder, durable: false, searchThreads: 1, log },
    })
    try {
      return await migrate(from, to, quiet)
    } finally {
      await from.close()
      await to.close()
      await rm(folder, { recursive: true, force: true })
    }
  }

  test('moves a cluster into a folder', async () => {
    const moved = (await moveBack()) as Migrated
    assert.deepEqual(
      moved.targets.map(({ source, isSame }) => [source.count, isSame]),
      [
        [4, true],
        [3, true],
        [300, true],
      ],
    )
  })

  test('names features of CQL tables that a folder does not support', async () => {
    const client = clientOf(await testNode(), {
      keyspace: keyspaces.nameOf('default_keyspace'),
    })
    try {
      for (const columns of [
        'paired (id frozen<tuple<int, text>> PRIMARY KEY, n int)',
        'shared (p int, c int, s text STATIC, t tuple<int, int>, PRIMARY KEY (p, c))',
        'counts (id int PRIMARY KEY, hits counter)',
      ])
        await client.execute(`CREATE TABLE ${columns}`)
      const migration = await moveBack()
      assert('obstacles' in migration)
      const lines = migration.obstacles.map((line) => line.replace(/^\w+\./, ''))
      assert.deepEqual(lines.toSorted(), [
        'counts: the column hits is a counter',
        'paired: the column id is of type frozen<tuple<int, text>>',
        'shared: the column s is static',
        'shared: the column t is of type frozen<tuple<int, int>>',
      ])
      for (const name of ['paired', 'shared', 'counts'])
        await client.execute(`DROP TABLE ${name}`)
    } finally {
      await client.shutdown()
    }
  })
})

describe('stela migrate', () => {
  const key = databaseKeyFor(randomBytes(6).toString('hex'))
  let dataDir: string
  let other = ''

  const run = async (...more: string[]): Promise<Ran> => {
    const where = flagsOf(await testNode())
    const args = [...where, '--system-keyspace', `${key}stela`, ...more]
    const way = ['migrate', '--from', 'embedded', '--to', 'cassandra', '--data', dataDir]
    return startStela([...way, ...args]).ended
  }

  after(async () => {
    const client = clientOf(await testNode())
    for (const keyspace of [
      ...[`${key}stela`, `${key}others`, `${databaseKeyFor(other)}cli`],
    ])
      await client.execute(`DROP KEYSPACE IF EXISTS "${keyspace}"`)
    await client.shutdown()
    await rm(dataDir, { recursive: true, force: true })
  })

  test('reports that the server must be stopped', async () => {
    const server = await startServer({ adminPort: 0 })
    dataDir = server.dataDir
    other = (await makeDatabase(server, 'cli')).id
    const path = `/databases/${other}/v1/cli`
    const options = { indexing: { deny: ['*'] } }
    const creation = { createCollection: { name: 'notes', options } }
    await sendTo(server, path, creation, testToken)
    const insert = { insertMany: { documents: [{ _id: 1 }, { _id: 2 }] } }
    await sendTo(server, `${path}/notes`, insert, testToken)
    await sendTo(server, '', { dropKeyspace: { name: 'default_keyspace' } }, testToken)
    const { code, err } = await run()
    assert.equal(code, 1)
    assert.match(err, /is in use by another running server\. Stop that server/)
    await server.stop()
  })

  test('moves all data, and moves nothing when it is repeated', async () => {
    // Incomplete tables of other clients must not affect the migration.
    const client = clientOf(await testNode())
    await client.execute(
      `CREATE KEYSPACE "${key}others" WITH replication =
         {'class': 'SimpleStrategy', 'replication_factor': 1}`,
    )
    await client.execute(
      `CREATE TABLE "${key}others".lacking
         (key frozen<tuple<tinyint, text>> PRIMARY KEY, doc_json text)`,
    )
    await client.shutdown()
    const first = await run()
    const name = `${databaseKeyFor(other)}cli.notes`
    assert.deepEqual(
      [first.code, first.err.split(' in ')[0]],
      [...[0, `stela: ${name}: 2 documents moved;`]],
    )
    const told = String(first.out).replace(/[0-9a-f]{16} on/, '… on')
    assert.equal(
      told,
      `${name}: 2 documents with checksum … on both sides\n` +
        '1 collection or table: 2 documents and rows moved, 0 already there. ' +
        'Settings moved: databases.\n' +
        'Source and destination are equal.\n' +
        'Start a server on it with: stela serve --engine cassandra\n',
    )
    const again = await run()
    assert.equal(again.code, 0)
    assert.match(again.err, /: 0 documents moved, 2 already there;/)
    assert.match(String(again.out), /Settings moved: none\./)
  })
})
