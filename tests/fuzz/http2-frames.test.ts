/** Arbitrary HTTP/2 frames on one connection do not affect other connections. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { rm } from 'node:fs/promises'
import { after, before, describe, test } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import { connect, type TLSSocket } from 'node:tls'
import { Random, seed } from '../faults/random.ts'
import { killLeftovers, processToken, ServerProcess } from '../faults/server-process.ts'
import { temporaryFolder } from '../harness.ts'
import { H2Client } from '../http/h2-client.ts'
import { makeCertificate, saveCertificate } from '../http/made-certificate.ts'
import {
  beginning,
  commandFrames,
  flags,
  frame,
  frameTypes,
  headerBlock,
  writeFrames,
} from './http2-frames.ts'

const made = makeCertificate()
const body = '{"findKeyspaces": {}}'
const headers = {
  ':method': 'POST',
  ':scheme': 'https',
  ':authority': '127.0.0.1',
  ':path': '/v1',
  token: processToken,
  'content-type': 'application/json',
}

let folder: string
let server: ServerProcess
before(async () => {
  folder = await temporaryFolder()
  const { certFile, keyFile } = await saveCertificate(folder, made)
  const tls = ['--tls-cert', certFile, '--tls-key', keyFile]
  server = await ServerProcess.start(`${folder}/data`, ...tls)
})
after(async () => {
  await killLeftovers()
  await rm(folder, { recursive: true, force: true })
})

/** Sends bytes, and reads until the server is silent or has closed the connection. */
async function sendBytes(bytes: Buffer): Promise<void> {
  const socket = await open()
  let heardAt = performance.now()
  let patienceMs = 2_000
  socket.on('data', () => (heardAt = performance.now()))
  socket.write(bytes, () => {
    heardAt = performance.now()
    patienceMs = 20
  })
  while (!socket.destroyed && performance.now() - heardAt < patienceMs) await setTimeout(5)
  socket.destroy()
}

async function open(): Promise<TLSSocket> {
  const port = Number(new URL(server.url).port)
  const socket = connect({ port, ca: made.cert, ALPNProtocols: ['h2'] })
  // The server closes many of these connections on purpose, so errors are ignored.
  socket.on('error', () => undefined).on('end', () => socket.destroy())
  await once(socket, 'secureConnect')
  return socket
}

async function assertServed(): Promise<void> {
  assert.equal(server.child.exitCode, null, server.err)
  const client = await H2Client.connect(server.url, made.cert)
  const answer = await client.command('', body, { token: processToken })
  assert.equal(answer.status, 200)
  assert.deepEqual(answer.body, { status: { keyspaces: ['default_keyspace'] } })
  await client.close()
  assert.doesNotMatch(server.err, /"level":[56]0/)
}

describe(`frames of all kinds, seed ${seed}`, () => {
  test('get a reply to their command when they are valid', async () => {
    const socket = await open()
    socket.write(Buffer.concat([...beginning, ...commandFrames(1, headers, body)]))
    let heard = ''
    while (!heard.includes('default_keyspace')) {
      const [chunk] = (await once(socket, 'data')) as [Buffer]
      heard += chunk.toString('latin1')
    }
    socket.destroy()
  })

  test('do not affect other connections', async () => {
    const random = new Random(seed)
    for (let round = 0; round < 12; round++) {
      const sent = Array.from({ length: 25 }, () => writeFrames(random, { headers, body }))
      await Promise.all(sent.map(sendBytes))
      await assertServed()
    }
  })
})

describe('a connection that', () => {
  const streams = (count: number) => Array.from({ length: count }, (_, n) => 2 * n + 1)
  const cancel = Buffer.of(0, 0, 0, 8)
  const floods: Readonly<Record<string, () => Buffer[]>> = {
    'begins requests and resets them at once': () =>
      streams(20_000).flatMap((stream) => [
        ...commandFrames(stream, headers, body),
        frame(frameTypes.reset, 0, stream, cancel),
      ]),
    'never ends its headers': () => [
      frame(frameTypes.headers, 0, 1, headerBlock(headers)),
      ...streams(5_000).map(() =>
        frame(frameTypes.continuation, 0, 1, headerBlock({ x: 'y'.repeat(4_000) })),
      ),
    ],
    'sends headers that grow when they are decompressed': () => [
      // One long header in the dynamic table, and many references to it, so that decompression
      // multiplies its size.
      frame(
        frameTypes.headers,
        flags.endHeaders | flags.endStream,
        1,
        Buffer.concat([
          headerBlock(headers),
          Buffer.of(0x40),
          headerBlock({ x: 'y'.repeat(4_000) }).subarray(1),
          Buffer.alloc(10_000, 0xbe),
        ]),
      ),
    ],
    'sends PING frames without end': () =>
      streams(100_000).map(() => frame(frameTypes.ping, 0, 0, Buffer.alloc(8))),
    'sends SETTINGS frames without end': () =>
      streams(50_000).map(() =>
        frame(frameTypes.settings, 0, 0, Buffer.of(0, 4, 0, 0, 255, 255)),
      ),
    'sends many empty frames': () => [
      frame(frameTypes.headers, flags.endHeaders, 1, headerBlock(headers)),
      ...streams(50_000).map(() => frame(frameTypes.data, 0, 1)),
    ],
    'requests large replies and reads none': () => [
      frame(frameTypes.settings, 0, 0, Buffer.of(0, 4, 0, 0, 0, 0)),
      ...streams(2_000).map((stream) =>
        frame(
          frameTypes.headers,
          flags.endHeaders | flags.endStream,
          stream,
          headerBlock({ ...headers, ':method': 'GET', ':path': '/api/json/openapi' }),
        ),
      ),
    ],
    'begins more requests than are allowed, and ends none': () =>
      streams(5_000).map((stream) =>
        frame(frameTypes.headers, flags.endHeaders, stream, headerBlock(headers)),
      ),
  }

  for (const [name, flood] of Object.entries(floods))
    test(`${name} does not affect other connections`, async () => {
      const bytes = Buffer.concat([...beginning, ...flood()])
      const flooding = Promise.all([sendBytes(bytes), sendBytes(bytes)])
      await assertServed()
      await flooding
      await assertServed()
    })
})
