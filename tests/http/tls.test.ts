/** HTTPS: HTTP/2 and HTTP/1.1 with one certificate, which can be replaced at runtime. */
import assert from 'node:assert/strict'
import { X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import { rm, writeFile } from 'node:fs/promises'
import type { IncomingMessage } from 'node:http'
import { constants } from 'node:http2'
import { request as httpsRequest } from 'node:https'
import { join } from 'node:path'
import { after, afterEach, before, describe, test } from 'node:test'
import { connect as tlsConnect, type TLSSocket } from 'node:tls'
import { DataAPIClient, type Fetcher } from '@datastax/astra-db-ts'
import type { Config } from '../../src/settings/config.ts'
import { readCertificate } from '../../src/http/certificate.ts'
import { defaultLimits } from '../../src/limits.ts'
import { runStela } from '../cli/run-stela.ts'
import { killLeftovers, ServerProcess } from '../faults/server-process.ts'
import {
  startServer,
  temporaryFolder,
  testToken,
  type Envelope,
  type TestServer,
} from '../harness.ts'
import { H2Client, readAnswer, type H2Answer } from './h2-client.ts'
import { makeCertificate, saveCertificate } from './made-certificate.ts'
import { lettersCollection, PatientProvider } from './patient-provider.ts'

const made = makeCertificate()
const findKeyspaces = { findKeyspaces: {} }
const keyspaces = { status: { keyspaces: ['default_keyspace'] } }

let folder: string
before(async () => {
  folder = await temporaryFolder()
})
after(() => rm(folder, { recursive: true, force: true }))

let server: TestServer
const clients: H2Client[] = []

async function start(config: Partial<Config> = {}): Promise<void> {
  const tls = await saveCertificate(folder, made)
  server = await startServer({ tls, ...config })
}

async function open(): Promise<H2Client> {
  const client = await H2Client.connect(server.url, made.cert)
  clients.push(client)
  return client
}

async function closeAll(): Promise<void> {
  for (const client of clients.splice(0)) client.session.destroy()
  await server.close()
}

interface PlainAnswer {
  readonly status: number
  readonly headers: IncomingMessage['headers']
  readonly body: Envelope
}

/** Sends a command over HTTP/1.1. */
async function post(body: unknown, headers: Record<string, string> = {}) {
  const request = httpsRequest(`${server.url}/v1`, {
    method: 'POST',
    ca: made.cert,
    agent: false,
    headers: { Token: testToken, ...headers },
  })
  request.end(JSON.stringify(body))
  const [response] = (await once(request, 'response')) as [IncomingMessage]
  let text = ''
  for await (const chunk of response) text += String(chunk)
  const { statusCode, httpVersion } = response
  assert.equal(httpVersion, '1.1')
  const answer: PlainAnswer = {
    status: statusCode!,
    headers: response.headers,
    body: JSON.parse(text) as Envelope,
  }
  return answer
}

describe('over HTTPS', () => {
  before(() => start({ badCredentialsMax: 0 }))
  after(closeAll)

  test('the URL of the server starts with https', () => {
    assert.match(server.url, /^https:\/\/127\.0\.0\.1:\d+$/)
  })

  test('clients that support HTTP/2 use it, and other clients use HTTP/1.1', async () => {
    const { host, hostname, port } = new URL(server.url)
    for (const [offered, chosen] of [
      [['h2', 'http/1.1'], 'h2'],
      [['http/1.1'], 'http/1.1'],
      [[], false],
    ] as const) {
      const socket = tlsConnect({
        host: hostname,
        port: Number(port),
        ca: made.cert,
        ...(offered.length > 0 && { ALPNProtocols: [...offered] }),
      })
      await once(socket, 'secureConnect')
      assert.equal(socket.alpnProtocol, chosen, host)
      socket.destroy()
    }
  })

  test('commands are answered over HTTP/1.1', async () => {
    const { status, body, headers } = await post(findKeyspaces, { 'X-Request-Id': 'mine' })
    assert.equal(status, 200)
    assert.deepEqual(body, keyspaces)
    assert.equal(headers['x-request-id'], 'mine')
    for (const more of [{}, { Expect: 'x' }])
      assert.equal((await post(findKeyspaces, { Token: 'wrong', ...more })).status, 401)
  })

  test('commands are answered over HTTP/2 without forbidden headers', async () => {
    const client = await open()
    const answer = await client.command('', findKeyspaces, { 'x-request-id': 'mine' })
    assert.equal(answer.status, 200)
    assert.deepEqual(answer.body, keyspaces)
    assert.equal(answer.headers['x-request-id'], 'mine')
    assert.equal(answer.headers['content-type'], 'application/json')
    for (const name of ['connection', 'keep-alive', 'transfer-encoding'])
      assert.equal(answer.headers[name], undefined)
  })

  test('errors are the same over HTTP/2', async () => {
    const client = await open()
    const path = (text: string) => ({ ':method': 'POST', ':path': text })
    const wrong = await client.command('', findKeyspaces, { token: 'wrong', expect: 'x' })
    assert.equal(wrong.status, 401)
    assert.equal(wrong.body.errors![0]!.errorCode, 'UNAUTHENTICATED_REQUEST')
    const typed = await client.command('', findKeyspaces, { 'content-type': 'text/xml' })
    assert.equal(typed.status, 415)
    assert.equal((await client.send(path('/nowhere'), '{}')).status, 404)
    assert.equal((await client.send({ ':path': '/v1' })).status, 405)
    const broken = await client.command('', '{')
    assert.equal(broken.body.errors![0]!.errorCode, 'REQUEST_NOT_JSON')
    assert.deepEqual((await client.command('', findKeyspaces)).body, keyspaces)
  })

  test('health and metrics are served over HTTP/2', async () => {
    const client = await open()
    for (const path of ['', '/live', '/ready']) {
      const health = await client.send({ ':path': `/stargate/health${path}` })
      assert.equal(health.status, 200, health.text)
    }
    const metrics = await client.send({ ':path': '/metrics' })
    assert.match(metrics.text, /^stela_http_connections [1-9]/m)
    assert.match(metrics.text, /^stela_http_requests_total\{status="200"\} /m)
    assert.match(metrics.text, /^stela_http_requests_in_flight 1$/m)
  })

  test('one connection carries requests with different tokens', async () => {
    const client = await open()
    const answers = await Promise.all(
      Array.from({ length: 300 }, (_, i) =>
        client.command('', findKeyspaces, { token: i % 3 === 0 ? 'wrong' : testToken }),
      ),
    )
    for (const [i, { status }] of answers.entries())
      assert.equal(status, i % 3 === 0 ? 401 : 200)
  })

  test('the official client works over HTTP/2', async () => {
    const connection = await open()
    const fetcher: Fetcher = {
      async fetch(info) {
        const { pathname, search } = new URL(info.url)
        const headers = Object.entries(info.headers).map(([name, value]) => [
          name.toLowerCase(),
          value,
        ])
        const {
          status,
          headers: replied,
          text,
        } = await connection.send(
          {
            ':method': info.method,
            ':path': pathname + search,
            ...(Object.fromEntries(headers) as Record<string, string>),
          },
          info.body,
        )
        return {
          url: info.url,
          status,
          statusText: '',
          httpVersion: 2,
          headers: replied as Record<string, string>,
          body: text,
        }
      },
    }
    const client = new DataAPIClient({
      environment: 'hcd',
      httpOptions: { client: 'custom', fetcher },
    })
    const db = client.db(server.url, { token: testToken, keyspace: 'default_keyspace' })
    const books = await db.createCollection('books')
    const many = Array.from({ length: 120 }, (_, i) => ({ _id: i, title: `Book ${i}` }))
    assert.equal((await books.insertMany(many)).insertedCount, 120)
    const found = await books.find({}).toArray()
    assert.equal(found.length, 120)
    assert.equal(await books.countDocuments({}, 1000), 120)
    await assert.rejects(books.insertOne({ _id: 5 }), /DOCUMENT_ALREADY_EXISTS|5/)
    await client.close()
  })

  test('connections without TLS are rejected, and other connections are not affected', async () => {
    const { port } = new URL(server.url)
    await assert.rejects(fetch(`http://127.0.0.1:${port}/v1`))
    assert.deepEqual((await post(findKeyspaces)).body, keyspaces)
  })
})

describe('an HTTP/2 connection', () => {
  afterEach(closeAll)

  test('stays usable after rejected bodies, read or unread', async () => {
    await start({
      limits: { ...defaultLimits, documentLengthMax: 100, bodySizeMax: 1_000 },
    })
    const client = await open()
    const long = ' '.repeat(3_000_000)
    // The server rejects these bodies with and without Content-Length, and then holds no memory for
    // them.
    for (const length of [{ 'content-length': String(long.length) }, {}]) {
      const stream = client.open({ ':method': 'POST', ':path': '/v1', ...length })
      stream.on('error', () => undefined)
      stream.end(long)
      assert.equal((await readAnswer(stream)).status, 413)
    }
    assert.equal((await client.command('', long, { token: '' })).status, 401)
    assert.deepEqual((await client.command('', findKeyspaces)).body, keyspaces)
  })

  test('carries several large bodies and replies at once', async () => {
    await start({ durable: false })
    const client = await open()
    const books = '/default_keyspace/books'
    await client.command('/default_keyspace', { createCollection: { name: 'books' } })
    const text = 'x'.repeat(1_500_000)
    const collection = { indexing: { deny: ['text'] } }
    await client.command('/default_keyspace', {
      createCollection: { name: 'long', options: collection },
    })
    const inserted = await Promise.all(
      [0, 1, 2, 3].map((_id) =>
        client.command('/default_keyspace/long', {
          insertOne: { document: { _id, text } },
        }),
      ),
    )
    for (const { body } of inserted) assert.equal(body.errors, undefined)
    const found = await Promise.all(
      [0, 1, 2].map(() => client.command('/default_keyspace/long', { find: {} })),
    )
    for (const { body } of found) assert.equal(body.data!.documents!.length, 4)
    assert.equal((await client.command(books, { find: {} })).status, 200)
  })

  test('loses only the request whose body never ends', async () => {
    await start({ requestTimeoutMs: 200 })
    const client = await open()
    const half = client.open({ ':method': 'POST', ':path': '/v1' })
    half.on('error', () => undefined)
    half.write('{"find')
    await once(half, 'close')
    assert.equal(half.rstCode, constants.NGHTTP2_CANCEL)
    // Retries, because a busy machine may exceed the short request timeout.
    let answer: H2Answer | undefined
    while (answer === undefined)
      answer = await client.command('', findKeyspaces).catch(() => undefined)
    assert.deepEqual(answer.body, keyspaces)
  })

  test('lets a client cancel one request, and other commands continue', async () => {
    const provider = await PatientProvider.start()
    try {
      await start({ providers: provider.settings })
      const client = await open()
      const letters = '/v1/default_keyspace/letters'
      await client.command('/default_keyspace', { createCollection: lettersCollection })
      const insert = (_id: number) =>
        JSON.stringify({ insertOne: { document: { _id, $vectorize: 'a' } } })
      const given = client.open({ ':method': 'POST', ':path': letters })
      given.end(insert(1))
      const kept = client.open({ ':method': 'POST', ':path': letters })
      kept.end(insert(2))
      await provider.asked(2)
      given.close(constants.NGHTTP2_CANCEL)
      await provider.left(1)
      provider.answerAll()
      assert.deepEqual((await readAnswer(kept)).body.status, { insertedIds: [2] })
      const count = await client.command('/default_keyspace/letters', {
        countDocuments: {},
      })
      assert.deepEqual(count.body, { status: { count: 1 } })
      const metrics = await client.send({ ':path': '/metrics' })
      assert.match(metrics.text, /command="insertOne",outcome="client_left"\} 1/)
      assert.doesNotMatch(metrics.text, /outcome="server_error"/)
    } finally {
      await provider.close()
    }
  })
})

describe('a stopping server', () => {
  test('sends GOAWAY to HTTP/2 clients, and answers their earlier requests', async () => {
    const provider = await PatientProvider.start()
    await start({ providers: provider.settings })
    const busy = await open()
    const idle = await open()
    await busy.command('/default_keyspace', { createCollection: lettersCollection })
    const insertion = busy.command('/default_keyspace/letters', {
      insertOne: { document: { _id: 1, $vectorize: 'a' } },
    })
    await provider.asked(1)
    const told = Promise.all([once(busy.session, 'goaway'), once(idle.session, 'close')])
    const stopped = server.stop()
    await told
    provider.answerAll()
    assert.deepEqual((await insertion).body.status, { insertedIds: [1] })
    await stopped
    await provider.close()
    server = await startServer({ dataDir: server.dataDir })
    await server.close()
  })

  test('closes connections that do not respond', async () => {
    await start()
    const { hostname, port } = new URL(server.url)
    // One connection sends no HTTP request. The other connection does not finish its request.
    const silent = tlsConnect({ host: hostname, port: Number(port), ca: made.cert })
    await once(silent, 'secureConnect')
    silent.on('error', () => undefined)
    const client = await open()
    const half = client.open({ ':method': 'POST', ':path': '/v1' })
    half.on('error', () => undefined)
    half.write('{"find')
    await client.command('', findKeyspaces)
    await Promise.all([once(silent.resume(), 'close'), closeAll()])
  })
})

describe('a certificate', () => {
  test('that is replaced is presented to new connections', async () => {
    const files = await saveCertificate(folder, made)
    const tls = { ...files, lookEveryMs: 10 }
    server = await startServer({ tls })
    try {
      const kept = await open()
      assert.equal(await shownSubject(), 'CN=stela test')
      // Between the writes of both files, certificate and key do not match. The server must keep
      // the old pair.
      const newer = makeCertificate('newer')
      await writeFile(files.certFile, newer.cert)
      assert.equal(await shownSubject(), 'CN=stela test')
      await writeFile(files.keyFile, 'broken')
      assert.equal(await shownSubject(), 'CN=stela test')
      await writeFile(files.keyFile, newer.key)
      let shown = ''
      for (let i = 0; i < 1_000 && shown !== 'CN=newer'; i++) shown = await shownSubject()
      assert.equal(shown, 'CN=newer')
      // Connections that are already open stay open.
      assert.deepEqual((await kept.command('', findKeyspaces)).body, keyspaces)
      const client = await H2Client.connect(server.url, newer.cert)
      assert.deepEqual((await client.command('', findKeyspaces)).body, keyspaces)
      await client.close()
      await rm(files.certFile)
      assert.equal(await shownSubject(), 'CN=newer')
    } finally {
      await closeAll()
    }
  })

  async function shownSubject(): Promise<string> {
    const { hostname, port } = new URL(server.url)
    const socket: TLSSocket = tlsConnect({
      host: hostname,
      port: Number(port),
      rejectUnauthorized: false,
    })
    await once(socket, 'secureConnect')
    const { subject } = new X509Certificate(socket.getPeerCertificate().raw)
    socket.destroy()
    return subject
  }
})

test('invalid certificate files get distinct errors', async () => {
  const files = await saveCertificate(folder, made)
  const otherKey = join(folder, 'other-key.pem')
  const notes = join(folder, 'notes.txt')
  const locked = join(folder, 'locked.pem')
  const missing = join(folder, 'missing.pem')
  await writeFile(otherKey, makeCertificate().key)
  await writeFile(notes, 'no certificate')
  await writeFile(locked, '-----BEGIN ENCRYPTED PRIVATE KEY-----\nAAAA\n')
  assert.equal(String(readCertificate(files).cert), made.cert)
  for (const [wrong, reason] of [
    [{ certFile: missing }, /missing\.pem cannot be read: the file does not exist/],
    [{ keyFile: missing }, /missing\.pem cannot be read: the file does not exist/],
    [{ certFile: folder }, /cannot be read: it is a folder/],
    [{ certFile: notes }, /notes\.txt does not contain a certificate/],
    [{ certFile: files.keyFile }, /key\.pem does not contain a certificate/],
    [{ keyFile: notes }, /notes\.txt does not contain a private key/],
    [{ keyFile: files.certFile }, /cert\.pem does not contain a private key/],
    [{ keyFile: otherKey }, /other-key\.pem does not belong to the certificate in/],
    [{ keyFile: locked }, /locked\.pem has a passphrase/],
  ] as const)
    assert.throws(() => readCertificate({ ...files, ...wrong }), { message: reason })
})

describe('stela serve with a certificate', () => {
  after(killLeftovers)

  test('prints its https URL', async () => {
    const dataDir = await temporaryFolder()
    const { certFile, keyFile } = await saveCertificate(folder, made)
    const serving = await ServerProcess.start(
      dataDir,
      '--tls-cert',
      certFile,
      '--tls-key',
      keyFile,
    )
    assert.match(serving.out, /^stela ready https:\/\/127\.0\.0\.1:\d+\n$/)
    const client = await H2Client.connect(serving.url, made.cert)
    const health = await client.send({ ':path': '/stargate/health' })
    assert.equal(health.status, 200)
    await client.close()
    await serving.stop()
    await rm(dataDir, { recursive: true, force: true })
  })

  test('does not start without both files, and prints the reason in one line', async () => {
    const { certFile } = await saveCertificate(folder, made)
    const missing = join(folder, 'missing.pem')
    const flags = [
      {
        words: ['--tls-cert', certFile],
        reason: /--tls-cert and --tls-key require each other/,
      },
      {
        words: ['--tls-cert', certFile, '--tls-key', missing],
        reason: /missing\.pem cannot be read: the file does not exist/,
      },
    ]
    const runs = flags.map(({ words }) =>
      runStela(['serve', '--data', join(folder, 'never-made'), ...words]),
    )
    for (const [i, { code, err, out }] of (await Promise.all(runs)).entries()) {
      assert.equal(code, 1, err)
      assert.match(err, flags[i]!.reason)
      assert.equal(err.trim().split('\n').length, 1, err)
      assert.equal(out.length, 0)
    }
  })
})
