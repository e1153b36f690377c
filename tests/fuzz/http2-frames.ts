/** HTTP/2 frames, valid and invalid, as bytes (RFC 9113, RFC 7541). */
import type { Random } from '../faults/random.ts'
import { damageBytes } from './damage.ts'

const preface = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n')

/** Frame types used here. */
export const frameTypes = {
  data: 0,
  headers: 1,
  reset: 3,
  settings: 4,
  ping: 6,
  continuation: 9,
} as const

export const flags = { endStream: 1, endHeaders: 4 } as const

export function frame(
  type: number,
  flagBits: number,
  stream: number,
  payload: Buffer = Buffer.alloc(0),
): Buffer {
  const head = Buffer.alloc(9)
  head.writeUIntBE(payload.length, 0, 3)
  head.writeUInt8(type, 3)
  head.writeUInt8(flagBits, 4)
  head.writeUInt32BE(stream, 5)
  return Buffer.concat([head, payload])
}

/** The start of a connection: the client's preface, with its settings. */
export const beginning = [preface, frame(frameTypes.settings, 0, 0)]

/**
 * A header block whose literals are never indexed, so that it does not depend on the dynamic table.
 */
export function headerBlock(headers: Readonly<Record<string, string>>): Buffer {
  return Buffer.concat(
    Object.entries(headers).flatMap(([name, value]) => [
      Buffer.of(0x10),
      ...[name, value].map(literal),
    ]),
  )
}

function literal(text: string): Buffer {
  const bytes = Buffer.from(text, 'latin1')
  return Buffer.concat([lengthOf(bytes.length), bytes])
}

/** An HPACK integer with a 7-bit prefix. */
function lengthOf(value: number): Buffer {
  if (value < 127) return Buffer.of(value)
  const bytes = [127]
  for (value -= 127; value >= 128; value = Math.floor(value / 128))
    bytes.push(128 + (value % 128))
  return Buffer.of(...bytes, value)
}

/** The frames of a command, as a new stream. */
export function commandFrames(
  stream: number,
  headers: Readonly<Record<string, string>>,
  body: string,
): Buffer[] {
  return [
    frame(frameTypes.headers, flags.endHeaders, stream, headerBlock(headers)),
    frame(frameTypes.data, flags.endStream, stream, Buffer.from(body)),
  ]
}

/**
 * The frames of a random client. Most frames are valid, so that some streams pass the first
 * checks of the server.
 */
export function writeFrames(
  random: Random,
  sound: { readonly headers: Readonly<Record<string, string>>; readonly body: string },
): Buffer {
  const parts = beginning.filter(() => !random.oneIn(30))
  let stream = 1
  for (let left = 1 + random.below(24); left > 0; left--) {
    if (random.oneIn(2)) {
      const headers = random.oneIn(3)
        ? oddHeaders(random, sound.headers)
        : { ...sound.headers }
      const sent = commandFrames(stream, headers, sound.body)
      // In some cases, the stream stays half open, or the same stream is started again.
      parts.push(...(random.oneIn(5) ? sent.slice(0, 1) : sent))
      if (!random.oneIn(9)) stream += 2
    } else parts.push(oddFrame(random, stream))
  }
  const bytes = Buffer.concat(parts)
  return random.oneIn(4) ? damageBytes(bytes, random) : bytes
}

function oddFrame(random: Random, next: number): Buffer {
  const type = random.oneIn(8) ? random.below(256) : random.below(10)
  const sizes = [0, 1, 4, 5, 6, 8, 9, 100, 16_384, 16_385]
  const payload = random.bytes(random.pick(sizes))
  const streams = [0, 1, 2, Math.max(1, next - 2), next, next + 2, 2 ** 31 - 1, 2 ** 31]
  return frame(type, random.below(256), random.pick(streams), payload)
}

function oddHeaders(
  random: Random,
  sound: Readonly<Record<string, string>>,
): Record<string, string> {
  const headers = { ...sound }
  const odd: readonly (readonly [string, string])[] = [
    [':path', random.pick(['', '*', '//', '/v1/%', '/v1/\u00ff', 'http://x/v1', '/v2'])],
    [':method', random.pick(['GET', 'CONNECT', 'OPTIONS', 'post', '', 'P ST'])],
    [':scheme', random.pick(['http', 'ftp', ''])],
    [':authority', random.pick(['', 'x:99999', '\u00ff', 'a@b'])],
    [':status', '200'],
    [':protocol', 'websocket'],
    ['Token', 'x'],
    ['token', random.pick(['', 'x', '\u00ff', 'x'.repeat(9_000)])],
    ['connection', 'close'],
    ['transfer-encoding', 'chunked'],
    ['te', 'gzip'],
    ['content-length', random.pick(['0', '1', '-1', 'x', '99999999999999999999'])],
    ['content-encoding', random.pick(['gzip', 'br', 'x'])],
    ['expect', random.pick(['100-continue', 'miracles'])],
    ['x-long', 'x'.repeat(random.below(40_000))],
    ['', 'x'],
    ['x\u0000y', 'x'],
    ['x', 'a\r\nb: c'],
    ['host', 'y'],
    ['__proto__', 'x'],
  ]
  for (let left = 1 + random.below(3); left > 0; left--) {
    const [name, value] = random.pick(odd)
    headers[name] = value
  }
  if (!random.oneIn(6)) return headers
  const missing = random.pick([':path', ':method', ':scheme'])
  return Object.fromEntries(Object.entries(headers).filter(([name]) => name !== missing))
}
