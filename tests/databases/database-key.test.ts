/**
 * The keys of databases: their form, keyspace names that are rejected because they start
 * like a key, and the keys of version 0.1.
 */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { readdirSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { describe, test } from 'node:test'
import {
  databaseKeyFor,
  databaseKeyOf,
  dottedKeyFor,
  withoutDatabaseKey,
} from '../../src/engine/database-key.ts'
import { openEmbeddedEngine } from '../../src/engine/embedded/engine.ts'
import { AdminServer, type WireDatabase } from '../admin/admin-server.ts'
import { startServer, temporaryFolder, testToken } from '../harness.ts'
import { createCollection, plainOptions } from '../engine/store.ts'
import { putSetting } from '../engine/settings.ts'

describe('a database key', () => {
  const id = '6b1f4f0e-5a67-4b58-9e2c-00c0ffee1234'

  test('is recognised at the start of a name, and removed from it', () => {
    assert.equal(databaseKeyFor(id), 's_00c0ffee1234__')
    for (const key of [databaseKeyFor(id), dottedKeyFor(id), '']) {
      assert.equal(databaseKeyOf(`${key}library`), key)
      assert.equal(withoutDatabaseKey(`${key}library`), 'library')
    }
  })

  test('begins a valid keyspace name on every engine', () => {
    for (let i = 0; i < 100; i++) {
      const name = databaseKeyFor(randomUUID()) + 'n'.repeat(32)
      assert.match(name, /^[a-z]\w{47}$/)
    }
  })

  test('is not recognised in names that only resemble names with a key', () => {
    for (const name of [
      's_00c0ffee1234_x',
      's_00C0FFEE1234__x',
      's_00c0ffee123__x',
      's_00c0ffee12345__x',
      'xs_00c0ffee1234__x',
      's_',
      '',
    ])
      assert.equal(databaseKeyOf(name), '', name)
  })
})

const admin = new AdminServer()

test('keyspace names that start like a database key are rejected', async () => {
  const { id } = await admin.createDatabase({ keyspace: 'mine' })
  const keyspace = `${databaseKeyFor(id)}mine`
  await admin.commandTo(id, '/mine', { createCollection: { name: 'notes' } })
  for (const path of ['', `/databases/${id}`]) {
    const send = (to: string, command: object) =>
      admin.server.send(`${path}/v1${to}`, {
        method: 'POST',
        headers: { Token: testToken, 'Content-Type': 'application/json' },
        body: JSON.stringify(command),
      })
    const made = await send('', { createKeyspace: { name: keyspace } })
    assert.deepEqual(made.codes, ['UNSUPPORTED_SCHEMA_NAME'])
    assert(made.body.errors![0]!.message.includes('another database'))
    const found = await send(`/${keyspace}/notes`, { findOne: {} })
    assert.deepEqual(found.codes, ['UNKNOWN_KEYSPACE'])
    const created = await send(`/${keyspace}`, { createCollection: { name: 'x' } })
    assert.deepEqual(created.codes, ['UNKNOWN_KEYSPACE'])
    const dropped = await send('', { dropKeyspace: { name: keyspace } })
    assert.deepEqual(dropped.body.status, { ok: 1 })
  }
  const [home] = await admin.ask<WireDatabase[]>('GET', '/databases')
  await admin.refuse(400, 'POST', `/databases/${home!.id}/keyspaces/${keyspace}`)
  await admin.refuse(400, 'POST', '/databases', { body: { name: 'x', keyspace } })
  const found = await admin.commandTo(id, '/mine', { findCollections: {} })
  assert.deepEqual(found.body.status, { collections: ['notes'] })
})

test('a server serves the databases of a data folder of version 0.1, and new databases', async (context) => {
  const dataDir = await temporaryFolder()
  context.after(() => rm(dataDir, { recursive: true }))
  const ids = { home: randomUUID(), old: randomUUID() }
  const entry = (id: string, name: string) => ({
    ...{ id, name, status: 'ACTIVE', keyspace: 'default_keyspace' },
    ...{ cloudProvider: 'AWS', region: 'local', createdAt: '2026-01-01T00:00:00.000Z' },
  })
  const log = () => undefined
  const engine = await openEmbeddedEngine({ dataDir, durable: false, log })
  await engine.createKeyspace(`${ids.old}.default_keyspace`)
  for (const keyspace of ['default_keyspace', `${ids.old}.default_keyspace`])
    await createCollection(engine, 'notes', plainOptions, keyspace)
  const databases = [entry(ids.home, 'stela'), entry(ids.old, 'old')]
  const stored = JSON.stringify({ organization: randomUUID(), databases })
  await putSetting(engine, 'databases', stored)
  await engine.close()

  let added = ''
  for (const start of [1, 2, 3]) {
    const server = await startServer({ dataDir, adminPort: undefined })
    const send = async (id: string, to: string, command: object) => {
      const answer = await server.send(`/databases/${id}/v1${to}`, {
        method: 'POST',
        headers: { Token: testToken, 'Content-Type': 'application/json' },
        body: JSON.stringify(command),
      })
      return answer.body
    }
    const manage = (method: string, path: string, body?: object) =>
      fetch(`${server.adminUrl}/v2${path}`, {
        method,
        headers: {
          Authorization: `Bearer ${testToken}`,
          'Content-Type': 'application/json',
        },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      })
    if (start === 1) {
      const made = await manage('POST', '/databases', { name: 'new' })
      added = made.headers.get('Location')!
      await send(added, '/default_keyspace', { createCollection: { name: 'notes' } })
    }
    for (const id of [ids.home, ids.old, added]) {
      const document = { _id: start, of: id }
      await send(id, '/default_keyspace/notes', { insertOne: { document } })
      const { data } = await send(id, '/default_keyspace/notes', { find: {} })
      const expected = [1, 2, 3].slice(0, start).map((_id) => ({ _id, of: id }))
      assert.deepEqual(data!.documents, expected)
      const { status } = await send(id, '', { findKeyspaces: {} })
      assert.deepEqual(status, { keyspaces: ['default_keyspace'] })
    }
    const folders = readdirSync(dataDir)
    assert(folders.includes(`${ids.old}.default_keyspace`))
    assert(folders.includes(`${databaseKeyFor(added)}default_keyspace`))
    if (start === 3) {
      await manage('POST', `/databases/${ids.old}/terminate`)
      assert(!readdirSync(dataDir).includes(`${ids.old}.default_keyspace`))
      assert(readdirSync(dataDir).includes(`${databaseKeyFor(added)}default_keyspace`))
    }
    await server.stop()
  }
})
