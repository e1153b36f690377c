/** Moving from a data folder to a cluster, on a real node. */
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
import { startStela, type Ran } from '../cli/run-stela.ts'
import { startServer, temporaryFolder, testToken, type TestServer } from '../harness.ts'
import { TestKeyspaces } from './test-keyspaces.ts'
import { testNode } from './test-node.ts'

const quiet: MigrationListener = {
  copying: () => () => undefined,
  copied: () => undefined,
  verifying: () => undefined,
}

/** Numbers and names that stores may spell otherwise. */
const books = [
  { _id: 'a', n: 1, $vector: [0.1, 0.25], $lexical: 'a quick fox' },
  { _id: 2, n: 1e100, price: 12.5, $vector: null, tags: ['x', { y: null }] },
  { _id: { $uuid: '6f1c8b1e-1111-4222-8333-444455556666' }, 'a.b': 'ü\u0000"', $lexical: null },
  { _id: { $date: 1700000000000 }, $vector: { $binary: 'PoAAAD8AAAA=' }, deep: { a: [[1]] } },
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
    ...{ place: 'Oslo', hour: 1, words: 'rain and wind', near: [0.5, 0.25], lasts: 'P1DT2H' },
    ...{ tags: ['b', 'a', 'ä'], big: 123456789012345, raw: { $binary: 'AP8=' } },
    ...{ at: { x: 1, y: 0.5 }, counts: [[10, 1.5], [9, 2]] },
  },
  { place: 'Oslo', hour: 2 },
  { place: 'Rome', hour: 1, words: '', at: { x: 3 } },
]

describe('moving from a folder to a cluster', () => {
  let keyspaces: TestKeyspaces
  let dataDir: string
  let token: string
  let other: string
  let told: ReadonlyMap<string, string>

  /** Everything that a client can read, as it is told. */
  const readAll = async (server: TestServer, paths: readonly string[]) => {
    const found = new Map<string, string>()
    for (const path of paths) {
      const read = { find: { projection: { '*': 1 }, options: { limit: 1000 } } }
      const { codes, body } = await server.command(path, read, { Token: token })
      assert.deepEqual(codes, [], path)
      const documents = body.data!.documents!.map((document) => JSON.stringify(document))
      found.set(path, documents.toSorted().join('\n'))
    }
    for (const [path, command] of [
      ['/default_keyspace', { findCollections: { options: { explain: true } } }],
      ['/default_keyspace', { listTables: { options: { explain: true } } }],
      ['/default_keyspace', { listTypes: { options: { explain: true } } }],
      ['/default_keyspace/readings', { listIndexes: { options: { explain: true } } }],
      [`/${other}/shop`, { findCollections: {} }],
    ] as const) {
      const { text } = await server.command(path, command, { Token: token })
      found.set(`${path} ${Object.keys(command)[0]!}`, text)
    }
    return found
  }
  const paths = () => [
    ...['/default_keyspace/books', '/default_keyspace/readings'],
    `/${other}/shop/orders`,
  ]

  before(async () => {
    keyspaces = await TestKeyspaces.make()
    const server = await startServer({ adminPort: 0 })
    dataDir = server.dataDir
    const send = async (path: string, body: object) => {
      const { codes, text } = await server.command(path, body)
      assert.deepEqual(codes, [], text)
    }
    const manage = async (path: string, body: object) => {
      const headers = {
        Authorization: `Bearer ${testToken}`,
        'Content-Type': 'application/json',
      }
      const request = { method: 'POST', headers, body: JSON.stringify(body) }
      return fetch(`${server.adminUrl}${path}`, request)
    }
    const made = await manage('/v2/databases', { name: 'second', keyspace: 'shop' })
    other = made.headers.get('location')!
    const roles = (await (
      await fetch(`${server.adminUrl}/v2/organizations/roles`, {
        headers: { Authorization: `Bearer ${testToken}` },
      })
    ).json()) as { id: string; name: string }[]
    const role = roles.find(({ name }) => name === 'Database Administrator')!
    const created = await manage('/v2/tokens', { roles: [role.id] })
    token = ((await created.json()) as { token: string }).token

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
    await send(`/${other}/shop`, { createCollection: { name: 'orders' } })
    for (let from = 0; from < 600; from += 100) {
      const documents = Array.from({ length: 100 }, (_, i) => ({ _id: from + i, n: i }))
      await send(`/${other}/shop/orders`, { insertMany: { documents } })
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
    const from = await openEmbeddedEngine({ dataDir, durable: false, searchThreads: 1, log })
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

  test('names what is in the way before anything is written', async () => {
    await withBoth(async (from, to) => {
      await to.createKeyspace('default_keyspace')
      await to.changeSchema('default_keyspace', () => ({
        ...{ kind: 'createType', name: 'spot', fields: [{ name: 'z', type: 'int' }] },
      }))
      await to.writeSetting('roles', '["others"]', undefined)
      const long = 'k'.repeat(49)
      await from.createKeyspace(long)
      const migration = await migrate(from, to, quiet)
      assert('obstacles' in migration)
      const [name, type, setting] = migration.obstacles
      assert.match(name!, /default_keyspace: type spot has other fields there already/)
      assert.match(type!, /^k{49}: the name of a keyspace may have 48 characters/)
      assert.match(setting!, /"roles" is there already/)
      assert.equal(migration.obstacles.length, 3)
      assert.deepEqual((await to.readSchema('default_keyspace'))!.targets, [])
      await from.dropKeyspace(long)
    })
    await keyspaces.remove()
  })

  test('stops where it is interrupted, and goes on there', async () => {
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
      ['shop.orders', 344, 256, 0, true],
    ])
    assert.deepEqual(moved.settings, ['databases', 'tokens'])
    assert(moved.isSame)
  })

  test('serves the same from the cluster, with the same tokens', async () => {
    const engine = await keyspaces.open()
    const server = await startServer({ checked: false }, engine)
    try {
      assert.deepEqual(await readAll(server, paths()), told)
      const search = { find: { sort: { $lexical: 'fox' } } }
      const { body } = await server.command('/default_keyspace/books', search)
      assert.deepEqual(body.data!.documents!.map(({ _id }) => _id), ['a'])
    } finally {
      await server.close()
      await engine.close()
    }
  })

  test('changes nothing when it is run again', async () => {
    const again = await move()
    assert.deepEqual(countsOf(again), [
      ['default_keyspace.books', 0, 4, 0, true],
      ['default_keyspace.readings', 0, 3, 0, true],
      ['shop.orders', 0, 600, 0, true],
    ])
    assert.deepEqual(again.settings, [])
  })

  test('notices what was changed in between, and leaves it', async () => {
    const engine = await keyspaces.open()
    const server = await startServer({ checked: false }, engine)
    const change = { updateOne: { filter: { _id: 7 }, update: { $set: { n: -1 } } } }
    await server.command(`/${other}/shop/orders`, change)
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

  test('goes back into a folder by the same way', async () => {
    const folder = await temporaryFolder()
    const from = await keyspaces.open()
    const log = () => undefined
    const to = await openEmbeddedEngine({
      ...{ dataDir: folder, durable: false, searchThreads: 1, log },
    })
    try {
      const moved = (await migrate(from, to, quiet)) as Migrated
      assert.deepEqual(
        moved.targets.map(({ source, isSame }) => [source.count, isSame]),
        [
          [4, true],
          [3, true],
          [600, true],
        ],
      )
    } finally {
      await from.close()
      await to.close()
      await rm(folder, { recursive: true, force: true })
    }
  })
})

describe('stela migrate', () => {
  const key = databaseKeyFor(randomBytes(6).toString('hex'))
  let dataDir: string

  const run = async (...more: string[]): Promise<Ran> => {
    const { contactPoints, port, user, password } = await testNode()
    const where = ['--contact-points', contactPoints.join(), '--cassandra-port', String(port)]
    const who = ['--cassandra-user', user, '--cassandra-password', password]
    const args = [...where, ...who, '--system-keyspace', `${key}stela`, ...more]
    const way = ['migrate', '--from', 'embedded', '--to', 'cassandra', '--data', dataDir]
    return startStela([...way, ...args]).ended
  }

  after(async () => {
    const engine = await (await TestKeyspaces.makePlain()).open()
    await engine.close()
    await rm(dataDir, { recursive: true, force: true })
  })

  test('says that the server must be stopped', async () => {
    const server = await startServer()
    dataDir = server.dataDir
    const { code, err } = await run()
    assert.equal(code, 1)
    assert.match(err, /is in use by a running server; stop it first/)
    await server.stop()
  })
})
