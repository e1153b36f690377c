/**
 * The requests of a connection, taken one at a time by HTTP/1.1 and a few at a time by
 * HTTP/2. The next begins when a response has gone out to its last byte.
 *
 * Node hands out all pipelined requests that it has read, answered or not. A client that
 * sends many and reads nothing would have all of them run, and their replies kept. Here they
 * wait unread, and meanwhile nothing more is read from the connection.
 */
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { connectionOf, isGone, isMultiplexed } from './connection.ts'
import { fixedLimits } from '../limits.ts'

const { waitingPerConnectionMax, waitingRequestsMax, requestsPerConnectionMax } =
  fixedLimits

interface Connection {
  atWork: number
  readonly waiting: Pair[]
  /** Whether reading from it stops while requests wait. */
  isWatched: boolean
}

type Pair = readonly [request: IncomingMessage, response: ServerResponse]

/** Counts requests. */
export interface RequestCounter {
  beginRequest(): void
  /** The response was sent, or the client has disconnected. */
  endRequest(response: ServerResponse): void
}

export class RequestQueue {
  readonly #handle: RequestListener
  readonly #counter: RequestCounter | undefined
  readonly #connections = new WeakMap<object, Connection>()
  #waiting = 0

  constructor(handle: RequestListener, counter: RequestCounter | undefined) {
    this.#handle = handle
    this.#counter = counter
  }

  add(request: IncomingMessage, response: ServerResponse): void {
    const connection = this.#connection(request)
    const atWorkMax = isMultiplexed(request) ? requestsPerConnectionMax : 1
    if (connection.atWork < atWorkMax) {
      this.#begin(connection, request, response)
      return
    }
    const { waiting } = connection
    if (waiting.length >= waitingPerConnectionMax || this.#waiting >= waitingRequestsMax) {
      request.socket.destroy()
      return
    }
    waiting.push([request, response])
    this.#waiting++
    if (!isMultiplexed(request)) stopReading(request.socket, connection)
  }

  #begin(connection: Connection, request: IncomingMessage, response: ServerResponse): void {
    connection.atWork++
    this.#counter?.beginRequest()
    response.on('close', () => {
      connection.atWork--
      this.#counter?.endRequest(response)
      if (connection.waiting.length > 0) this.#beginNext(connection)
    })
    this.#handle(request, response)
  }

  #beginNext(connection: Connection): void {
    const { waiting } = connection
    for (let pair = waiting.shift(); pair !== undefined; pair = waiting.shift()) {
      this.#waiting--
      const [request, response] = pair
      // The connection ended while it waited; its response does not learn of that.
      if (isGone(response) || !request.socket.writable) continue
      this.#begin(connection, request, response)
      // The client may have half-closed the connection. Node sends nothing after it has read that,
      // so a reply that is ready in this turn of the loop goes out first.
      if (waiting.length === 0 && !isMultiplexed(request))
        setImmediate(() => request.socket.resume())
      return
    }
  }

  #connection(request: IncomingMessage): Connection {
    const key = connectionOf(request)
    let connection = this.#connections.get(key)
    if (connection === undefined) {
      connection = { atWork: 0, waiting: [], isWatched: false }
      this.#connections.set(key, connection)
    }
    return connection
  }
}

/** Until no request waits. Node starts reading again at the end of each message. */
function stopReading(socket: Socket, connection: Connection): void {
  socket.pause()
  if (connection.isWatched) return
  connection.isWatched = true
  socket.on('resume', () => {
    if (connection.waiting.length > 0) socket.pause()
  })
}
