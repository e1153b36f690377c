/**
 * Back-pressure on clients that send much and read nothing: how much memory the server holds for
 * them, and how other clients are affected. The tests count bytes and commands, and measure no
 * times.
 */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { rm } from 'node:fs/promises'
import type { Socket } from 'node:net'
import { after, afterEach, before, describe, test } from 'node:test'
import type { Config } from '../../src/settings/config.ts'
import { defaultLimits } from '../../src/limits.ts'
import { startServer, temporaryFolder, type Answer, type TestServer } from '../harness.ts'
import { H2Client } from './h2-client.ts'
import { makeCertificate, saveCertificate } from './made-certificate.ts'
import { headOf, openConnection, readUntil, requestOf } from './raw-connection.ts'

let dataDir: string
let server: TestServer
const sockets: Socket[] = []

const long = '/default_keyspace/long'
const short = '/default_keyspace/short'
const ann = { Token: `Cassandra:${btoa('ann')}:${btoa('secret')}` }

/**
 * Creates a collection whose page of find has 12 MB, which is more than the system buffers for a
 * connection.
 */
before(async () => {
  dataDir = await temporaryFolder()
  await start()
  await server.command('/default_keyspace', {
    createCollection: { name: 'long', options: { indexing: { deny: ['text'] } } },
  })
  for (let _id = 0; _id < 4; _id++) {
    const document = { _id, text: 'x'.repeat(3_000_000) }
    await server.command(long, { insertOne: { document } })
  }
  await server.command('/default_keyspace', { createCollection: { name: 'short' } })
  const documents = [0, 1, 2, 3].map((_id) => ({ _id }))
  await server.command(short, { insertMany: { documents } })
  await server.stop()
})
after(() => rm(dataDir, { recursive: true, force: true }))
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy()
  await server.stop()
})

async function start(config: Partial<Config> = {}): Promise<void> {
  const accounts = [{ name: 'ann', password: 'secret' }]
  server = await startServer({
    ...{ dataDir, accounts, durable: false, checked: false },
    ...config,
  })
}

async function open(): Promise<Socket> {
  const socket = await openConnection(server.url)
  sockets.push(socket)
  return socket
}

/** Sends a find whose reply the client does not read, and waits until the command runs. */
async function findUnread(headers = {}): Promise<Socket> {
  const socket = await open()
  socket.pause()
  const before = await commandsSeen()
  socket.write(requestOf({ find: {} }, `/v1${long}`, headers))
  while ((await commandsSeen()) === before);
  return socket
}

async function metric(name: string): Promise<number> {
  const { text } = await server.send('/metrics', {})
  const line = text.split('\n').find((each) => each.startsWith(`${name} `))
  return line === undefined ? 0 : Number(line.slice(name.length + 1))
}

const commandsSeen = () => metric('stela_commands_total{command="find",outcome="ok"}')

function findOne(headers: Record<string, string> = {}): Promise<Answer> {
  return server.command(short, { findOne: { filter: { _id: 1 } } }, headers)
}

/**
 * Sends a command until it is not rejected for lack of memory. On a busy machine, other commands
 * may hold memory for longer than a command waits.
 */
async function untilRoom(path: string, command: object): Promise<Answer> {
  const answer = await server.command(path, command)
  if (answer.http === 200) return answer
  assertNoRoom(answer)
  return untilRoom(path, command)
}

function assertNoRoom(answer: Answer): void {
  assert.equal(answer.http, 503)
  assert.deepEqual(answer.codes, ['SERVER_OVERLOADED'])
  assert.equal(answer.headers.get('retry-after'), '1')
}

describe('pipelined requests', () => {
  test('run one at a time, each after the previous reply was sent', async () => {
    await start()
    const { length } = (await server.command(long, { find: {} })).text
    const socket = await open()
    socket.pause()
    socket.write(requestOf({ find: {} }, `/v1${long}`).repeat(200))
    // The first command waits until its client reads. Meanwhile, the server answers commands of
    // other connections.
    while ((await commandsSeen()) === 1);
    for (let i = 0; i < 50; i++) assert.equal((await findOne()).http, 200)
    assert.equal(await commandsSeen(), 2)
    assert.equal(await metric('stela_reply_memory_bytes'), length)
    socket.destroy()
    while ((await metric('stela_reply_memory_bytes')) > 0);
    assert.equal(await commandsSeen(), 2)
  })

  test('are all answered in order when the client reads', async () => {
    await start()
    const socket = await open()
    const ids = Array.from({ length: 500 }, (_, i) => i % 4)
    const all = ids.map((_id) => requestOf({ findOne: { filter: { _id } } }, `/v1${short}`))
    socket.write(all.join(''))
    socket.end(requestOf({ countDocuments: {} }, `/v1${short}`))
    const text = await readUntil(socket, '"count":4')
    const found = [...text.matchAll(/\{"document":\{"_id":(\d)\}\}/g)]
    assert.deepEqual(
      found.map(([, id]) => Number(id)),
      ids,
    )
  })

  test('may have bodies of any size', async () => {
    await start()
    const socket = await open()
    const body = `{"countDocuments":{}}${' '.repeat(300_000)}`
    const large = headOf(body.length, `/v1${short}`) + body
    const small = requestOf({ findKeyspaces: {} })
    socket.write(small + large + small + large + large + small)
    let text = ''
    while (text.split('HTTP/1.1 200').length <= 6) text += await readUntil(socket, '}')
    assert.equal(text.split('"count":4').length, 4)
  })

  test('that exceed a thousand on one connection make the server close it', async () => {
    await start()
    const socket = await open()
    const closed = once(socket, 'close')
    socket.pause()
    const first = requestOf({ find: {} }, `/v1${long}`)
    socket.write(first + 'GET / HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(1_002))
    socket.resume()
    await closed
    assert.equal((await findOne()).http, 200)
  })
})

describe('replies under construction', () => {
  test('reserve memory before documents are read for them', async () => {
    await start({ replyMemoryMax: 50_000_000 })
    const many = await Promise.all(Array.from({ length: 12 }, open))
    const answers = many.map((socket) => once(socket, 'readable'))
    for (const socket of many) socket.write(requestOf({ find: {} }, `/v1${long}`))
    // Three pages of 12 MB fit into the share of one principal, although their clients do not read.
    await Promise.all(answers)
    assert.equal(await commandsSeen(), 3)
    assert.equal(
      await metric('stela_commands_refused_total{reason="no_room_for_reply"}'),
      9,
    )
    assert((await metric('stela_reply_memory_bytes')) < 37_500_000)
  })

  test('wait for memory until clients have read other replies, and arrive complete', async () => {
    await start({ replyMemoryMax: 28_000_000 })
    const all = Array.from({ length: 6 }, () => untilRoom(long, { find: {} }))
    for (const { text } of await Promise.all(all))
      assert.equal(text.split('"_id"').length, 5)
    assert.equal(await metric('stela_reply_memory_bytes'), 0)
  })

  test('may take nearly all memory when no other principal holds memory', async () => {
    await start({ replyMemoryMax: 13_000_000 })
    assert.equal((await server.command(long, { find: {} })).http, 200)
    const projection = { missing: 0 }
    const { http, text } = await server.command(long, { find: { projection } })
    assert.equal(http, 200)
    assert.equal(text.split('"_id"').length, 5)
  })

  test('release the memory of documents that an update changes and does not return', async () => {
    await start({ replyMemoryMax: 50_000_000 })
    const update = { updateMany: { filter: {}, update: { $set: { seen: 1 } } } }
    const all = Array.from({ length: 4 }, () => untilRoom(long, update))
    for (const { body } of await Promise.all(all))
      assert.equal(body.status!['matchedCount'], 4)
    assert.equal(await metric('stela_reply_memory_bytes'), 0)
  })
})

describe('unread replies', () => {
  test('may hold a share of the memory, beyond which only large reads of their principal are rejected', async () => {
    await start({ replyMemoryMax: 50_000_000 })
    // Three pages of 12 MB fit into the share of one principal; the fourth does not.
    for (let i = 0; i < 3; i++) await findUnread()
    assertNoRoom(await server.command(long, { find: {} }))
    assert.equal((await findOne()).http, 200)
    const { text, http } = await server.command(long, { find: {} }, ann)
    assert.equal(http, 200)
    assert.equal(text.split('"_id"').length, 5)
    assert((await metric('stela_commands_refused_total{reason="no_room_for_reply"}')) >= 1)
    // The server releases the memory as soon as one connection has closed.
    sockets[0]!.destroy()
    let answer = await server.command(long, { find: {} })
    while (answer.http !== 200) answer = await server.command(long, { find: {} })
  })

  test('reserve memory before a write starts, so that every write that starts is answered', async () => {
    const limits = { ...defaultLimits, documentLengthMax: 4_000_000 }
    await start({ replyMemoryMax: 16_500_000, limits })
    await findUnread()
    // The unread reply holds 12 MB, and the reply of the update may take 4 MB. Together they exceed
    // the share of one principal, three quarters of the memory.
    while ((await metric('stela_reply_memory_bytes')) < 12_000_000);
    const update = { findOneAndUpdate: { filter: { _id: 9 }, update: { $inc: { n: 1 } } } }
    const answer = await server.command(long, update)
    assertNoRoom(answer)
    sockets[0]!.destroy()
    while ((await metric('stela_reply_memory_bytes')) > 0);
    const counted = await server.command(long, { countDocuments: { filter: { n: 1 } } })
    assert.deepEqual(counted.body.status, { count: 0 })
    const options = { upsert: true, returnDocument: 'after' }
    const { findOneAndUpdate } = update
    const done = await server.command(long, {
      findOneAndUpdate: { ...findOneAndUpdate, options },
    })
    assert.equal(done.body.data!.document!['n'], 1)
  })

  test('arrive complete when the client reads slowly', async () => {
    await start({ replyTimeoutMs: 60_000 })
    await server.command(long, {
      updateOne: { filter: { _id: 0 }, update: { $set: { text: '𝄞é'.repeat(500_000) } } },
    })
    const expected = (await server.command(long, { find: {} })).text
    const socket = await findUnread()
    const parts: Buffer[] = []
    let size = 0
    for await (const chunk of socket.iterator({ destroyOnReturn: false })) {
      parts.push(chunk as Buffer)
      size += (chunk as Buffer).length
      if (size > Buffer.byteLength(expected)) break
    }
    assert(Buffer.concat(parts).toString().endsWith(expected))
    while ((await metric('stela_reply_memory_bytes')) > 0);
  })

  test('cause their connection to be closed after a timeout, which is counted', async () => {
    await start({ replyTimeoutMs: 200 })
    const socket = await findUnread()
    while ((await metric('stela_replies_unread_total')) === 0);
    assert.equal(await metric('stela_reply_memory_bytes'), 0)
    await once(socket.resume(), 'close')
  })

  test('do not delay the stop of a server, whatever the reply timeout', async () => {
    await start({ replyTimeoutMs: 0 })
    const socket = await findUnread()
    const reading = await findUnread()
    const stopped = server.stop()
    // A client that reads receives the complete reply even while the server stops.
    const parts = (await reading.toArray()) as Buffer[]
    const [head, body] = Buffer.concat(parts).toString().split('\r\n\r\n')
    assert.match(head!, new RegExp(`^Content-Length: ${Buffer.byteLength(body!)}$`, 'im'))
    await stopped
    await once(socket.resume(), 'close')
  })
})

describe('request bodies', () => {
  const body = `{"findKeyspaces":{}}${' '.repeat(900_000)}`

  test('wait while no memory is available, and are then read completely', async () => {
    await start({ bodyMemoryMax: 2_500_000 })
    const halves = await Promise.all([open(), open()])
    for (const socket of halves)
      socket.write(headOf(body.length) + body.slice(0, body.length / 2))
    while ((await metric('stela_body_memory_bytes')) < 2 * body.length);
    // The memory share of this principal is used up, so its third body waits. Another principal can
    // still send.
    const third = await open()
    third.write(headOf(body.length) + body)
    const other = await server.command('', body.slice(0, 300_000), ann)
    assert.equal(other.http, 200)
    for (const socket of halves) {
      socket.write(body.slice(body.length / 2))
      await readUntil(socket, 'default_keyspace')
    }
    await readUntil(third, 'default_keyspace')
    assert.equal(await metric('stela_body_memory_bytes'), 0)
  })

  test('release their memory when their client disconnects', async () => {
    await start({ bodyMemoryMax: 2_400_000 })
    for (const length of [body.length, undefined, 1_000, body.length, undefined]) {
      const socket = await open()
      socket.write(headOf(length) + '5\r\n     \r\n')
      while ((await metric('stela_body_memory_bytes')) === 0);
      socket.resetAndDestroy()
      while ((await metric('stela_body_memory_bytes')) > 0);
    }
    assert.equal((await server.command('', body)).http, 200)
  })

  test('are rejected with Retry-After when no memory becomes available in time', async () => {
    await start({ bodyMemoryMax: 1_000_000 })
    const half = await open()
    half.write(headOf(body.length) + ' ')
    while ((await metric('stela_body_memory_bytes')) === 0);
    const [announced, chunked] = await Promise.all([
      server.command('', body),
      server.send('/v1', {
        method: 'POST',
        headers: { Token: 'test-token' },
        body: ReadableStream.from([body, body].map((text) => Buffer.from(text))),
        duplex: 'half',
      }),
    ])
    assertNoRoom(announced)
    assertNoRoom(chunked)
    half.write(body.slice(1))
    await readUntil(half, 'REQUEST_NOT_JSON')
  })

  test('without Content-Length reserve the maximum size', async () => {
    const limits = { ...defaultLimits, documentLengthMax: 1_000, bodySizeMax: 1_000_000 }
    await start({ bodyMemoryMax: 1_200_000, limits })
    const send = () =>
      server.send('/v1', {
        method: 'POST',
        headers: { Token: 'test-token' },
        body: ReadableStream.from(
          Array.from({ length: 9 }, (_, i) =>
            Buffer.from(body.slice(i * 1e5, i * 1e5 + 1e5)),
          ),
        ),
        duplex: 'half',
      })
    for (const answer of await Promise.all([send(), send(), send()]))
      assert.equal(answer.http, 200)
    assert.equal(await metric('stela_body_memory_bytes'), 0)
  })
})

describe('commands', () => {
  test('are limited per principal, which leaves capacity for others', async () => {
    await start({ commandsMax: 4 })
    for (let i = 0; i < 3; i++) await findUnread()
    assertNoRoom(await findOne())
    assert.equal((await findOne(ann)).http, 200)
  })
})

describe('streams of HTTP/2', () => {
  let folder: string
  const certificate = makeCertificate()
  const clients: H2Client[] = []
  before(async () => {
    folder = await temporaryFolder()
  })
  after(() => rm(folder, { recursive: true }))
  afterEach(async () => {
    for (const client of clients.splice(0)) await client.close()
  })

  async function startTls(config: Partial<Config>): Promise<void> {
    await start({ ...config, tls: await saveCertificate(folder, certificate) })
  }

  async function connect(): Promise<H2Client> {
    const client = await H2Client.connect(server.url, certificate.cert)
    clients.push(client)
    return client
  }

  test('share the reply memory of their connection, so that other connections are served', async () => {
    await startTls({ replyMemoryMax: 100_000_000, replyTimeoutMs: 500 })
    const other = await connect()
    const deaf = await connect()
    deaf.session.settings({ initialWindowSize: 0 })
    await once(deaf.session, 'localSettings')
    const streams = Array.from({ length: 20 }, () => {
      const stream = deaf.open({ ':method': 'POST', ':path': `/v1${long}` })
      stream.on('error', () => undefined)
      stream.end('{"find":{}}')
      return stream
    })
    const scrape = async () => (await other.send({ ':path': '/metrics' })).text
    const held = async () =>
      Number(/^stela_reply_memory_bytes (\d+)$/m.exec(await scrape())![1])
    // The memory limit of a connection is an eighth of the memory. One page of 12 MB uses it up, so
    // other finds of the connection are rejected.
    let most = 0
    for (let i = 0; i < 15; i++) {
      most = Math.max(most, await held())
      assert.equal((await other.command(short, { countDocuments: {} })).status, 200)
    }
    assert(most < 30_000_000, `${most} bytes`)
    for (const stream of streams) if (!stream.closed) await once(stream, 'close')
    assert.match(await scrape(), /^stela_replies_unread_total [1-9]/m)
    while ((await held()) > 0);
  })

  test('are all answered if their client reads, even if every reply is large', async () => {
    await startTls({ replyMemoryMax: 50_000_000 })
    const client = await connect()
    const find = async (): Promise<string> => {
      const { status, text } = await client.command(long, { find: {} })
      return status === 200 ? text : find()
    }
    const first = await find()
    for (const text of await Promise.all(Array.from({ length: 4 }, find)))
      assert(text === first)
  })
})
