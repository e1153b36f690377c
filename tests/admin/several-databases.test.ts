/** Several databases of one server are isolated, and each has an address of its own. */
import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { request, type IncomingMessage } from 'node:http'
import { once } from 'node:events'
import { describe, test } from 'node:test'
import { DataAPIClient } from '@datastax/astra-db-ts'
import { testToken, type Envelope } from '../harness.ts'
import { AdminServer, type WireDatabase } from './admin-server.ts'

const admin = new AdminServer()

/** Sends a command with this Host header. */
async function toHost(host: string, path: string, command: object): Promise<Envelope> {
  const sent = request(`${admin.server.url}${path}`, {
    method: 'POST',
    headers: { Host: host, Token: testToken, 'Content-Type': 'application/json' },
  })
  sent.end(JSON.stringify(command))
  const [response] = (await once(sent, 'response')) as [IncomingMessage]
  let text = ''
  for await (const chunk of response.setEncoding('utf8')) text += String(chunk)
  return JSON.parse(text) as Envelope
}

async function fill(id: string, text: string): Promise<void> {
  await admin.commandTo(id, '/default_keyspace', { createCollection: { name: 'notes' } })
  const document = { _id: 1, text }
  await admin.commandTo(id, '/default_keyspace/notes', { insertOne: { document } })
}

async function textIn(id: string): Promise<unknown> {
  const found = await admin.commandTo(id, '/default_keyspace/notes', { findOne: {} })
  return found.body.data?.document?.['text'] ?? found.codes[0]
}

const list = () => admin.ask<WireDatabase[]>('GET', '/databases')

describe('databases that contain the same names', () => {
  test('are isolated, even after a restart', async () => {
    const [home] = await list()
    const made = [await admin.createDatabase(), await admin.createDatabase()]
    const ids = [home!, ...made].map(({ id }) => id)
    for (const id of ids) await fill(id, `of ${id}`)
    const check = async () => {
      for (const id of ids) {
        assert.equal(await textIn(id), `of ${id}`)
        const { body } = await admin.commandTo(id, '', { findKeyspaces: {} })
        assert.deepEqual(body.status, { keyspaces: ['default_keyspace'] })
      }
      const unnamed = await admin.command('/default_keyspace/notes', { findOne: {} })
      assert.equal(unnamed.body.data!.document!['text'], `of ${home!.id}`)
    }
    await check()
    await admin.restart()
    await check()
    await admin.commandTo(ids[1]!, '/default_keyspace/notes', { deleteMany: {} })
    assert.equal(await textIn(ids[2]!), `of ${ids[2]!}`)
    await admin.commandTo(ids[1]!, '', { dropKeyspace: { name: 'default_keyspace' } })
    assert.equal(await textIn(ids[1]!), 'UNKNOWN_KEYSPACE')
    assert.equal(await textIn(ids[2]!), `of ${ids[2]!}`)
    assert.equal(await textIn(ids[0]!), `of ${ids[0]!}`)
  })

  test('cannot be reached through a keyspace name that contains the database id', async () => {
    const { id } = await admin.createDatabase()
    await fill(id, 'apart')
    const name = `${id}.default_keyspace`
    const found = await admin.command(`/${name}/notes`, { findOne: {} })
    assert.deepEqual(found.codes, ['UNKNOWN_KEYSPACE'])
    const dropped = await admin.command('', { dropKeyspace: { name } })
    assert.deepEqual(dropped.body.status, { ok: 1 })
    const made = await admin.command('', { createKeyspace: { name } })
    assert.deepEqual(made.codes, ['UNSUPPORTED_SCHEMA_NAME'])
    assert.equal(await textIn(id), 'apart')
  })
})

test('a terminated database leaves no files, even after a restart', async () => {
  const folders = () => readdirSync(admin.server.dataDir).toSorted()
  const before = folders()
  const { id } = await admin.createDatabase()
  await fill(id, 'gone')
  assert.notDeepEqual(folders(), before)
  await admin.ask('POST', `/databases/${id}/terminate`)
  assert.deepEqual(folders(), before)
  for (const restart of [false, true]) {
    if (restart) await admin.restart()
    const answer = await admin.commandTo(id, '/default_keyspace/notes', { findOne: {} })
    assert.deepEqual([answer.http, answer.codes], [404, ['UNKNOWN_DATABASE']])
    const known = await admin.ask<WireDatabase>('GET', `/databases/${id}`)
    assert.equal(known.status, 'TERMINATED')
  }
})

describe('a database is reached', () => {
  test('by its path, with the prefix /v1 or /api/json/v1', async () => {
    const { id } = await admin.createDatabase({ name: 'by path' })
    await fill(id, 'found')
    const headers = { Token: testToken, 'Content-Type': 'application/json' }
    for (const prefix of ['/v1', '/api/json/v1'])
      for (const spelled of [id, id.toUpperCase()]) {
        const answer = await admin.server.send(
          `/databases/${spelled}${prefix}/default_keyspace/notes`,
          { method: 'POST', headers, body: '{"findOne": {}}' },
        )
        assert.equal(answer.body.data!.document!['text'], 'found')
      }
    // The error for a command at the wrong path suggests a path of the same database.
    const sent = async (path: string) => {
      const body = '{"find": {}}'
      const answer = await admin.server.send(path, { method: 'POST', headers, body })
      return answer.body.errors![0]!.message
    }
    for (const root of [`/databases/${id}/v1`, `/databases/${id}/api/json/v1`])
      assert.match(
        await sent(`${root}/default_keyspace`),
        new RegExp(`Send it to ${root}/default_keyspace/<collection or table>\\.`),
      )
    assert.match(
      await sent(`/databases/${id}/nowhere`),
      new RegExp(`Send commands to /databases/${id}/v1, /databases/${id}/v1/<keyspace> or`),
    )
  })

  test('by its host name, unless the path names another database', async () => {
    const { id } = await admin.createDatabase()
    await fill(id, 'by host')
    const [home] = await list()
    const path = '/v1/default_keyspace/notes'
    for (const host of [
      `${id}-us-east-2.apps.example.com`,
      `${id.toUpperCase()}-x.localhost:8181`,
      `${id}.example.com`,
    ]) {
      const { data } = await toHost(host, path, { findOne: {} })
      assert.equal(data!.document!['text'], 'by host', host)
      const findKeyspaces = await toHost(host, '/api/json/v1', { findKeyspaces: {} })
      assert.deepEqual(findKeyspaces.status, { keyspaces: ['default_keyspace'] })
    }
    await admin.createDatabase()
    const both = await toHost(`${id}-x.example.com`, `/databases/${home!.id}${path}`, {
      findOne: {},
    })
    assert.notEqual(both.data?.document?.['text'], 'by host')
  })

  test('only when its id exists', async () => {
    const absent = '00000000-0000-4000-8000-000000000000'
    for (const id of [absent, 'none', '%2e', ' ']) {
      const answer = await admin.commandTo(encodeURIComponent(id), '', {
        findKeyspaces: {},
      })
      assert.equal(answer.http, 404, id)
      if (answer.text !== '') assert.deepEqual(answer.codes, ['UNKNOWN_DATABASE'])
    }
    const { errors } = await toHost(`${absent}-x.example.com`, '/v1', { findKeyspaces: {} })
    assert.equal(errors![0]!.errorCode, 'UNKNOWN_DATABASE')
    const unnamed = await toHost('some-host.example.com', '/v1', { findKeyspaces: {} })
    assert.notEqual(unnamed.status, undefined)
  })

  test('by the official client at its reported endpoint', async () => {
    const { dataEndpointUrl } = await admin.createDatabase({ keyspace: 'mine' })
    const client = new DataAPIClient(testToken, { environment: 'hcd' })
    const db = client.db(dataEndpointUrl!, { keyspace: 'mine' })
    const collection = await db.createCollection<{ _id: number; n: number }>('numbers')
    await collection.insertMany(Array.from({ length: 45 }, (_, n) => ({ _id: n, n })))
    assert.equal((await collection.find({}).toArray()).length, 45)
    assert.deepEqual(await db.admin({ environment: 'hcd' }).listKeyspaces(), ['mine'])
    const home = client.db(admin.server.url, { keyspace: 'default_keyspace' })
    assert(!(await home.listCollections({ nameOnly: true })).includes('numbers'))
    await client.close()
  })
})
