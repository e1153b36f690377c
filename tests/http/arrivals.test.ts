/**
 * Limits for clients that have not sent a valid token: concurrent work per address, and the
 * number of log lines about rejections.
 */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect as connectHttp2, constants } from 'node:http2'
import { connect, type Socket } from 'node:net'
import { afterEach, describe, test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { connect as connectTls } from 'node:tls'
import { Audit } from '../../src/auth/audit.ts'
import { ArrivalQueue } from '../../src/http/arrival-queue.ts'
import { hasWholeHello } from '../../src/http/client-hello.ts'
import { fixedLimits } from '../../src/limits.ts'
import { defaultAddressLimits } from '../../src/settings/address-settings.ts'
import { clientHello } from '../hostile/client-hello.ts'
import { goAwayCode, resetStreams } from '../hostile/reset-streams.ts'
import { startServer, temporaryFolder, type TestServer } from '../harness.ts'
import { makeCertificate, saveCertificate } from './made-certificate.ts'
import { openConnection, readReply } from './raw-connection.ts'

/** Blocks the event loop for as long as the queue may start arrivals in one turn. */
function spin(): void {
  const startedAt = performance.now()
  while (performance.now() - startedAt <= fixedLimits.arrivalsMsPerTurn);
}

describe('the queue of arrivals', () => {
  test('starts arrivals immediately until the time of the current turn is used up', () => {
    const queue = new ArrivalQueue(0)
    const begun: number[] = []
    for (let n = 0; n < 3; n++) queue.add('a', () => begun.push(n))
    assert.deepEqual(begun, [0, 1, 2])
    assert.equal(queue.delayed, 0)
  })

  test('starts further arrivals in later turns of the loop, one of each address in turn', async () => {
    const queue = new ArrivalQueue(0)
    const begun: string[] = []
    queue.add('a', spin)
    for (const name of ['a1', 'a2', 'a3', 'b1', 'b2'])
      queue.add(name.slice(0, 1), () => {
        begun.push(name)
        spin()
      })
    assert.deepEqual(begun, [])
    assert.equal(queue.delayed, 5)
    const counts: number[] = []
    while (begun.length < 5) {
      await turn()
      counts.push(begun.length)
    }
    assert.deepEqual(begun, ['a1', 'b1', 'a2', 'b2', 'a3'])
    // At most one arrival runs in each turn of the event loop, so other work runs between arrivals.
    assert(counts.every((count, i) => count - (counts[i - 1] ?? 0) <= 1))
  })

  test('measures the synchronous work of an arrival, and work that continues in a promise', async () => {
    const queue = new ArrivalQueue(0)
    const begun: number[] = []
    queue.add('a', spin)
    for (let n = 0; n < 3; n++)
      queue.add('a', () => {
        void Promise.resolve().then(() => {
          begun.push(n)
          spin()
        })
      })
    const counts: number[] = []
    while (begun.length < 3) {
      await turn()
      counts.push(begun.length)
    }
    assert(counts.every((count, i) => count - (counts[i - 1] ?? 0) <= 1))
  })

  test('delays an address whose requests are rejected too often, and no other address', async () => {
    const queue = new ArrivalQueue(2)
    for (let n = 0; n < 2; n++) queue.noteRejected('a')
    const begun: string[] = []
    queue.add('a', () => begun.push('a'))
    queue.add('b', () => begun.push('b'))
    for (let n = 0; n < 5; n++) await turn()
    assert.deepEqual(begun, ['b'])
    while (begun.length < 2) await turn()
    assert.deepEqual(begun, ['b', 'a'])
  })

  test('treats all addresses of an IPv6 network as one', async () => {
    const queue = new ArrivalQueue(1)
    queue.noteRejected('2001:db8::1')
    const begun: string[] = []
    queue.add('2001:db8::2', () => begun.push('same network'))
    queue.add('2001:db9::2', () => begun.push('another network'))
    for (let n = 0; n < 5; n++) await turn()
    assert.deepEqual(begun, ['another network'])
    while (begun.length < 2) await turn()
  })
})

test('a complete ClientHello is recognised in any number of TLS records', async () => {
  const hello = await clientHello()
  assert(hasWholeHello(hello))
  for (const length of [1, 5, 8, hello.length - 1])
    assert(!hasWholeHello(hello.subarray(0, length)), String(length))
  const payload = hello.subarray(5)
  const record = (part: Buffer) =>
    Buffer.concat([Buffer.of(22, 3, 1, part.length >> 8, part.length & 0xff), part])
  const split = [record(payload.subarray(0, 2)), record(payload.subarray(2))]
  assert(hasWholeHello(Buffer.concat(split)))
  assert(!hasWholeHello(split[0]!))
  // Bytes that cannot start a TLS handshake count as complete. Otherwise the server would wait for
  // more bytes.
  assert(hasWholeHello(Buffer.from('GET /')))
})

test('rejections of one kind share a log line with their count', () => {
  const lines: { reason?: string; count?: number; address?: string }[] = []
  const rejected: string[] = []
  const log = { info: () => undefined, warn: (line: object) => lines.push(line) }
  const audit = new Audit(log, (address) => rejected.push(address))
  for (let n = 0; n < 100; n++) audit.refused('unknown token', { address: `10.0.0.${n}` })
  audit.refused('no token', { address: '10.0.0.200' })
  assert.deepEqual(
    lines.map(({ reason, count }) => [reason, count]),
    [
      ['unknown token', undefined],
      ['no token', undefined],
    ],
  )
  audit.close()
  assert.equal(lines.length, 3)
  const { reason, count, address } = lines[2]!
  assert.deepEqual([reason, count, address], ['unknown token', 99, '10.0.0.99'])
  assert.equal(rejected.length, 101)
})

describe('limits for each address', () => {
  let server: TestServer | undefined
  const sockets: Socket[] = []
  afterEach(async () => {
    for (const socket of sockets.splice(0)) socket.destroy()
    await server?.close()
    server = undefined
  })

  async function open(url: string): Promise<Socket> {
    const socket = await openConnection(url)
    sockets.push(socket)
    return socket
  }

  async function metric(name: string): Promise<number> {
    const text = await (await fetch(`${server!.url}/metrics`)).text()
    return Number(
      text
        .split('\n')
        .find((line) => line.startsWith(name))
        ?.split(' ')[1],
    )
  }

  async function startTls(addressLimits = defaultAddressLimits) {
    const made = makeCertificate()
    const tls = await saveCertificate(await temporaryFolder(), made)
    server = await startServer({ tls, addressLimits })
    return made.cert
  }

  test('close connections beyond the maximum, and count them', async () => {
    server = await startServer({ addressLimits: { ...defaultAddressLimits, openMax: 3 } })
    const first = [await open(server.url), await open(server.url), await open(server.url)]
    for (const socket of first) {
      socket.write('GET /stargate/health HTTP/1.1\r\nHost: x\r\n\r\n')
      assert.match(await readReply(socket), /^HTTP\/1\.1 200/)
    }
    const fourth = await open(server.url)
    fourth.resume()
    await once(fourth, 'close')
    first[0]!.destroy()
    await once(first[0]!, 'close')
    first[1]!.destroy()
    await once(first[1]!, 'close')
    for (;;)
      try {
        const name = 'stela_http_connections_closed_total{reason="address_connections"}'
        assert((await metric(name)) >= 1)
        break
      } catch (error) {
        // Sends the request again if it fails. The server may not have noticed yet that the
        // connections were closed.
        if (error instanceof assert.AssertionError) throw error
      }
  })

  test('delay new connections beyond the rate, and still answer them', async () => {
    const addressLimits = { ...defaultAddressLimits, connectionRate: 10 }
    server = await startServer({ addressLimits })
    const all = await Promise.all(Array.from({ length: 15 }, () => open(server!.url)))
    for (const socket of all)
      socket.write('GET /stargate/health HTTP/1.1\r\nHost: x\r\n\r\n')
    for (const socket of all) assert.match(await readReply(socket), /^HTTP\/1\.1 200/)
  })

  test('close silent connections when the server stops', async () => {
    server = await startServer()
    const silent = await open(server.url)
    const closed = once(silent.resume(), 'close')
    await server.close()
    server = undefined
    await closed
  })

  test('leave handshakes beyond the maximum unanswered until an earlier one ends', async () => {
    await startTls()
    const hello = await clientHello()
    const { handshakesPerAddressMax: max } = fixedLimits
    const answered: Socket[] = []
    const { hostname, port } = new URL(server!.url)
    const all = Array.from({ length: max + 5 }, () => {
      const socket = connect(Number(port), hostname)
      sockets.push(socket)
      socket.on('error', () => undefined).once('data', () => answered.push(socket))
      socket.write(hello)
      return socket
    })
    while (answered.length < max) await turn()
    for (let n = 0; n < 50; n++) await turn()
    assert.equal(answered.length, max)
    answered[0]!.destroy()
    while (answered.length === max) await turn()
    for (const socket of all) socket.destroy()
  })

  test('reject none of 200 concurrent handshakes', async () => {
    const ca = await startTls()
    const { hostname, port } = new URL(server!.url)
    const all = Array.from({ length: 200 }, async () => {
      const socket = connectTls({ host: hostname, port: Number(port), ca })
      sockets.push(socket)
      await once(socket, 'secureConnect')
    })
    await Promise.all(all)
  })

  test('end connections that reset streams too often', async () => {
    const ca = await startTls({ ...defaultAddressLimits, resetRate: 20 })
    const { hostname, port } = new URL(server!.url)
    const socket = connectTls({
      host: hostname,
      port: Number(port),
      ca,
      ALPNProtocols: ['h2'],
    })
    sockets.push(socket.on('error', () => undefined))
    let received = Buffer.alloc(0)
    socket.on('data', (chunk: Buffer) => (received = Buffer.concat([received, chunk])))
    await once(socket, 'secureConnect')
    socket.write(resetStreams(30))
    await once(socket, 'close')
    assert.equal(goAwayCode(received), constants.NGHTTP2_ENHANCE_YOUR_CALM)
    const name = 'stela_http_connections_closed_total{reason="stream_resets"}'
    // A connection without resets stays open.
    const other = connectHttp2(server!.url, { ca })
    const stream = other.request({ ':path': '/stargate/health' })
    const [headers] = (await once(stream, 'response')) as [{ ':status': number }]
    assert.equal(headers[':status'], 200)
    const metrics = other.request({ ':path': '/metrics' }).setEncoding('utf8')
    let text = ''
    for await (const chunk of metrics) text += String(chunk)
    assert(text.includes(`${name} 1\n`))
    other.destroy()
  })

  test('delay unknown tokens beyond the rate, and still answer the requests', async () => {
    const addressLimits = { ...defaultAddressLimits, rejectionRate: 10 }
    server = await startServer({ addressLimits, badCredentialsMax: 0 })
    const answers = await Promise.all(
      Array.from({ length: 15 }, () =>
        server!.command('/default_keyspace', { findCollections: {} }, { Token: 'wrong' }),
      ),
    )
    for (const { http } of answers) assert.equal(http, 401)
    assert((await metric('stela_http_arrivals_delayed_total')) > 0)
  })
})

test('all requests for metrics within the cache time get the same text', async () => {
  const server = await startServer({ metricsCacheMs: 3_600_000 })
  try {
    const text = async () => (await fetch(`${server.url}/metrics`)).text()
    const first = await text()
    await server.command('', { findKeyspaces: {} })
    assert.equal(await text(), first)
  } finally {
    await server.close()
  }
  assert.equal(fixedLimits.metricsCacheMs, 1_000)
})
