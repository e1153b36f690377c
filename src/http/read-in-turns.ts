/** Reads bodies in bounded slices, so that other connections are not delayed. */
import type { IncomingMessage } from 'node:http'

/**
 * Maximum bytes that are read from a connection before other connections get their turn. Node would
 * read up to 2 MB of each connection, so many uploads would delay other connections.
 */
const turnSize = 131_072

export function readInTurns(message: IncomingMessage, take: (chunk: Buffer) => void): void {
  let left = turnSize
  message.on('data', (chunk: Buffer) => {
    take(chunk)
    left -= chunk.length
    if (left > 0 || message.isPaused()) return
    left = turnSize
    message.pause()
    setImmediate(() => message.resume())
  })
}
