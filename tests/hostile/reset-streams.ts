/** HTTP/2 frames that open streams and reset them at once. */

const frameType = { headers: 1, reset: 3, settings: 4, goAway: 7 } as const

function frame(type: number, flags: number, stream: number, payload: Buffer): Buffer {
  const head = Buffer.alloc(9)
  head.writeUIntBE(payload.length, 0, 3)
  head[3] = type
  head[4] = flags
  head.writeUInt32BE(stream, 5)
  return Buffer.concat([head, payload])
}

/**
 * Headers of a GET request: method, scheme and path as indexes of the static table, and an
 * authority.
 */
const headerBlock = Buffer.concat([
  Buffer.from([0x82, 0x87, 0x84, 0x41, 0x01]),
  Buffer.from('x'),
])

const cancel = Buffer.from([0, 0, 0, 8])

/** All bytes that the client sends: the preface, the settings, and `count` streams. */
export function resetStreams(count: number): Buffer {
  const frames = [
    Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'),
    frame(frameType.settings, 0, 0, Buffer.alloc(0)),
  ]
  for (let n = 0; n < count; n++) {
    const stream = 2 * n + 1
    frames.push(frame(frameType.headers, 0x5, stream, headerBlock))
    frames.push(frame(frameType.reset, 0, stream, cancel))
  }
  return Buffer.concat(frames)
}

/** The error code of the GOAWAY frame; undefined when the server sent none. */
export function goAwayCode(bytes: Buffer): number | undefined {
  for (let at = 0; at + frameHeadSize <= bytes.length;) {
    const size = bytes.readUIntBE(at, 3)
    const payload = at + frameHeadSize
    // The payload contains the last stream id, followed by the error code.
    if (bytes[at + 3] === frameType.goAway) return bytes.readUInt32BE(payload + 4)
    at = payload + size
  }
  return undefined
}

const frameHeadSize = 9
