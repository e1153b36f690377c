/**
 * Requests without a valid token. The server answers them from their headers, without reading their
 * bodies.
 */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { Socket } from 'node:net'
import { afterEach, describe, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import {
  Authenticator,
  isPrincipal,
  type TokenKeeper,
} from '../../src/auth/authenticator.ts'
import { LocalLockout } from '../../src/auth/local-lockout.ts'
import { digestOf } from '../../src/auth/tokens.ts'
import { defaultLimits } from '../../src/limits.ts'
import { startServer, testToken, type TestServer } from '../harness.ts'
import { headOf, openConnection, readUntil, requestOf } from './raw-connection.ts'

let server: TestServer
const sockets: Socket[] = []
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy()
  await server.close()
})

async function open(): Promise<Socket> {
  const socket = await openConnection(server.url)
  sockets.push(socket)
  return socket
}

const wrong = { Token: 'wrong' }

describe('a request with an invalid token', () => {
  test('is answered before any byte of its body has arrived', async () => {
    server = await startServer()
    for (const length of [20, 19_800_000, 900_000_000, undefined]) {
      const socket = await open()
      socket.write(headOf(length, '/v1', wrong))
      const text = await readUntil(socket, 'UNAUTHENTICATED_REQUEST')
      assert.match(text, /^HTTP\/1\.1 401 /)
      // The server keeps the connection open only if the body is short, and then reads the rest of it.
      assert.equal(/^Connection: close\r$/m.test(text), length !== 20)
    }
  })

  test('is rejected for its token, whatever is wrong with its body', async () => {
    server = await startServer({ compression: true, badCredentialsMax: 0 })
    for (const [body, headers] of [
      ['{"not": json', {}],
      ['', {}],
      ['x'.repeat(30_000_000), {}],
      [gzipSync('['.repeat(1_000_000)), { 'Content-Encoding': 'gzip' }],
      ['{}', { 'Content-Type': 'text/plain' }],
      ['{}', { 'Content-Encoding': 'nonsense' }],
    ] as const) {
      const answer = await server.send('/v1/nowhere/nothing', {
        method: 'POST',
        headers: { ...headers, ...wrong },
        body,
      })
      assert.equal(answer.http, 401)
      assert.deepEqual(answer.codes, ['UNAUTHENTICATED_REQUEST'])
    }
    const metrics = (await server.send('/metrics', {})).text
    assert.match(metrics, /^stela_commands_refused_total\{reason="unauthenticated"\} 6$/m)
    assert.doesNotMatch(metrics, /stela_commands_total\{/)
  })

  test('counts towards the lockout, whatever else is wrong with the request', async () => {
    server = await startServer({ badCredentialsMax: 8 })
    const send = (path: string, method: string, headers: Record<string, string>) =>
      server.send(path, { method, headers: { ...wrong, ...headers }, body: '{"not": json' })
    for (const [path, method, headers] of [
      ['/v1', 'POST', {}],
      ['/v1/a/b/c/d', 'POST', {}],
      ['/v1/a/b', 'PUT', {}],
      ['/v1', 'POST', { 'Content-Type': 'text/plain' }],
      ['/nowhere', 'POST', {}],
      ['/nowhere/%zz', 'POST', {}],
      ['/databases/none/v1/a/b/c', 'PUT', {}],
    ] as const)
      assert.equal((await send(path, method, headers)).http, 401, path)
    const expecting = await open()
    expecting.write(headOf(20, '/v1', { ...wrong, Expect: 'x' }))
    assert.match(await readUntil(expecting, 'UNAUTHENTICATED_REQUEST'), / 401 /)
    const locked = await send('/v1', 'POST', {})
    assert.equal(locked.http, 429)
    assert.deepEqual(locked.codes, ['CREDENTIALS_LOCKED'])
    assert(Number(locked.headers.get('retry-after')) > 0)
  })

  test('is the only request that counts towards the lockout on paths that need no token', async () => {
    server = await startServer({ badCredentialsMax: 1 })
    const unknown = await server.send('/nowhere', {})
    assert.deepEqual([unknown.http, unknown.codes], [404, ['UNKNOWN_PATH']])
    for (const path of ['/stargate/health', '/nowhere'])
      await server.send(path, { headers: { Token: testToken } })
    const again = await server.send('/nowhere', { headers: wrong })
    assert.deepEqual([again.http, again.codes], [401, ['UNAUTHENTICATED_REQUEST']])
    const locked = await server.send('/nowhere', { headers: wrong })
    assert.deepEqual([locked.http, locked.codes], [429, ['CREDENTIALS_LOCKED']])
  })

  test('gets its reply while its client is still sending the body', async () => {
    server = await startServer({ badCredentialsMax: 0 })
    // This client reads the reply only after it has sent the whole body.
    const socket = await open()
    socket.pause()
    socket.write(headOf(15_000_000, '/v1', wrong))
    for (let sent = 0; sent < 15; sent++)
      if (!socket.write(' '.repeat(1_000_000))) await once(socket, 'drain')
    assert.match(await readUntil(socket, 'UNAUTHENTICATED_REQUEST'), /^HTTP\/1\.1 401 /)
    await once(socket.resume(), 'close')
  })

  test('is disconnected when its body exceeds the maximum size', async () => {
    server = await startServer({
      limits: { ...defaultLimits, documentLengthMax: 100, bodySizeMax: 200_000 },
    })
    const socket = await open()
    socket.write(headOf(undefined, '/v1', wrong))
    await readUntil(socket, 'UNAUTHENTICATED_REQUEST')
    const closed = once(socket.resume(), 'close').then(() => true)
    const chunk = `10000\r\n${' '.repeat(65_536)}\r\n`
    let isClosed = false
    for (let i = 0; i < 10_000 && !isClosed; i++) {
      socket.write(chunk)
      isClosed = await Promise.race([closed, delay(1, false)])
    }
    assert(isClosed)
  })

  test('takes no memory from uploads of other clients, however many such requests arrive', async () => {
    server = await startServer({ bodyMemoryMax: 20_000_000, badCredentialsMax: 0 })
    const upload = await open()
    const body = `{"findKeyspaces":{}}${' '.repeat(1_000_000)}`
    upload.write(headOf(body.length) + body.slice(0, 500_000))
    for (let i = 0; i < 40; i++) {
      const socket = await open()
      socket.write(headOf(19_000_000, '/v1', wrong) + ' '.repeat(100_000))
    }
    assert.equal((await server.command('', { findKeyspaces: {} })).http, 200)
    upload.write(body.slice(500_000))
    await readUntil(upload, 'default_keyspace')
  })

  test('gets no interim reply 100 Continue', async () => {
    server = await startServer()
    const expecting = { Expect: '100-continue' }
    const refused = await open()
    refused.write(headOf(1_000, '/v1', { ...wrong, ...expecting }))
    const text = await readUntil(refused, 'UNAUTHENTICATED_REQUEST')
    assert.doesNotMatch(text, /100 Continue/)
    assert.match(text, /^Connection: close\r$/m)

    const body = JSON.stringify({ findKeyspaces: {} })
    const welcome = await open()
    welcome.write(headOf(body.length, '/v1', expecting))
    await readUntil(welcome, '100 Continue')
    welcome.write(body)
    await readUntil(welcome, 'default_keyspace')

    // The server ignores an Expect header with an unknown value.
    const strange = await open()
    strange.write(headOf(body.length, '/v1', { Expect: 'x' }) + body)
    assert.doesNotMatch(await readUntil(strange, 'default_keyspace'), /100 Continue/)
  })

  test('leaves its connection usable when the body was short', async () => {
    server = await startServer()
    const socket = await open()
    socket.write(requestOf({ findKeyspaces: {} }, '/v1', wrong))
    await readUntil(socket, 'UNAUTHENTICATED_REQUEST')
    socket.write(requestOf({ findKeyspaces: {} }))
    await readUntil(socket, 'default_keyspace')
  })
})

describe('a token that has expired', () => {
  test('is reported as expired and does not count as a guess', async () => {
    server = await startServer()
    const expiresAtMs = Date.parse('2026-01-02T03:04:05.000Z')
    const principal = { name: 'token x' } as never
    const keeper = {
      find: (digest: string) =>
        Promise.resolve(
          digest === digestOf('old')
            ? { principal, expiresAtMs, isRevoked: false }
            : undefined,
        ),
    } satisfies TokenKeeper
    const lockout = new LocalLockout(2)
    const authenticator = new Authenticator(keeper, lockout)
    const from = { connection: {}, address: '203.0.113.7' }
    for (let i = 0; i < 5; i++)
      assert.deepEqual(await authenticator.identify('old', from), {
        why: 'expired',
        expiredAt: '2026-01-02T03:04:05.000Z',
      })
    assert.deepEqual(await authenticator.identify('none', from), { why: 'unknown' })
  })

  test('is rejected at once on a connection that used it while it was valid', async () => {
    server = await startServer()
    const from = { connection: {}, address: '203.0.113.7' }
    const holder = { principal: { name: 'x' } as never, expiresAtMs: Infinity }
    const revoked = { ...holder, isRevoked: false }
    const keeper = {
      find: () => revoked,
    }
    const authenticator = new Authenticator(keeper, new LocalLockout(0))
    assert(authenticator.identify(testToken, from) instanceof Promise)
    await authenticator.identify(testToken, from)
    const found = authenticator.identify(testToken, from)
    assert(!(found instanceof Promise) && isPrincipal(found), 'without a promise')
    revoked.isRevoked = true
    assert.deepEqual(await authenticator.identify(testToken, from), { why: 'unknown' })
  })
})
