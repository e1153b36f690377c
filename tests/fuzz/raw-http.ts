/** Malformed HTTP requests, as bytes. */
import type { Random } from '../faults/random.ts'
import { damageBytes } from './damage.ts'
import type { Ending, RawInput } from './input.ts'
import { processToken } from '../faults/server-process.ts'

/** Writes one or more requests, often malformed. They contain the command `sample`. */
export function writeRaw(random: Random, sample: { path: string; body: Buffer }): RawInput {
  const pipelined = random.oneIn(8) ? 2 + random.below(20) : 1
  let bytes: Buffer = Buffer.concat(
    Array.from({ length: pipelined }, () => writeRequest(random, sample)),
  )
  if (random.oneIn(5)) bytes = damageBytes(bytes, random)
  const ending: Ending = random.pick(['wait', 'wait', 'wait', 'close', 'leave'])
  return { kind: 'raw', from: 'raw HTTP', parts: cut(bytes, random), ending }
}

/**
 * Divides bytes into the parts to send. Mostly there is one part, sometimes several. Sometimes the
 * bytes are truncated.
 */
function cut(bytes: Buffer, random: Random): Buffer[] {
  if (random.oneIn(10)) bytes = bytes.subarray(0, random.below(bytes.length))
  if (!random.oneIn(4)) return [bytes]
  const parts: Buffer[] = []
  const count = 1 + random.below(6)
  let from = 0
  for (let left = count; left > 0 && from < bytes.length; left--) {
    const end = from + 1 + random.below(bytes.length - from)
    parts.push(bytes.subarray(from, end))
    from = end
  }
  return [...parts, bytes.subarray(from)]
}

function writeRequest(random: Random, sample: { path: string; body: Buffer }): Buffer {
  const body = random.oneIn(6) ? random.bytes(random.below(300)) : sample.body
  const { headers, sent } = framing(random, body)
  const lines = [requestLine(random, sample.path), ...shuffled(random, headers)]
  return Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1'), sent])
}

const methods = [
  ...['GET', 'HEAD', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'CONNECT', 'PROPFIND'],
  ...['QUERY', 'M-SEARCH', 'post', 'POSTS', 'P\u0000ST', '', ' '],
]

const versions = ['HTTP/1.0', 'HTTP/1.2', 'HTTP/2.0', 'HTTP/0.9', 'http/1.1', 'HTP/1.1', '']

const oddPaths = [
  ...[
    '/',
    '*',
    '',
    '//',
    '/v1//',
    '/v1/a/b/c/d',
    '/v2',
    '/V1',
    '/v1?x=1',
    '/v1#x',
    '/v1/%',
  ],
  ...[
    '/v1/%zz',
    '/v1/%ff',
    '/v1/%C3%28',
    '/v1/..%2f..',
    '/v1/../../etc/passwd',
    '/v1/a%00b',
  ],
  ...[
    'http://127.0.0.1/v1',
    'HTTP://x:99999/v1/open/plain',
    'https://a@b/v1',
    'ftp://x/v1',
  ],
  ...[
    'http://',
    'http:///v1',
    '/metrics',
    '/metrics?x',
    '/stargate/health',
    '/stargate/health/x',
  ],
  ...[
    '/stargate/health/ready',
    '/v1/open/plain?',
    '/v1/\u00ff',
    '/v1/a b',
    '\\v1',
    '/api/json/v1/',
  ],
  ...[`/v1/${'x'.repeat(9_000)}`, `/v1/${'x'.repeat(20_000)}`, '/v1/__proto__/constructor'],
]

function requestLine(random: Random, path: string): string {
  const method = random.oneIn(5) ? random.pick(methods) : 'POST'
  const target = random.oneIn(5) ? random.pick(oddPaths) : path
  const version = random.oneIn(15) ? random.pick(versions) : 'HTTP/1.1'
  return random.oneIn(40)
    ? random.pick([
        '',
        ' ',
        'POST',
        'POST /v1',
        '\u0016\u0003\u0001\u0002',
        'PRI * HTTP/2.0',
      ])
    : `${method} ${target} ${version}`
}

/** Headers and a body. The headers describe the body correctly, or nearly so. */
function framing(random: Random, body: Buffer): { headers: string[]; sent: Buffer } {
  const headers = [random.oneIn(20) ? 'X-No-Host: 1' : 'Host: x', token(random)]
  if (random.oneIn(4)) headers.push(`Content-Type: ${random.pick(contentTypes)}`)
  if (random.oneIn(3)) headers.push(random.pick(oddHeaders)(random))
  let sent = body
  switch (random.below(12)) {
    case 0:
      headers.push(`Content-Length: ${body.length}`, `Content-Length: ${body.length}`)
      break
    case 1:
      headers.push(`Content-Length: ${body.length + random.below(9) - 4}`)
      break
    case 2:
      headers.push(`Content-Length: ${random.pick(oddLengths)}`)
      break
    case 3:
      headers.push('Transfer-Encoding: chunked')
      sent = chunked(body, random)
      break
    case 4:
      headers.push('Transfer-Encoding: chunked')
      sent = damageBytes(chunked(body, random), random)
      break
    case 5:
      headers.push(`Transfer-Encoding: ${random.pick(oddEncodings)}`)
      if (random.oneIn(2)) headers.push(`Content-Length: ${body.length}`)
      sent = chunked(body, random)
      break
    case 6:
      break
    default:
      headers.push(`Content-Length: ${body.length}`)
  }
  return { headers, sent }
}

const oddLengths = [
  ...[
    'abc',
    '-1',
    '+20',
    '0x14',
    '1,2',
    '20, 20',
    '2 0',
    '',
    '1e1',
    '0',
    '00000000000000000020',
  ],
  ...['99999999999999999999', '9007199254740993', '20000001', '20000000', '4294967296'],
]

const oddEncodings = [
  'gzip',
  'chunked, chunked',
  'identity',
  'Chunked',
  'x',
  'gzip, chunked',
  '',
]

const contentTypes = [
  ...[
    'application/json',
    'application/json; charset=utf-16',
    'APPLICATION/JSON ;',
    'text/plain',
  ],
  ...[
    '',
    ';',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'a\u00ffb',
  ],
]

const oddHeaders: readonly ((random: Random) => string)[] = [
  () => 'No colon',
  () => ': no name',
  () => 'Bad name: x',
  () => 'Name : x',
  () => 'Zero: a\u0000b',
  () => 'Line: a\rb',
  () => 'X: a\r\n folded',
  () => 'B\u00e4d: x',
  () => `X-Long: ${'x'.repeat(17_000)}`,
  (random) => `X-Long: ${'x'.repeat(random.below(100_000))}`,
  (random) =>
    Array.from({ length: random.below(3_000) }, (_, n) => `X-${n}: x`).join('\r\n') ||
    'X: x',
  () => 'Expect: 100-continue',
  () => 'Expect: miracles',
  () => 'Connection: close',
  () => 'Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: x',
  () =>
    'Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__',
  () => 'Connection: keep-alive, , ,',
  () => 'Content-Encoding: gzip',
  () => 'Content-Encoding: br, zstd',
  () => 'Accept-Encoding: gzip;q=2, *;q=x',
  () => 'Origin: null\r\nAccess-Control-Request-Method: POST',
  () => 'Origin: http://x\r\nOrigin: http://y',
  () => 'Access-Control-Request-Headers: \u00ff,,Token',
  () => 'X-Request-Id: \u00ff\u00fe',
  () => `X-Request-Id: ${'x'.repeat(65)}`,
  () => 'Feature-Flag-lexical: \u00ff',
  () => 'Host: y',
  () => 'Host: \u00ff/',
  () => 'Trailer: Token',
  () => 'Authorization: Bearer',
  () => 'Authorization: Basic dXNlcjpwYXNz',
  () => 'Cookie: __proto__=1',
  () => '__proto__: x',
  () => 'x-embedding-api-key: \u0080\u0081',
]

function token(random: Random): string {
  if (!random.oneIn(8)) return `Token: ${processToken}`
  return random.pick([
    'X-No-Token: 1',
    'Token: ',
    'Token: \u00ff\u00ff',
    `Token: ${'x'.repeat(9_000)}`,
    'Token: Cassandra:::',
    'Token: Cassandra:YQ==:YQ==',
    'Token: Stela:x:y',
    'Token: AstraCS:x:y',
    `Authorization: Bearer ${processToken}`,
    `Authorization: bearer   ${processToken} `,
    `X-Cassandra-Token: ${processToken}`,
    `Token: ${processToken}\r\nToken: ${processToken}`,
  ])
}

function chunked(body: Buffer, random: Random): Buffer {
  const chunks: Buffer[] = []
  for (let from = 0; from < body.length;) {
    const size = 1 + random.below(Math.min(body.length - from, 1_000))
    const extension = random.oneIn(9) ? ';name="value"' : ''
    chunks.push(
      Buffer.from(`${size.toString(16)}${extension}\r\n`),
      body.subarray(from, from + size),
      Buffer.from('\r\n'),
    )
    from += size
  }
  const trailer = random.oneIn(9) ? 'X-Trailer: x\r\n' : ''
  return Buffer.concat([...chunks, Buffer.from(`0\r\n${trailer}\r\n`)])
}

function shuffled<T>(random: Random, list: readonly T[]): T[] {
  const left = [...list]
  return Array.from(
    { length: list.length },
    () => left.splice(random.below(left.length), 1)[0]!,
  )
}
