/**
 * Many concurrent requests of one client. Tests check the order of replies, and requests that
 * expire before they start.
 */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { rm } from 'node:fs/promises'
import type { Socket } from 'node:net'
import { after, before, describe, test } from 'node:test'
import { startServer, temporaryFolder, testToken, type TestServer } from '../harness.ts'
import { H2Client } from './h2-client.ts'
import { makeCertificate, saveCertificate } from './made-certificate.ts'
import { openConnection, readReply, requestOf } from './raw-connection.ts'

const path = '/v1/default_keyspace/books'
const encode = (text: string) => Buffer.from(text).toString('base64')
const hostile = { Token: `Cassandra:${encode('hostile')}:${encode('x')}` }
const accounts = [{ name: 'hostile', password: 'x' }]

/** Clauses that take milliseconds to parse: 63 conditions of 100 numbers each. */
const clauses = {
  filter: {
    $or: Array.from({ length: 63 }, (_, n) => ({
      a: { $in: Array.from({ length: 100 }, (_, i) => 100 * n + i) },
    })),
  },
}
const findOne = requestOf({ findOne: {} }, path)

async function createBooks(server: TestServer): Promise<void> {
  const created = await server.command('/default_keyspace', {
    createCollection: { name: 'books' },
  })
  assert.deepEqual(created.codes, [])
}

/**
 * Sends `count` requests, and then `other` on behalf of another client. Returns how many of the
 * first requests are answered before `other`.
 */
async function answeredBefore(
  url: string,
  count: number,
  request: string,
  other: string,
): Promise<number> {
  const sockets = await Promise.all(
    Array.from({ length: count }, () => openConnection(url)),
  )
  const last = await openConnection(url)
  let answered = 0
  const all = sockets.map(async (socket) => {
    await once(socket, 'data')
    answered++
    socket.destroy()
  })
  for (const socket of sockets) socket.write(request)
  last.write(other)
  await once(last, 'data')
  last.destroy()
  const before = answered
  await Promise.all(all)
  return before
}

describe('requests of another client', () => {
  let server: TestServer
  before(async () => {
    server = await startServer({ accounts, adminPort: 0 })
    await createBooks(server)
  })
  after(() => server.close())

  test('are answered before most of 700 earlier requests', async () => {
    const find = requestOf({ find: clauses }, path, hostile)
    const before = await answeredBefore(server.url, 700, find, findOne)
    assert(before < 350, `${before} were answered first`)
  })

  test('are answered before most earlier tool calls', async () => {
    const at = { keyspace: 'default_keyspace', collection: 'books' }
    const params = { name: 'find', arguments: { ...at, ...clauses } }
    const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params }
    const accept = { Accept: 'application/json, text/event-stream' }
    const request = requestOf(call, '/v1/mcp', { ...hostile, ...accept })
    const before = await answeredBefore(server.url, 300, request, findOne)
    assert(before < 150, `${before} were answered first`)
  })

  test('are answered before most earlier management requests', async () => {
    const body = { roles: Array.from({ length: 100_000 }, (_, n) => n) }
    const request = requestOf(body, '/v2/clientIdSecrets', hostile)
    for (const url of [server.url, server.adminUrl]) {
      const other = `GET /v2/databases HTTP/1.1\r\nHost: x\r\nToken: ${testToken}\r\n\r\n`
      const before = await answeredBefore(url, 100, request, other)
      assert(before < 50, `${before} were answered first at ${url}`)
    }
  })
})

describe('requests of another client over HTTP/2', () => {
  let server: TestServer
  let folder: string
  let ca: string
  before(async () => {
    folder = await temporaryFolder()
    const made = makeCertificate()
    ca = made.cert
    server = await startServer({ accounts, tls: await saveCertificate(folder, made) })
    const client = await H2Client.connect(server.url, ca)
    const { status } = await client.command('/default_keyspace', {
      createCollection: { name: 'books' },
    })
    assert.equal(status, 200)
    await client.close()
  })
  after(async () => {
    await server.close()
    await rm(folder, { recursive: true, force: true })
  })

  test('are answered before most earlier requests', async () => {
    const open = () => H2Client.connect(server.url, ca)
    const clients = await Promise.all(Array.from({ length: 8 }, open))
    const other = await open()
    let answered = 0
    const token = hostile.Token
    const all = clients.flatMap((client) =>
      Array.from({ length: 30 }, async () => {
        await client.command('/default_keyspace/books', { find: clauses }, { token })
        answered++
      }),
    )
    const { status } = await other.command('/default_keyspace/books', { findOne: {} })
    const before = answered
    assert.equal(status, 200)
    assert(before < 120, `${before} were answered first`)
    await Promise.all(all)
    await Promise.all([...clients, other].map((client) => client.close()))
  })
})

describe('requests that expire before their turn', () => {
  let server: TestServer
  before(async () => {
    server = await startServer()
    await createBooks(server)
  })
  after(() => server.close())

  test('get a timeout error, and are not executed', async () => {
    await server.stop()
    const { dataDir } = server
    server = await startServer({ dataDir, commandTimeoutMs: 100 })
    const numbers = Array.from({ length: 10_000 }, (_, n) => n)
    const open = () => openConnection(server.url)
    const sockets = await Promise.all(Array.from({ length: 400 }, open))
    const replies = sockets.map((socket, n) => insert(socket, n, numbers))
    const late: number[] = []
    for (const [n, reply] of (await Promise.all(replies)).entries())
      if (reply.includes('TIMEOUT_READING_DATA')) late.push(n)
    assert(late.length > 0)
    await server.stop()
    server = await startServer({ dataDir })
    for (let from = 0; from < late.length; from += 100) {
      const $in = late.slice(from, from + 100)
      const filter = { _id: { $in } }
      const { body } = await server.command('/default_keyspace/books', {
        countDocuments: { filter },
      })
      assert.deepEqual(body, { status: { count: 0 } })
    }
  })
})

async function insert(socket: Socket, n: number, numbers: readonly number[]) {
  const document = { _id: n, a: { b: numbers.slice(0, 900), c: numbers.slice(0, 900) } }
  socket.write(requestOf({ insertOne: { document } }, path))
  const reply = await readReply(socket)
  socket.destroy()
  return reply
}
