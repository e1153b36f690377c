/**
 * Thousands of connections, connections that are slow or broken, and connections that are open
 * while the server stops.
 */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { connect, type Socket } from 'node:net'
import { after, before, beforeEach, describe, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { temporaryFolder } from '../harness.ts'
import { killLeftovers, processToken, ServerProcess } from './server-process.ts'

const documentCount = 4_000
const many = '/default_keyspace/many'

/** A filter that no index can answer, so the count reads every document on a reader thread. */
const longRead = { countDocuments: { filter: { 'a.0.0.0.0.0.0': { $ne: 1 } } } }
const allOfThem = JSON.stringify({ status: { count: documentCount } })

let folder: string
let server: ServerProcess
before(async () => {
  folder = await temporaryFolder()
  await start()
  await server.command('/default_keyspace', { createCollection: { name: 'many' } })
  await server.command('/default_keyspace', { createCollection: { name: 'new' } })
  for (let from = 0; from < documentCount; from += 100) {
    const documents = Array.from({ length: 100 }, (_, i) => ({
      _id: from + i,
      a: [[1], { b: 'x'.repeat(1_000) }],
    }))
    const answer = await server.command(many, { insertMany: { documents } })
    assert.deepEqual(answer.codes, [])
  }
})
beforeEach(async () => {
  if (server.child.exitCode !== null) await start()
})
after(async () => {
  await killLeftovers()
  await rm(folder, { recursive: true, force: true })
})

async function start(): Promise<void> {
  const flags = [
    ...['--page-size', '2000', '--max-count', '100000'],
    // Disables the lockout of addresses, because the tests send many requests with invalid tokens.
    ...['--max-bad-credentials', '0', '--log-level', 'error'],
  ]
  server = await ServerProcess.start(folder, ...flags)
}

async function open(): Promise<Socket> {
  const { hostname, port } = new URL(server.url)
  const socket = connect(Number(port), hostname)
  await once(socket, 'connect')
  // The server closes some of these connections, which is an error for the client.
  socket.on('error', () => undefined)
  return socket
}

function request(path: string, command: object, token = processToken): string {
  const body = JSON.stringify(command)
  return (
    `POST /v1${path} HTTP/1.1\r\nHost: x\r\nToken: ${token}\r\n` +
    `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`
  )
}

/** Reads one complete response. Throws if the connection ends before the response is complete. */
async function readResponse(socket: Socket): Promise<{ status: number; body: string }> {
  let text = ''
  for await (const chunk of socket.iterator({ destroyOnReturn: false })) {
    text += (chunk as Buffer).toString('latin1')
    const head = text.indexOf('\r\n\r\n')
    if (head < 0) continue
    const size = Number(/Content-Length: (\d+)/i.exec(text)![1])
    if (text.length < head + 4 + size) continue
    assert.equal(text.length, head + 4 + size, 'nothing follows')
    return { status: Number(text.slice(9, 12)), body: text.slice(head + 4) }
  }
  throw new Error(`the connection ended after ${text.length} bytes`)
}

async function assertServes(): Promise<void> {
  const answer = await server.command(many, { findOne: { filter: { _id: 1 } } })
  assert.equal(answer.body.data?.document?.['_id'], 1)
}

/** Number of files and connections that the server process has open. */
function heldNow(): number {
  return readdirSync(`/proc/${server.child.pid!}/fd`).length
}

/** Waits, for a limited time, until the server has at most `before` files and connections open. */
async function untilHeld(before: number): Promise<void> {
  for (let tries = 0; heldNow() > before && tries < 200; tries++) await delay(25)
}

/** Asserts that the server has closed everything that it opened after `before` was counted. */
async function assertNothingHeld(before: number): Promise<void> {
  for (let tries = 0; tries < 5; tries++) await untilHeld(before)
  assert(heldNow() <= before, `${heldNow()} are open, ${before} were`)
}

describe('a server', () => {
  test('answers other requests while 1000 connections have each sent half a request', async () => {
    await assertServes()
    await server.command(many, longRead)
    const before = heldNow()
    const whole = request(many, { find: {} })
    const halves = [
      '',
      'PO',
      whole.slice(0, 40),
      whole.slice(0, -1),
      whole.slice(0, whole.indexOf('\r\n\r\n') + 2),
      whole.replace(
        /Content-Length: \d+\r\n\r\n.*/s,
        'Transfer-Encoding: chunked\r\n\r\n5\r\n{"fin',
      ),
    ]
    const sockets: Socket[] = []
    for (let n = 0; n < 1_000; n++) {
      const socket = await open()
      socket.write(halves[n % halves.length]!)
      sockets.push(socket)
      if (n % 10 === 0) await assertServes()
    }
    // The server accepts connections in order. So once a later connection is served, all earlier
    // ones are accepted.
    const last = await open()
    last.write(request(many, { findOne: { filter: { _id: 1 } } }))
    assert.equal((await readResponse(last)).status, 200)
    last.destroy()
    const answers = await Promise.all(
      Array.from({ length: 100 }, (_, _id) =>
        server.command(many, { findOne: { filter: { _id } } }),
      ),
    )
    for (const [_id, answer] of answers.entries())
      assert.equal(answer.body.data!.document!['_id'], _id)
    assert.equal((await server.command(many, longRead)).text, allOfThem)
    for (const [n, socket] of sockets.entries())
      if (n % 2 === 0) socket.destroy()
      else socket.resetAndDestroy()
    // Up to 110 keep-alive connections of the requests above stay open.
    await assertNothingHeld(before + 110)
    await assertServes()
  })

  test('serves other clients while some clients read slowly, and the slow clients get complete replies', async () => {
    const slow = await Promise.all(Array.from({ length: 20 }, () => open()))
    for (const socket of slow) {
      socket.pause()
      socket.write(request(many, { find: {} }))
    }
    for (let n = 0; n < 50; n++) await assertServes()
    for (const socket of slow) {
      const { status, body } = await readResponse(socket)
      assert.equal(status, 200)
      const { data } = JSON.parse(body) as { data: { documents: unknown[] } }
      assert.equal(data.documents.length, 2_000)
      socket.destroy()
    }
  })

  test('aborts reads whose client has disconnected', async () => {
    // Reader threads start on demand, and each opens the files of the store. Repeats the reads
    // until all of them have started.
    for (let held = -1; held !== heldNow();) {
      held = heldNow()
      for (let round = 0; round < 2; round++)
        await Promise.all(Array.from({ length: 20 }, () => server.command(many, longRead)))
    }
    // Another reader thread may start when all are busy, which opens files. Repeats the disconnects
    // until the number of open files no longer grows.
    for (let before = -1, times = 0; heldNow() > before; times++) {
      assert(times < 8, `${heldNow()} are open, ${before} were`)
      before = heldNow()
      await leaveReads()
      await untilHeld(before)
    }
    assert.equal((await server.command(many, longRead)).text, allOfThem)
    assert.equal(server.err, '')
  })

  async function leaveReads(): Promise<void> {
    for (let round = 0; round < 5; round++) {
      const leaving = await Promise.all(Array.from({ length: 20 }, () => open()))
      for (const [n, socket] of leaving.entries())
        socket.write(request(many, n % 2 === 0 ? longRead : { find: { sort: { a: 1 } } }))
      await assertServes()
      for (const [n, socket] of leaving.entries())
        if (n % 3 === 0) socket.resetAndDestroy()
        else socket.destroy()
      await assertServes()
    }
  }

  test('stores all documents or none of a write whose client has disconnected', async () => {
    // These commands open the store, so that its files are included in `before`.
    await server.command('/default_keyspace/new', { insertOne: { document: {} } })
    await server.command('/default_keyspace/new', { countDocuments: { filter: { n: 1 } } })
    const before = heldNow()
    for (let round = 0; round < 20; round++) {
      const socket = await open()
      const documents = Array.from({ length: 50 }, (_, n) => ({ round, n }))
      socket.write(request('/default_keyspace/new', { insertMany: { documents } }))
      await delay(round % 5)
      socket.resetAndDestroy()
    }
    await assertNothingHeld(before)
    for (let round = 0; round < 20; round++) {
      const answer = await server.command('/default_keyspace/new', {
        countDocuments: { filter: { round } },
      })
      const { count } = answer.body.status as { count: number }
      assert(count === 0 || count === 50, `${count} of 50`)
    }
    assert.equal(server.err, '')
  })

  test('keeps a connection open during hundreds of valid and invalid requests', async () => {
    const socket = await open()
    for (let n = 0; n < 300; n++) {
      const [text, expected] = [
        [request(many, { findOne: { filter: { _id: n } } }), 200],
        [request(many, { find: { filter: { $bad: 1 } } }), 200],
        [request(many, { find: {} }, 'wrong'), 401],
        [request('/a/b/c/d', { find: {} }), 404],
        [request(many, {}).replace('POST', 'PUT'), 405],
        [request(many, {}).replace('application/json', 'text/plain'), 415],
      ][n % 6] as [string, number]
      socket.write(text)
      assert.equal((await readResponse(socket)).status, expected)
    }
    socket.destroy()
  })
})

describe('a server that stops', () => {
  test('answers running requests, and has stored all acknowledged writes', async () => {
    const documents = Array.from({ length: 100 }, (_, n) => ({ last: n }))
    const reads = Array.from({ length: 10 }, () => server.command(many, longRead))
    const writes = Array.from({ length: 10 }, () =>
      server.command('/default_keyspace/new', { insertMany: { documents } }),
    )
    // The server has received the reads once it answers a later request.
    await assertServes()
    assert.equal(await server.stop(), 0)
    for (const answer of await Promise.all(reads)) assert.equal(answer.text, allOfThem)
    for (const answer of await Promise.all(writes)) assert.deepEqual(answer.codes, [])
    assert.equal(server.err, '')

    await start()
    const answer = await server.command('/default_keyspace/new', {
      countDocuments: { filter: { last: { $gte: 0 } } },
    })
    assert.deepEqual(answer.body.status, { count: 1_000 })
  })

  test('does not wait for idle connections', async () => {
    const idle = await Promise.all(Array.from({ length: 50 }, () => open()))
    // The operating system resets connections that the server has not accepted when it stops
    // listening.
    const closed = idle.map(
      (socket) => new Promise((resolve) => socket.once('close', resolve)),
    )
    for (const socket of idle.slice(0, 25)) {
      socket.write(request('', { findKeyspaces: {} }))
      assert.equal((await readResponse(socket)).status, 200)
    }
    for (const socket of idle) socket.resume()
    assert.equal(await server.stop(), 0)
    await Promise.all(closed)
  })

  test('does not wait for requests that never end, or for replies that are never read', async () => {
    const halves = await Promise.all(Array.from({ length: 20 }, () => open()))
    for (const socket of halves) socket.write(request(many, { find: {} }).slice(0, -3))
    const deaf = await Promise.all(Array.from({ length: 5 }, () => open()))
    for (const socket of deaf) {
      socket.pause()
      socket.write(request(many, { find: {} }))
    }
    await assertServes()
    assert.equal(await server.stop(), 0)
    for (const socket of [...halves, ...deaf]) socket.destroy()
  })
})
