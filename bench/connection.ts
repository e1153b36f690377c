/** A connection of the load generator: prepared bytes out, whole replies in. */
import { connect, type Socket } from 'node:net'
import type { Line } from './drive.ts'

/**
 * Returns the reply at the start of `bytes`; undefined if it is incomplete. A reply may refer to the
 * bytes, which are valid only until the next request.
 */
type ReadReply<Reply> = (bytes: Buffer) => Reply | undefined

export class Connection<Reply> implements Line<Reply> {
  readonly #socket: Socket
  readonly #readReply: ReadReply<Reply>
  #arrived: Buffer | undefined
  #take: (reply: Reply) => void = () => undefined
  #fail: (reason: Error) => void = () => undefined

  private constructor(port: number, readReply: ReadReply<Reply>) {
    const buffer = Buffer.allocUnsafeSlow(readSize)
    this.#readReply = readReply
    this.#socket = connect({
      port,
      host: '127.0.0.1',
      noDelay: true,
      // Reading into one buffer avoids the allocations and events of a stream.
      onread: {
        buffer,
        callback: (size) => {
          this.#receive(buffer.subarray(0, size))
          return true
        },
      },
    })
    this.#socket.on('error', (reason) => this.#fail(reason))
    this.#socket.on('close', () => this.#fail(new Error('the connection was closed')))
  }

  static open<Reply>(
    port: number,
    readReply: ReadReply<Reply>,
  ): Promise<Connection<Reply>> {
    return new Promise((resolve, reject) => {
      const connection = new Connection(port, readReply)
      connection.#fail = reject
      connection.#socket.once('connect', () => resolve(connection))
    })
  }

  send(request: Buffer, take: (reply: Reply) => void, fail: (reason: Error) => void): void {
    this.#take = take
    this.#fail = fail
    this.#socket.write(request)
  }

  close(): void {
    this.#fail = () => undefined
    this.#socket.destroy()
  }

  #receive(chunk: Buffer): void {
    const bytes =
      this.#arrived === undefined ? chunk : Buffer.concat([this.#arrived, chunk])
    const reply = this.#readReply(bytes)
    if (reply === undefined) {
      this.#arrived = this.#arrived === undefined ? Buffer.from(chunk) : bytes
      return
    }
    this.#arrived = undefined
    this.#take(reply)
  }
}

const readSize = 256 * 1024
