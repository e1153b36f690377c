/** Compression of request and response bodies. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { request as httpRequest, type IncomingMessage } from 'node:http'
import { after, before, describe, test } from 'node:test'
import {
  brotliCompressSync,
  brotliDecompressSync,
  constants,
  deflateSync,
  gunzipSync,
  gzipSync,
  zstdCompressSync,
  zstdDecompressSync,
} from 'node:zlib'
import fc from 'fast-check'
import { chooseEncoding, Unpacking } from '../../src/http/compression.ts'
import { defaultLimits } from '../../src/limits.ts'
import { startServer, testToken, type Envelope, type TestServer } from '../harness.ts'

interface RawAnswer {
  readonly http: number
  readonly headers: IncomingMessage['headers']
  readonly bytes: Buffer
}

/** Sends a request and returns the body without decompressing it. */
async function send(
  { url }: TestServer,
  path: string,
  body: Buffer | string | undefined,
  headers: Record<string, string> = {},
): Promise<RawAnswer> {
  const request = httpRequest(url + path, {
    agent: false,
    method: body === undefined ? 'GET' : 'POST',
    headers: { Token: testToken, ...headers },
  })
  request.on('error', () => undefined)
  request.end(body)
  const [response] = (await once(request, 'response')) as [IncomingMessage]
  const chunks: Buffer[] = []
  for await (const chunk of response) chunks.push(chunk as Buffer)
  const bytes = Buffer.concat(chunks)
  assert.equal(Number(response.headers['content-length']), bytes.length)
  return { http: response.statusCode!, headers: response.headers, bytes }
}

const unpack = {
  zstd: zstdDecompressSync,
  br: brotliDecompressSync,
  gzip: gunzipSync,
}
const pack = {
  zstd: zstdCompressSync,
  br: brotliCompressSync,
  gzip: gzipSync,
  'x-gzip': gzipSync,
  deflate: deflateSync,
}

const books = '/v1/default_keyspace/books'
const findAll = JSON.stringify({ find: {} })

async function fill(server: TestServer): Promise<void> {
  await server.command('/default_keyspace', { createCollection: { name: 'books' } })
  const documents = Array.from({ length: 20 }, (_, i) => ({
    _id: i,
    title: `Über Bücher ${i}`,
    text: 'words '.repeat(40),
  }))
  await server.command('/default_keyspace/books', { insertMany: { documents } })
}

describe('with compression on', () => {
  let server: TestServer
  let plain: Buffer
  before(async () => {
    server = await startServer({
      compression: true,
      limits: { ...defaultLimits, documentLengthMax: 50_000, bodySizeMax: 100_000 },
    })
    await fill(server)
    plain = (await send(server, books, findAll)).bytes
  })
  after(() => server.close())

  for (const encoding of ['zstd', 'br', 'gzip'] as const)
    test(`replies are compressed with ${encoding} when the client accepts it`, async () => {
      const answer = await send(server, books, findAll, { 'Accept-Encoding': encoding })
      assert.equal(answer.http, 200)
      assert.equal(answer.headers['content-encoding'], encoding)
      assert.equal(answer.headers['content-type'], 'application/json')
      assert.equal(answer.headers.vary, 'Accept-Encoding')
      assert(answer.headers['x-request-id'] !== undefined)
      assert(answer.bytes.length < plain.length / 4)
      assert.deepEqual(unpack[encoding](answer.bytes), plain)
    })

  test('replies are not compressed when the client accepts no supported encoding', async () => {
    for (const accepted of ['', 'identity', 'deflate, compress', 'gzip;q=0', '*;q=0'])
      for (const headers of [{ 'Accept-Encoding': accepted }, undefined]) {
        const answer = await send(server, books, findAll, headers)
        assert.equal(answer.headers['content-encoding'], undefined)
        assert.equal(answer.headers.vary, 'Accept-Encoding')
        assert.deepEqual(answer.bytes, plain)
      }
  })

  test('replies are compressed if they have at least 1024 bytes', async () => {
    const only = (length: number) => ({ _id: 'one', text: 'x'.repeat(length) })
    await server.command('/default_keyspace', { createCollection: { name: 'sized' } })
    const sized = '/v1/default_keyspace/sized'
    const around = JSON.stringify({ data: { document: only(0) } }).length
    for (const [size, encoding] of [
      [1023, undefined],
      [1024, 'gzip'],
    ] as const) {
      await server.command('/default_keyspace/sized', { deleteMany: {} })
      const document = only(size - around)
      await server.command('/default_keyspace/sized', { insertOne: { document } })
      const answer = await send(server, sized, '{"findOne":{}}', {
        'Accept-Encoding': 'gzip',
      })
      assert.equal(answer.headers['content-encoding'], encoding)
      const bytes = encoding === undefined ? answer.bytes : gunzipSync(answer.bytes)
      assert.equal(bytes.length, size)
    }
  })

  test('metrics are compressed too', async () => {
    const answer = await send(server, '/metrics', undefined, { 'Accept-Encoding': 'br' })
    assert.equal(answer.headers['content-encoding'], 'br')
    assert.match(String(brotliDecompressSync(answer.bytes)), /^stela_info/m)
  })

  for (const encoding of ['zstd', 'br', 'gzip', 'x-gzip', 'deflate'] as const)
    test(`requests compressed with ${encoding} are read`, async () => {
      const document = { _id: encoding, text: 'y'.repeat(5_000) }
      const body = JSON.stringify({ insertOne: { document } })
      const answer = await send(server, books, pack[encoding](body), {
        'Content-Encoding': encoding === 'gzip' ? ' GZip ' : encoding,
      })
      assert.deepEqual(JSON.parse(String(answer.bytes)), {
        status: { insertedIds: [encoding] },
      })
    })

  test('requests with Content-Encoding identity are read', async () => {
    const answer = await send(server, books, findAll, { 'Content-Encoding': 'identity' })
    assert.deepEqual(answer.bytes.length > 0 && answer.http, 200)
  })

  test('the size limit applies to the decompressed body', async () => {
    const sized = (length: number) => `{"findOne":{}}${' '.repeat(length - 14)}`
    for (const [encoding, packing] of Object.entries(pack)) {
      const headers = { 'Content-Encoding': encoding }
      const fits = await send(server, books, packing(sized(100_000)), headers)
      assert.equal(fits.http, 200, encoding)
      const over = await send(server, books, packing(sized(100_001)), headers)
      assert.equal(over.http, 413, encoding)
      // A small body that decompresses to a hundred times the size limit.
      const bomb = await send(server, books, packing(Buffer.alloc(10_000_000)), headers)
      assert.equal(bomb.http, 413, encoding)
    }
    assert.equal((await send(server, books, findAll)).http, 200)
  })

  test('a body that cannot be decompressed is rejected as invalid JSON', async () => {
    const body = '{"findOne":{}}'
    for (const [encoding, packing] of Object.entries(pack)) {
      const whole = packing(body)
      for (const bytes of [Buffer.from(body), whole.subarray(0, -3), Buffer.alloc(0)]) {
        const answer = await send(server, books, bytes, { 'Content-Encoding': encoding })
        assert.equal(answer.http, 200)
        const { errors } = JSON.parse(String(answer.bytes)) as Envelope
        assert.equal(errors!.length, 1, `${encoding} ${bytes.length}`)
        if (bytes.length > 0) assert.equal(errors![0]!.errorCode, 'REQUEST_NOT_JSON')
      }
    }
  })

  test('an unknown Content-Encoding is rejected, and the error lists the supported ones', async () => {
    for (const encoding of ['compress', 'gzip, br', 'constructor', 'utf-8']) {
      const answer = await send(server, books, gzipSync(findAll), {
        'Content-Encoding': encoding,
      })
      assert.equal(answer.http, 415)
      const { errors } = JSON.parse(String(answer.bytes)) as Envelope
      assert.equal(errors![0]!.errorCode, 'UNSUPPORTED_CONTENT_ENCODING')
      assert.match(errors![0]!.message, /gzip.*deflate.*br.*zstd/)
    }
  })

  test('concurrent compressed requests are all answered', async () => {
    const headers = { 'Content-Encoding': 'gzip', 'Accept-Encoding': 'gzip' }
    const answers = await Promise.all(
      Array.from({ length: 40 }, () => send(server, books, gzipSync(findAll), headers)),
    )
    for (const { bytes } of answers) {
      const { data } = JSON.parse(String(gunzipSync(bytes))) as Envelope
      assert.equal(data!.documents!.length, 20)
    }
  })
})

test('with compression off replies are not compressed and compressed requests are rejected', async () => {
  const server = await startServer()
  try {
    await fill(server)
    const answer = await send(server, books, findAll, { 'Accept-Encoding': 'gzip, br' })
    assert.equal(answer.headers['content-encoding'], undefined)
    assert.equal(answer.headers.vary, undefined)
    const packed = await send(server, books, gzipSync(findAll), {
      'Content-Encoding': 'gzip',
    })
    assert.equal(packed.http, 415)
    const { errors } = JSON.parse(String(packed.bytes)) as Envelope
    assert.equal(errors![0]!.errorCode, 'UNSUPPORTED_CONTENT_ENCODING')
    assert.match(errors![0]!.message, /--compression on/)
  } finally {
    await server.close()
  }
})

test('decompression stops at the limit and allocates no more memory', async () => {
  const unpacking = new Unpacking()
  const bomb = gzipSync(Buffer.alloc(200_000_000))
  const before = process.memoryUsage().arrayBuffers
  let most = 0
  const watch = setInterval(() => {
    most = Math.max(most, process.memoryUsage().arrayBuffers - before)
  }, 1)
  const results = await Promise.all(
    Array.from({ length: 20 }, () => unpacking.unpack(bomb, 'gzip', 1_000_000)),
  )
  clearInterval(watch)
  assert.deepEqual(new Set(results), new Set(['too large']))
  assert(most < 50_000_000, `${most} bytes`)
})

test('a frame that declares a huge window is rejected', async () => {
  const { ZSTD_c_windowLog, ZSTD_c_compressionLevel } = constants
  const bytes = zstdCompressSync(Buffer.alloc(40_000_000, 'abc'), {
    params: { [ZSTD_c_windowLog]: 27, [ZSTD_c_compressionLevel]: 1 },
  })
  assert.equal(await new Unpacking().unpack(bytes, 'zstd', 50_000_000), 'damaged')
})

describe('the encoding chosen for Accept-Encoding', () => {
  for (const [accepted, chosen] of [
    [undefined, undefined],
    ['', undefined],
    ['gzip', 'gzip'],
    ['x-gzip', 'gzip'],
    ['GZIP', 'gzip'],
    ['gzip, deflate, br', 'br'],
    ['gzip, deflate, br, zstd', 'zstd'],
    ['zstd;q=0.5, gzip;q=0.8', 'gzip'],
    ['br;q=0.5, gzip;q=0.5', 'br'],
    ['*', 'zstd'],
    ['*;q=0.5, zstd;q=0', 'br'],
    ['gzip;q=0.5, identity', undefined],
    ['gzip;q=0.5, identity;q=0.5', 'gzip'],
    ['gzip;q=2', undefined],
    ['gzip;q=high', undefined],
    ['gzip ; q = 0.3', 'gzip'],
    ['identity;q=0', undefined],
  ] as const)
    test(`"${String(accepted)}" is ${chosen ?? 'none'}`, () => {
      assert.equal(chooseEncoding(accepted), chosen)
    })

  test('is never one that the header rejects', () => {
    const part = fc.tuple(
      fc.constantFrom('gzip', 'br', 'zstd', 'identity', '*', 'deflate', ''),
      fc.constantFrom('', ';q=0', ';q=0.0', ';q=1', ';q=0.7', ';q=x', ';'),
    )
    fc.assert(
      fc.property(fc.array(part, { maxLength: 5 }), (parts) => {
        const chosen = chooseEncoding(parts.map((words) => words.join('')).join(', '))
        if (chosen === undefined) return
        const own = parts.findLast(([name]) => name === chosen)
        const said = own ?? parts.findLast(([name]) => name === '*')
        assert(said !== undefined && ['', ';', ';q=1', ';q=0.7'].includes(said[1]))
      }),
    )
  })
})
