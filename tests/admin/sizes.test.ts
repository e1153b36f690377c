/** Sizes of collections and lists of slow commands in the management API. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fixedLimits } from '../../src/limits.ts'
import { openMemoryEngine } from '../engine/memory/memory-engine.ts'
import { MemoryStore } from '../engine/memory/memory-store.ts'
import { startServer, testToken } from '../harness.ts'
import { AdminServer } from './admin-server.ts'

interface WireSize {
  readonly keyspace: string
  readonly name: string
  readonly kind: string
  readonly documents?: number
  readonly bytes?: number
  readonly vectors?: {
    readonly count: number
    readonly memoryBytes: number
    readonly diskBytes: number
  }
}

interface WireSlowCommands {
  readonly server: {
    readonly host: string
    readonly process: number
    readonly startedAt: string
  }
  readonly slowerThanMs: number
  readonly commands: readonly Record<string, string | number>[]
}

// At most two stores are open at a time, and every command counts as slow.
const admin = new AdminServer({ openStoresMax: 2, slowCommandMs: 1e-9 }, async (server) => {
  const home = '/default_keyspace'
  const options = { vector: { dimension: 2 } }
  await server.command(home, { createCollection: { name: 'points', options } })
  const documents = [{ $vector: [1, 0] }, { $vector: [0, 1] }, {}]
  await server.command(`${home}/points`, { insertMany: { documents } })
  await server.command(`${home}/points`, { findOne: { sort: { $vector: [1, 1] } } })
  for (const name of ['a', 'b', 'c', 'd'])
    await server.command(home, { createCollection: { name } })
  const texts = Array.from({ length: 100 }, (_, i) => `${i}`.padEnd(1_000, 'x'))
  await server.command(`${home}/a`, { insertOne: { document: { texts } } })
  const columns = { id: 'int', text: 'text' }
  const definition = { columns, primaryKey: 'id' }
  await server.command(home, { createTable: { name: 'rows', definition } })
  await server.command(`${home}/rows`, {
    insertMany: { documents: [{ id: 1 }, { id: 2 }] },
  })
})

async function homeId(): Promise<string> {
  return (await admin.ask<{ id: string }[]>('GET', '/databases'))[0]!.id
}

async function sizes(database: string, token?: string): Promise<readonly WireSize[]> {
  const { collections } = await admin.ask<{ collections: WireSize[] }>(
    'GET',
    `/databases/${database}/sizes`,
    token === undefined ? {} : { token },
  )
  return collections
}

test('the list of sizes includes every collection and table, whether its store is open or closed', async () => {
  const found = await sizes(await homeId())
  const short = found.map(({ keyspace, name, kind, documents }) => {
    return [keyspace, name, kind, documents]
  })
  assert.deepEqual(short, [
    ['default_keyspace', 'a', 'collection', 1],
    ['default_keyspace', 'b', 'collection', 0],
    ['default_keyspace', 'c', 'collection', 0],
    ['default_keyspace', 'd', 'collection', 0],
    ['default_keyspace', 'points', 'collection', 3],
    ['default_keyspace', 'rows', 'table', 2],
  ])
  const byName = new Map(found.map((size) => [size.name, size]))
  assert(byName.get('a')!.bytes! >= 1e5 + byName.get('b')!.bytes!)
  assert(byName.get('b')!.bytes! > 0)
  // The store of "points" was evicted with its index. The search opens them again.
  const search = { findOne: { sort: { $vector: [1, 1] } } }
  await admin.command('/default_keyspace/points', search)
  const points = (await sizes(await homeId())).find(({ name }) => name === 'points')!
  assert.equal(points.vectors!.count, 2)
  assert(points.vectors!.memoryBytes > 0 && points.vectors!.diskBytes >= 0)
})

test('the list of sizes includes only the requested database', async () => {
  const { id } = await admin.createDatabase({ keyspace: 'main' })
  assert.deepEqual(await sizes(id), [])
  const created = { createCollection: { name: 'other' } }
  await admin.commandTo(id, '/main', created)
  assert.deepEqual(
    (await sizes(id)).map(({ keyspace, name, documents }) => [keyspace, name, documents]),
    [['main', 'other', 0]],
  )
  assert(!(await sizes(await homeId())).some(({ name }) => name === 'other'))
  await admin.ask('POST', `/databases/${id}/terminate`)
  assert.deepEqual(await sizes(id), [])
  await admin.refuse(404, 'GET', '/databases/nonsense/sizes')
})

test('the list of sizes includes the targets that a token may describe, and counts if the token may read them', async () => {
  const id = await homeId()
  const place = (name: string) => `:db:${id}:keyspace:default_keyspace:table:${name}`
  const { token: describes } = await admin.tokenFor([place('a')], ['db-table-describe'])
  assert.deepEqual(await sizes(id, describes), [
    { keyspace: 'default_keyspace', name: 'a', kind: 'collection' },
  ])
  const { token: reads } = await admin.tokenFor(
    [place('a')],
    ['db-table-describe', 'db-table-select'],
  )
  const [size, ...others] = await sizes(id, reads)
  assert.equal(size!.documents, 1)
  assert.deepEqual(others, [])
  const { token: readsAll } = await admin.tokenOf('RO User')
  assert.equal((await sizes(id, readsAll)).length, 6)
  const { token: views } = await admin.tokenOf('UI View Only')
  assert.deepEqual(await sizes(id, views), [])
  const { token: stranger } = await admin.tokenFor([''], ['org-token-read'])
  await admin.refuse(404, 'GET', `/databases/${id}/sizes`, { token: stranger })
})

test('the list of sizes contains only counts unless the engine is the embedded one', async (context) => {
  const server = await startServer({ adminPort: 0 }, openMemoryEngine(new MemoryStore()))
  context.after(() => server.close())
  await server.command('/default_keyspace', { createCollection: { name: 'a' } })
  await server.command('/default_keyspace/a', { insertOne: { document: {} } })
  const ask = async (path: string) =>
    (await server.send(`/v2/${path}`, { headers: { Token: testToken } })).body as unknown
  const [{ id }] = (await ask('databases')) as [{ id: string }]
  assert.deepEqual(await ask(`databases/${id}/sizes`), {
    collections: [
      { keyspace: 'default_keyspace', name: 'a', kind: 'collection', documents: 1 },
    ],
  })
})

test('the list of slow commands contains no values of their filters', async () => {
  const secret = 'a value that nobody is to see'
  const filter = { text: secret }
  await admin.command('/default_keyspace/a', { find: { filter } })
  await admin.server.command(
    '/default_keyspace/a',
    { countDocuments: { filter } },
    { 'X-Request-Id': 'the-last-one' },
  )
  const answer = await admin.call('GET', '/slowCommands')
  assert(!answer.text.includes(secret))
  const { server, slowerThanMs, commands } = answer.body as WireSlowCommands
  assert.equal(server.process, process.pid)
  assert(Date.parse(server.startedAt) <= Date.now())
  assert.equal(slowerThanMs, 1e-9)
  const { time, elapsedMs, slowestRead, ...last } = commands[0]!
  assert.deepEqual(last, {
    database: await homeId(),
    command: 'countDocuments',
    target: 'default_keyspace.a',
    ...{ requestId: 'the-last-one', reads: 1 },
  })
  assert.match(
    slowestRead as string,
    /^nothing, because no document has the field: entries passed: 0, documents read: 0 in [\d.]+ ms$/,
  )
  assert(Math.abs(Date.now() - Date.parse(time as string)) < 60_000)
  assert(Number.isSafeInteger(elapsedMs))
  assert.equal(commands[1]!['command'], 'find')
})

test('the list of slow commands drops the oldest command when it is full', async () => {
  for (let i = 0; i < fixedLimits.slowCommandsMax; i++)
    await admin.command('', { findKeyspaces: {} })
  const { commands } = await admin.ask<WireSlowCommands>('GET', '/slowCommands')
  assert.deepEqual(
    commands.map(({ command, target }) => `${command} ${target}`),
    Array(fixedLimits.slowCommandsMax).fill('findKeyspaces the database'),
  )
})

test('slow commands are listed only for tokens that may read audits', async () => {
  const { token: administers } = await admin.tokenOf('Database Administrator')
  await admin.refuse(403, 'GET', '/slowCommands', { token: administers })
  const { token: audits } = await admin.tokenFor([''], ['org-audits-read'])
  await admin.ask('GET', '/slowCommands', { token: audits })
})
