/** Malformed HTTP: the server sends a reply or closes the connection, and does nothing else. */
import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { describe, test } from 'node:test'
import { processToken } from './server-process.ts'
import { Suspect } from './suspect.ts'

const suspect = new Suspect()

const token = `Token: ${processToken}\r\n`
const findKeyspaces = '{"findKeyspaces":{}}'
const found = '{"status":{"keyspaces":["default_keyspace"]}}'

/**
 * Sends bytes, and returns all bytes received until the server closes the connection. After the
 * given number of replies, ends the sending side of the connection. Node omits the reply to a
 * request if this side ends before, even if the request is complete.
 */
async function exchange(bytes: string | Buffer, replies = 1): Promise<string> {
  suspect.inputs++
  const { hostname, port } = new URL(suspect.server.url)
  const socket = connect(Number(port), hostname)
  let text = ''
  socket.setEncoding('latin1').on('data', (chunk: string) => {
    text += chunk
    if (statusesOf(text).length >= replies) socket.end()
  })
  // The server may close the connection without a reply, which is an error for the client.
  socket.on('error', () => undefined)
  const closed = new Promise((resolve) => socket.once('close', resolve))
  socket.write(bytes, 'latin1')
  if (replies === 0) socket.end()
  await closed
  return text
}

function request(line: string, headers = '', body = ''): string {
  return `${line}\r\nHost: x\r\n${token}${headers}\r\n${body}`
}

function post(path = '/v1', body = findKeyspaces): string {
  return request(`POST ${path} HTTP/1.1`, `Content-Length: ${body.length}\r\n`, body)
}

/** The status codes of all HTTP/1.1 responses in a text. */
function statusesOf(text: string): number[] {
  return [...text.matchAll(/HTTP\/1\.1 (\d+) /g)].map(([, status]) => Number(status))
}

async function assertRefused(bytes: string | Buffer): Promise<void> {
  const text = await exchange(bytes, 0)
  const statuses = statusesOf(text)
  const told = `${String(bytes).slice(0, 200)} => ${text}`
  assert(statuses.length > 0 || text === '', told)
  for (const status of statuses) assert(status >= 400 && status <= 501, told)
}

describe('unusual HTTP', () => {
  test('a well-formed request is answered, which proves that the tests send requests correctly', async () => {
    assert((await exchange(post())).endsWith(found))
  })

  test('methods other than POST are rejected', async () => {
    const methods =
      'GET HEAD PUT PATCH DELETE OPTIONS TRACE CONNECT PROPFIND PURGE FOO post'
    for (const method of methods.split(' '))
      for (const path of ['/v1', '/v1/default_keyspace/kept', '*', '/nowhere'])
        await assertRefused(request(`${method} ${path} HTTP/1.1`))
  })

  test('requests with a wrong Content-Length are rejected', async () => {
    for (const length of ['abc', '-1', '+20', '0x14', '1,2', '20, 20', '2 0', '', '1e1'])
      await assertRefused(
        request('POST /v1 HTTP/1.1', `Content-Length: ${length}\r\n`, findKeyspaces),
      )
    await assertRefused(
      request(
        'POST /v1 HTTP/1.1',
        'Content-Length: 20\r\nContent-Length: 21\r\n',
        findKeyspaces,
      ),
    )
    await assertRefused(
      request(
        'POST /v1 HTTP/1.1',
        'Content-Length: 20\r\nTransfer-Encoding: chunked\r\n',
        `14\r\n${findKeyspaces}\r\n0\r\n\r\n`,
      ),
    )
    for (const length of ['99999999999999999999', '9007199254740993', '20000001'])
      await assertRefused(
        request('POST /v1 HTTP/1.1', `Content-Length: ${length}\r\n`, findKeyspaces),
      )
    // If a body is longer than its Content-Length, the server reads the remaining bytes as an
    // invalid request. If it is shorter, the request never ends.
    const short = await exchange(
      request('POST /v1 HTTP/1.1', 'Content-Length: 10\r\n', findKeyspaces),
    )
    assert(statusesOf(short).includes(400), short)
    const long = await exchange(
      request('POST /v1 HTTP/1.1', 'Content-Length: 30\r\n', findKeyspaces),
      0,
    )
    assert(!statusesOf(long).includes(200), long)
  })

  test('well-formed chunked bodies are accepted, and malformed ones are rejected', async () => {
    const chunked = (body: string, replies: number) =>
      exchange(
        request('POST /v1 HTTP/1.1', 'Transfer-Encoding: chunked\r\n', body),
        replies,
      )
    const chunk = (text: string) => `${text.length.toString(16)}\r\n${text}\r\n`
    for (const body of [
      `${chunk(findKeyspaces)}0\r\n\r\n`,
      `${findKeyspaces.replace(/./g, chunk)}0\r\n\r\n`,
      `14;name=value\r\n${findKeyspaces}\r\n0\r\n\r\n`,
      `${chunk(findKeyspaces)}0\r\nTrailer: x\r\n\r\n`,
      `0000014\r\n${findKeyspaces}\r\n0\r\n\r\n`,
    ])
      assert((await chunked(body, 1)).endsWith(found), body)
    for (const body of [
      `zz\r\n${findKeyspaces}\r\n0\r\n\r\n`,
      `-5\r\n${findKeyspaces}\r\n0\r\n\r\n`,
      `ffffffffffffffffff\r\n${findKeyspaces}\r\n`,
      `ffffffff\r\n${findKeyspaces}\r\n`,
      `5\r\n${findKeyspaces}\r\n0\r\n\r\n`,
      `14\r\n${findKeyspaces}`,
      chunk(findKeyspaces),
      `14;${'x'.repeat(100_000)}\r\n${findKeyspaces}\r\n0\r\n\r\n`,
      '',
    ])
      assert(!statusesOf(await chunked(body, 0)).includes(200), body.slice(0, 50))
    await assertRefused(
      request('POST /v1 HTTP/1.1', 'Transfer-Encoding: gzip\r\n', findKeyspaces),
    )
    await assertRefused(
      request('POST /v1 HTTP/1.1', 'Transfer-Encoding: chunked, x\r\n', findKeyspaces),
    )
  })

  test('headers and paths that are too long are rejected', async () => {
    await assertRefused(
      request('POST /v1 HTTP/1.1', `X-Long: ${'x'.repeat(200_000)}\r\n`, findKeyspaces),
    )
    const many = Array.from({ length: 20_000 }, (_, n) => `X-${n}: x\r\n`).join('')
    await assertRefused(request('POST /v1 HTTP/1.1', many, findKeyspaces))
    const tokens = `Content-Length: 20\r\n${token.repeat(100)}`
    await exchange(request('POST /v1 HTTP/1.1', tokens, findKeyspaces), 0)
    await assertRefused(request(`POST /v1/${'x'.repeat(100_000)} HTTP/1.1`))
  })

  test('malformed headers and tokens are rejected', async () => {
    for (const header of [
      'No colon',
      ': no name',
      'Bad name: x',
      'Name : x',
      'Zero: a\u0000b',
      'Line: a\rb',
      ' folded',
      'B\u00e4d: x',
    ])
      await assertRefused(request('POST /v1 HTTP/1.1', `${header}\r\n`, findKeyspaces))
    for (const bad of [
      'T\u00f6ken',
      'a\tb',
      '\u00ff'.repeat(5_000),
      'Cassandra:::',
      'Cassandra:YQ==:',
    ])
      assert.deepEqual(
        statusesOf(
          await exchange(
            `POST /v1 HTTP/1.1\r\nHost: x\r\nToken: ${bad}\r\nContent-Length: 20\r\n\r\n${findKeyspaces}`,
          ),
        ),
        [401],
      )
    for (const expectation of ['100-continue', 'miracles'])
      await exchange(
        request(
          'POST /v1 HTTP/1.1',
          `Expect: ${expectation}\r\nContent-Length: 20\r\n`,
          findKeyspaces,
        ),
        0,
      )
    for (const protocol of ['websocket', 'h2c'])
      await exchange(
        request(
          'POST /v1 HTTP/1.1',
          `Connection: Upgrade\r\nUpgrade: ${protocol}\r\nContent-Length: 20\r\n`,
          findKeyspaces,
        ),
        0,
      )
  })

  test('pipelined requests are answered in order', async () => {
    const ids = Array.from({ length: 200 }, (_, n) => `kept-${1 + (n % 4)}`)
    const all = ids
      .map((_id) =>
        post(
          '/v1/default_keyspace/kept',
          JSON.stringify({ findOne: { filter: { _id }, projection: { _id: 1, n: 1 } } }),
        ),
      )
      .join('')
    const answers = await exchange(all, ids.length)
    const order = [...answers.matchAll(/"document":(?:\{"_id":"(kept-\d)"|null)/g)]
    assert.deepEqual(
      order.map(([, id]) => id ?? 'kept-4'),
      ids,
    )
  })

  test('HTTP/1.0 is served, and other versions and protocols are rejected', async () => {
    const length = `Content-Length: ${findKeyspaces.length}\r\n`
    assert(
      (await exchange(request('POST /v1 HTTP/1.0', length, findKeyspaces))).endsWith(found),
    )
    const hostless = `POST /v1 HTTP/1.0\r\n${token}${length}\r\n${findKeyspaces}`
    assert((await exchange(hostless)).endsWith(found))
    for (const bytes of [
      `POST /v1 HTTP/1.1\r\n${token}${length}\r\n${findKeyspaces}`,
      request('POST /v1 HTTP/9.9', length, findKeyspaces),
      request('POST /v1 HTTP/1', length, findKeyspaces),
      request('POST', length, findKeyspaces),
      'GET /nowhere\r\n\r\n',
      'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
      Buffer.from('16030100a5010000a10303', 'hex'),
      '\u0000'.repeat(1_000),
      '\r\n'.repeat(10_000),
      'EHLO example.org\r\n',
    ])
      await assertRefused(bytes)
  })

  test('absolute request targets are served only if they match the Host header', async () => {
    for (const host of ['http://x', 'http://X', 'https://x:443'])
      assert((await exchange(post(`${host}/v1`))).endsWith(found), host)
    const other = await exchange(post(`${suspect.server.url}/v1`))
    assert.deepEqual(statusesOf(other), [400])
    assert(other.includes('MALFORMED_REQUEST'), other)
    const two = await exchange(post().replace('Host: x', 'Host: x\r\nhost: x'))
    assert.deepEqual(statusesOf(two), [400])
    assert(two.includes('MALFORMED_REQUEST'), two)
    await assertRefused(post('http://x/nowhere'))
    await assertRefused(post('http://'))
    await assertRefused(post('http://x'))
    await assertRefused(post('http://x?/v1'))
    await assertRefused(post('gopher://x/v1'))
    await assertRefused(post('v1'))
  })

  test('encoded and ambiguous paths get exactly one reply, and no server error', async () => {
    for (const path of [
      '/v1/%',
      '/v1/%zz',
      '/v1/%ff',
      '/v1/%c3%28/x',
      '/v1/%00',
      '/v1/%2e%2e/x',
      '/v1/..%2f..%2fetc%2fpasswd/x',
      '/v1/../../etc/passwd',
      '/v1/..',
      '/v1//',
      '/v1//x',
      '/v1/a%2Fb/c',
      '/v1/default_keyspace/..',
      '/v1/default_keyspace%00/kept',
      '/v1/default_keyspace/kept%20',
      '/v1/default_keyspace/kept/',
      '/v1/default_keyspace/kept//',
      '/v1?x=%',
      '/v1;x=1',
      '/v1#x',
      '/V1',
      '/v1/%76%31',
      '/%76%31',
      `/v1/${'%41'.repeat(4_000)}`,
      '/v1/\u00ff',
    ]) {
      const text = await exchange(post(path, '{"find":{}}'))
      const [status, ...more] = statusesOf(text)
      assert(status === 200 || (status! >= 400 && status! < 500), `${path}: ${text}`)
      assert.equal(more.length, 0, path)
      assert(!/UNEXPECTED_SERVER_ERROR|INTERNAL_SERVER_ERROR|FAILED_/.test(text), text)
    }
  })
})
