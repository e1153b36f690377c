/**
 * Replies of many megabytes have the same bytes as the same documents in small replies. Other
 * requests get their turns while a large reply is read, serialized and sent.
 */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { rm } from 'node:fs/promises'
import { request as httpRequest, type IncomingMessage } from 'node:http'
import { after, before, describe, test } from 'node:test'
import { brotliDecompressSync, gunzipSync, zstdDecompressSync } from 'node:zlib'
import { printReply } from '../../src/http/reply.ts'
import { wholeText, type LongText } from '../../src/json/long-text.ts'
import {
  startServer,
  temporaryFolder,
  testToken,
  type Answer,
  type TestServer,
} from '../harness.ts'
import { H2Client } from './h2-client.ts'
import { makeCertificate, saveCertificate } from './made-certificate.ts'
import { headOf, openConnection } from './raw-connection.ts'

/**
 * Minimum number of other requests that are answered during one large reply. Usually many more are
 * answered.
 */
const answersMin = 4

/**
 * Strings with one and several bytes per character. Their lengths are around the size at which the
 * server cuts texts.
 */
const strings = [
  'short',
  'x'.repeat(3_000_000),
  'x'.repeat(65_535),
  `x${'😀'.repeat(40_000)}`,
  'ü'.repeat(1_000_000),
  'short',
  '語'.repeat(700_000),
  ...Array<string>(4).fill('y'.repeat(3_500_000)),
]
const documents = strings.map((text, _id) => ({ _id, odd: _id % 2 === 1, text }))

const path = '/default_keyspace/long'
const whole = { find: {} }

describe('a large reply', () => {
  let server: TestServer
  /** The expected text of the reply, built from finds of single documents. */
  let expected: string
  before(async () => {
    server = await startServer({ checked: false, durable: false, compression: true })
    const options = { indexing: { deny: ['text'] } }
    await send('/default_keyspace', { createCollection: { name: 'long', options } })
    const texts: string[] = []
    for (const document of documents) {
      const { codes } = await send(path, { insertOne: { document } })
      assert.deepEqual(codes, [])
      const filter = { _id: document._id }
      const { text } = await send(path, { findOne: { filter } })
      texts.push(text.slice('{"data":{"document":'.length, -2))
    }
    expected = `{"data":{"documents":[${texts.join(',')}],"nextPageState":null}}`
  })
  after(() => server.close())

  function send(to: string, command: object): Promise<Answer> {
    return server.command(to, command, { 'Accept-Encoding': 'identity' })
  }

  async function metric(name: string): Promise<number> {
    const { text } = await server.send('/metrics', {})
    return Number(new RegExp(`^${name} (\\d+)$`, 'm').exec(text)?.[1] ?? 0)
  }

  for (const [way, command] of Object.entries({
    'without a sort': whole,
    'in the order of ids': { find: { sort: { _id: 1 } } },
    'by a filter': { find: { filter: { odd: { $in: [true, false] } } } },
    'by a range of ids': { find: { filter: { _id: { $gte: 0 } } } },
    'by a list of ids': { find: { filter: { _id: { $in: documents.map((d) => d._id) } } } },
    'with a projection': { find: { projection: { none: 0 } } },
  }))
    test(`contains the same bytes as small replies when it is read ${way}`, async () => {
      const { text, headers } = await send(path, command)
      assert.equal(text, expected)
      assert.equal(Number(headers.get('content-length')), Buffer.byteLength(expected))
    })

  test('is printed in parts with the same text as in one piece', () => {
    const parts = ['{"a":1}', ',{"a":2}']
    const print = (texts: LongText, nextPageState: string | null) =>
      printReply({ data: { documents: texts, nextPageState }, status: { n: 2 } })
    for (const state of [null, 'next'])
      assert.equal(wholeText(print(parts, state)), print(parts.join(''), state))
  })

  for (const [encoding, unpack] of Object.entries({
    gzip: gunzipSync,
    br: brotliDecompressSync,
    zstd: zstdDecompressSync,
  }))
    test(`is compressed with ${encoding}`, async () => {
      const headers = { Token: testToken, 'Accept-Encoding': encoding }
      const options = { agent: false, method: 'POST', headers }
      const request = httpRequest(`${server.url}/v1${path}`, options)
      request.end(JSON.stringify(whole))
      const [response] = (await once(request, 'response')) as [IncomingMessage]
      const chunks: Buffer[] = []
      for await (const chunk of response) chunks.push(chunk as Buffer)
      assert.equal(response.headers['content-encoding'], encoding)
      assert.equal(unpack(Buffer.concat(chunks)).toString(), expected)
    })

  test('arrives complete at a client of HTTP/1.0', async () => {
    const socket = await openConnection(server.url)
    const body = JSON.stringify(whole)
    const head = headOf(body.length, `/v1${path}`).replace('HTTP/1.1', 'HTTP/1.0')
    socket.write(head + body)
    const chunks: Buffer[] = []
    for await (const chunk of socket) chunks.push(chunk as Buffer)
    const text = Buffer.concat(chunks).toString()
    assert.equal(text.slice(text.indexOf('\r\n\r\n') + 4), expected)
  })

  test('lets other requests run while it is sent', async () => {
    for (const command of [whole, { find: { projection: { odd: 0 } } }]) {
      const state = { isRunning: true }
      const answering = send(path, command).finally(() => (state.isRunning = false))
      let answers = 0
      for (; state.isRunning; answers++)
        assert.equal((await server.command('', { findKeyspaces: {} })).http, 200)
      assert.deepEqual((await answering).codes, [])
      assert(answers >= answersMin, `${answers} answers`)
    }
  })

  test('is read on a reader thread, and a small one is not', async () => {
    const name = 'stela_reads_moved_to_threads_total'
    const filter = { _id: { $gte: 7 } }
    for (const command of [
      whole,
      { find: { sort: { _id: 1 } } },
      { find: { sort: { odd: 1 } } },
      { find: { filter } },
      { find: { filter: { odd: true } } },
      { find: { projection: { odd: 0 } } },
      { find: { filter: { _id: { $in: [7, 8] } } } },
    ]) {
      const before = await metric(name)
      assert.deepEqual((await send(path, command)).codes, [])
      assert.equal(await metric(name), before + 1, JSON.stringify(command))
    }
    const before = await metric(name)
    const few = { find: { filter: { _id: { $in: [0, 2, 3, 5] } } } }
    assert.deepEqual((await send(path, few)).codes, [])
    assert.equal(await metric(name), before)
  })

  test('is dropped when the client disconnects in the middle', async () => {
    for (let read = 0; read < 3; read++) {
      const socket = await openConnection(server.url)
      const body = JSON.stringify(whole)
      socket.write(headOf(body.length, `/v1${path}`) + body)
      // The client disconnects after reading `read` chunks: before the reply, at its start, or
      // later.
      for (let i = 0; i < read; i++) await once(socket, 'data')
      socket.destroy()
    }
    while ((await metric('stela_reply_memory_bytes')) > 0);
    assert.equal((await send(path, whole)).text, expected)
  })

  test('has the same bytes over HTTP/2', async () => {
    await server.stop()
    const folder = await temporaryFolder()
    const certificate = makeCertificate()
    const tls = await saveCertificate(folder, certificate)
    const { dataDir } = server
    server = await startServer({ checked: false, durable: false, dataDir, tls })
    const client = await H2Client.connect(server.url, certificate.cert)
    assert.equal((await client.command(path, whole)).text, expected)
    await client.close()
    await rm(folder, { recursive: true })
  })
})
