/**
 * Load generator: HTTP/1.1 over persistent connections, one request at a time per connection.
 *
 * The generator shares the machine with the server, so it does little work. Requests are prepared
 * bytes. It checks the status and the length of a reply, and that the reply contains no errors.
 */
import { Connection } from './connection.ts'
import { driveAll, type Drive, type Tally } from './drive.ts'

export class Client {
  readonly #connections: readonly Connection<Reply>[]

  private constructor(connections: readonly Connection<Reply>[]) {
    this.#connections = connections
  }

  static async connect(port: number, connections: number): Promise<Client> {
    const opened = Array.from({ length: connections }, () =>
      Connection.open(port, readReply),
    )
    return new Client(await Promise.all(opened))
  }

  /** Keeps all connections busy. Resolves after the last reply. */
  drive(drive: Drive): Promise<Tally> {
    return driveAll(this.#connections, problemOf, drive)
  }

  /** Sends one request and returns the body of its reply. */
  ask(request: Buffer): Promise<string> {
    return new Promise((resolve, reject) => {
      this.#connections[0]!.send(request, (reply) => resolve(bodyOf(reply)), reject)
    })
  }

  close(): void {
    for (const connection of this.#connections) connection.close()
  }
}

const errorsMark = Buffer.from('"errors":[')

function problemOf(reply: Reply): string | undefined {
  const isGood = reply.status === 200 && !reply.bytes.includes(errorsMark)
  return isGood ? undefined : bodyOf(reply)
}

/** The bytes of the HTTP request that sends a command. */
export function requestBytes(path: string, token: string, body: string): Buffer {
  return Buffer.from(
    `POST ${path} HTTP/1.1\r\nHost: bench\r\nToken: ${token}\r\n` +
      `Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n` +
      body,
  )
}

/** A whole reply. Its bytes are valid only until the next request. */
interface Reply {
  readonly status: number
  readonly bytes: Buffer
  readonly bodyStart: number
}

function bodyOf({ bytes, bodyStart }: Reply): string {
  return bytes.toString('utf8', bodyStart)
}

function readReply(bytes: Buffer): Reply | undefined {
  const headEnd = bytes.indexOf('\r\n\r\n', 0, 'latin1')
  if (headEnd < 0) return undefined
  // Without the C and the L, the search finds both "Content-Length" and "content-length".
  const lengthAt = bytes.indexOf('ength: ', 0, 'latin1')
  if (lengthAt < 0 || lengthAt > headEnd) throw new Error('a reply has no Content-Length')
  let length = 0
  for (let i = lengthAt + 7; bytes[i]! >= 48 && bytes[i]! <= 57; i++)
    length = length * 10 + bytes[i]! - 48
  const bodyStart = headEnd + 4
  if (bytes.length < bodyStart + length) return undefined
  // The first line begins with "HTTP/1.1 ", so the three digits of the status start at byte 9.
  const status = bytes[9]! * 100 + bytes[10]! * 10 + bytes[11]! - 48 * 111
  return { status, bytes, bodyStart }
}
