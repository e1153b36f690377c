/**
 * Queues the requests of a connection. HTTP/1.1 runs one request at a time, HTTP/2 a few. The next
 * request starts when the last byte of a response was sent.
 *
 * Node emits every pipelined request that it has read, even if earlier ones are not answered. If a
 * client sent many requests and read nothing, all of them would be executed, and their replies kept
 * in memory. This queue delays such requests and stops reading from the connection meanwhile.
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
  /** Whether the listener that stops reading is installed. */
  isWatched: boolean
}

type Pair = readonly [request: IncomingMessage, response: ServerResponse]

/** Receives counts of requests. */
export interface RequestCounter {
  beginRequest(): void
  /** Called when the response was sent or the client disconnected. */
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
      // The connection closed while the request was queued. Its response emits no 'close' event, so
      // the loop takes the next request.
      if (isGone(response) || !request.socket.writable) continue
      this.#begin(connection, request, response)
      // The client may have half-closed the connection. Node sends no reply after it has read the
      // end of a connection. So reading resumes in the next turn, after a reply that is ready in
      // this turn.
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

/**
 * Stops reading until the queue is empty. Node resumes reading after each message, so a listener
 * pauses the socket again.
 */
function stopReading(socket: Socket, connection: Connection): void {
  socket.pause()
  if (connection.isWatched) return
  connection.isWatched = true
  socket.on('resume', () => {
    if (connection.waiting.length > 0) socket.pause()
  })
}
