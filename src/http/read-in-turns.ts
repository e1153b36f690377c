/** The bytes of bodies, as they arrive, without keeping others waiting. */
import type { IncomingMessage } from 'node:http'

/**
 * Bytes that are read of a body before the other connections have their turn. Without a
 * bound, 2 MB are read of each that has them: with many uploads, others would wait for that.
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
