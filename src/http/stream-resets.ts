/**
 * Closes HTTP/2 connections whose client opens streams only to reset them.
 *
 * Each reset stream costs the server a request, but does not count toward the limit on concurrent
 * streams. Node's HTTP/2 implementation counts resets per connection; this class counts them per
 * address. A client that cancels requests in normal operation resets a few streams per second.
 */
import { constants, type ServerHttp2Session, type ServerHttp2Stream } from 'node:http2'
import { networkOf } from '../auth/network-of.ts'
import type { ConnectionCounter } from './connection-gate.ts'
import { LocalRateLimit } from './local-rate-limit.ts'

export class StreamResets {
  readonly #rate: LocalRateLimit
  readonly #counter: ConnectionCounter | undefined

  /** `perSecond`: maximum resets per second and address, and the maximum burst of resets. */
  constructor(perSecond: number, counter: ConnectionCounter | undefined) {
    this.#rate = new LocalRateLimit(perSecond)
    this.#counter = counter
  }

  watch(stream: ServerHttp2Stream): void {
    const { session } = stream
    if (session === undefined) return
    stream.once('aborted', () => this.#count(session as ServerHttp2Session))
  }

  #count(session: ServerHttp2Session): void {
    // When a connection ends, its streams are aborted although the client did not reset them.
    if (session.destroyed || session.socket.destroyed) return
    const network = networkOf(session.socket.remoteAddress ?? '')
    if (this.#rate.take(network) === 0) return
    this.#counter?.countClosed('stream_resets')
    session.goaway(constants.NGHTTP2_ENHANCE_YOUR_CALM)
    session.destroy()
  }
}
