/** Connections that are slow, broken or numerous do not affect other clients. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import {
  Agent,
  maxHeaderSize,
  request as httpRequest,
  type IncomingMessage,
} from 'node:http'
import type { Socket } from 'node:net'
import { afterEach, describe, test } from 'node:test'
import { defaultLimits } from '../../src/limits.ts'
import { startServer, testToken, type Answer, type TestServer } from '../harness.ts'
import { openConnection, readUntil } from './raw-connection.ts'

let server: TestServer
afterEach(() => server.close())

const headers = `Host: test\r\nToken: ${testToken}\r\nContent-Type: application/json\r\n`
const findKeyspaces = '{"findKeyspaces":{}}'

function open(): Promise<Socket> {
  return openConnection(server.url)
}

function wholeRequest(): string {
  return `POST /v1 HTTP/1.1\r\n${headers}Content-Length: ${findKeyspaces.length}\r\n\r\n${findKeyspaces}`
}

/** Reads until the connection closes. */
async function readAll(socket: Socket): Promise<string> {
  let text = ''
  socket.on('data', (chunk) => (text += String(chunk)))
  await once(socket, 'close')
  return text
}

function assertRefused(reply: string, status: number, code: string): void {
  const [head, body] = reply.split('\r\n\r\n') as [string, string]
  assert.match(head, new RegExp(`^HTTP/1\\.1 ${status} `))
  const { errors } = JSON.parse(body) as Answer['body']
  assert.deepEqual(
    errors!.map(({ errorCode }) => errorCode),
    [code],
  )
}

async function assertServes(): Promise<void> {
  const answer = await server.command('', { findKeyspaces: {} })
  assert.deepEqual(answer.body, { status: { keyspaces: ['default_keyspace'] } })
}

/**
 * Asserts that the server answers. Retries, because on a busy machine a request may exceed the
 * short request timeout.
 */
async function assertServesInTime(): Promise<void> {
  let answer: Answer | undefined
  while (answer === undefined)
    answer = await server.command('', { findKeyspaces: {} }).catch(() => undefined)
  assert.deepEqual(answer.body, { status: { keyspaces: ['default_keyspace'] } })
}

describe('connections', () => {
  test('stay open for further requests', async () => {
    server = await startServer()
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    const ports = new Set<number | undefined>()
    for (let i = 0; i < 5; i++) {
      const request = httpRequest(`${server.url}/v1`, {
        agent,
        method: 'POST',
        headers: { Token: i === 2 ? 'unknown' : testToken },
      })
      request.end(findKeyspaces)
      const [response] = (await once(request, 'response')) as [IncomingMessage]
      ports.add(request.socket?.localPort)
      assert.equal(response.statusCode, i === 2 ? 401 : 200)
      response.resume()
      await once(response, 'end')
    }
    agent.destroy()
    assert.equal(ports.size, 1)
  })

  test('accept pipelined requests', async () => {
    server = await startServer()
    const socket = await open()
    socket.write(
      wholeRequest() + wholeRequest() + wholeRequest().replace('/v1', '/nowhere'),
    )
    const text = await readUntil(socket, '404 Not Found')
    assert.equal(text.split('HTTP/1.1 200 OK').length - 1, 2)
    socket.destroy()
  })

  test('accept requests with different tokens', async () => {
    server = await startServer()
    const socket = await open()
    for (const [token, http] of [
      [testToken, '200 OK'],
      [testToken, '200 OK'],
      ['unknown', '401 Unauthorized'],
      ['unknown', '401 Unauthorized'],
      [testToken, '200 OK'],
    ] as const) {
      socket.write(wholeRequest().replace(testToken, token))
      assert.match(await readUntil(socket, ']}'), new RegExp(`^HTTP/1.1 ${http}`))
    }
    socket.destroy()
  })

  test('stay usable after a body that was rejected unread', async () => {
    server = await startServer({
      limits: { ...defaultLimits, documentLengthMax: 100, bodySizeMax: 1_000 },
    })
    const socket = await open()
    const long = ' '.repeat(100_000)
    socket.write(`POST /v1 HTTP/1.1\r\n${headers}Content-Length: 100000\r\n\r\n${long}`)
    await readUntil(socket, '413 Payload Too Large')
    socket.write(wholeRequest())
    await readUntil(socket, 'default_keyspace')
    socket.destroy()
  })

  test('that deliver half a request do not delay others, even if there are hundreds', async () => {
    server = await startServer()
    const halves = [
      'POST /v1 HT',
      `POST /v1 HTTP/1.1\r\n${headers}`,
      `POST /v1 HTTP/1.1\r\n${headers}Content-Length: 1000\r\n\r\n{"find`,
      `POST /v1 HTTP/1.1\r\n${headers}Transfer-Encoding: chunked\r\n\r\n5\r\n{"fin`,
      '',
    ]
    const sockets = await Promise.all(Array.from({ length: 300 }, () => open()))
    for (const [i, socket] of sockets.entries()) socket.write(halves[i % halves.length]!)
    await assertServes()
    for (const socket of sockets.slice(0, 150)) socket.destroy()
    for (const socket of sockets.slice(150, 250)) socket.resetAndDestroy()
    await assertServes()
    // When the server stops, it closes the remaining connections.
    await server.stop()
    server = await startServer({ dataDir: server.dataDir })
  })

  test('that deliver a request too slowly are closed', async () => {
    server = await startServer({ requestTimeoutMs: 200 })
    const silent = await open()
    const half = await open()
    half.write(`POST /v1 HTTP/1.1\r\n${headers}Content-Length: 1000\r\n\r\n{"find`)
    // A silent connection gets no reply, because its client would take the reply for that of its
    // next request.
    const [nothing, refusal] = await Promise.all([readAll(silent), readAll(half)])
    assert.equal(nothing, '')
    assertRefused(refusal, 408, 'REQUEST_TOO_SLOW')
    await assertServesInTime()
  })

  test('that deliver malformed requests get a reply and are closed', async () => {
    server = await startServer()
    const socket = await open()
    socket.write('what is this?\r\n\r\n')
    assertRefused(await readAll(socket), 400, 'REQUEST_NOT_HTTP')
    await assertServes()
  })

  test('with headers that are too large get an error that states the limit', async () => {
    server = await startServer()
    const socket = await open()
    socket.write(
      `POST /v1 HTTP/1.1\r\n${headers}X-Long: ${'x'.repeat(maxHeaderSize)}\r\n\r\n`,
    )
    const refusal = await readAll(socket)
    assertRefused(refusal, 431, 'HEADERS_TOO_LARGE')
    assert.match(refusal, new RegExp(`${maxHeaderSize} bytes`))
    await assertServes()
  })

  test('that are closed during an upload do not affect others', async () => {
    server = await startServer()
    for (let i = 0; i < 20; i++) {
      const socket = await open()
      socket.write(`POST /v1 HTTP/1.1\r\n${headers}Content-Length: 500000\r\n\r\n`)
      socket.write(' '.repeat(100_000))
      socket.resetAndDestroy()
    }
    await assertServes()
  })

  test('that are closed before the reply do not affect others', async () => {
    server = await startServer()
    for (let i = 0; i < 50; i++) {
      const socket = await open()
      socket.write(wholeRequest())
      if (i % 2 === 0) socket.resetAndDestroy()
      else socket.destroySoon()
    }
    await assertServes()
  })
})

describe('a stopping server', () => {
  test('answers requests that arrived before it began to stop', async () => {
    server = await startServer()
    await server.command('/default_keyspace', { createCollection: { name: 'books' } })
    const documents = Array.from({ length: 100 }, (_, i) => ({
      _id: i,
      text: 'x'.repeat(500),
    }))
    const insertion = server.command('/default_keyspace/books', {
      insertMany: { documents },
    })
    // When the server has answered this later request, it has also received the insert.
    await assertServes()
    const [answer] = await Promise.all([insertion, server.stop()])
    assert.equal((answer.body.status!['insertedIds'] as unknown[]).length, 100)

    server = await startServer({ dataDir: server.dataDir })
    const count = await server.command('/default_keyspace/books', { countDocuments: {} })
    assert.deepEqual(count.body, { status: { count: 100 } })
  })

  test('closes idle connections and rejects new ones', async () => {
    server = await startServer()
    const idle = await open()
    idle.write(wholeRequest())
    await readUntil(idle, 'default_keyspace')
    const closed = once(idle.resume(), 'close')
    await server.stop()
    await closed
    await assert.rejects(fetch(`${server.url}/v1`, { method: 'POST' }))
    server = await startServer({ dataDir: server.dataDir })
  })
})
