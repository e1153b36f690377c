/** A client that sends concurrent requests on one HTTP/2 connection. */
import { once } from 'node:events'
import {
  connect,
  type ClientHttp2Session,
  type ClientHttp2Stream,
  type IncomingHttpHeaders,
} from 'node:http2'
import type { Envelope } from '../harness.ts'
import { testToken } from '../harness.ts'

export interface H2Answer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly text: string
  readonly body: Envelope
}

export class H2Client {
  readonly session: ClientHttp2Session

  private constructor(session: ClientHttp2Session) {
    this.session = session
    // Tests make the server close some of these connections, which is an error for the client.
    session.on('error', () => undefined)
  }

  static async connect(url: string, ca: string): Promise<H2Client> {
    const session = connect(url, { ca })
    await once(session, 'connect')
    return new H2Client(session)
  }

  /** Sends a command: `command('/library/books', { find: {} })`. */
  command(path: string, body: unknown, headers: Record<string, string> = {}) {
    const text = typeof body === 'string' ? body : JSON.stringify(body)
    return this.send({ ':method': 'POST', ':path': `/v1${path}`, ...headers }, text)
  }

  async send(headers: Record<string, string>, body?: string | Buffer): Promise<H2Answer> {
    const stream = this.open(headers)
    stream.end(body)
    return readAnswer(stream)
  }

  /** Opens a request whose body the caller sends. */
  open(headers: Record<string, string>): ClientHttp2Stream {
    const isBodiless = headers[':method'] === undefined || headers[':method'] === 'GET'
    return this.session.request(
      { token: testToken, 'content-type': 'application/json', ...headers },
      { endStream: isBodiless },
    )
  }

  async close(): Promise<void> {
    if (this.session.destroyed) return
    const closed = once(this.session, 'close')
    this.session.close()
    await closed
  }
}

export async function readAnswer(stream: ClientHttp2Stream): Promise<H2Answer> {
  const [headers] = (await once(stream, 'response')) as [IncomingHttpHeaders]
  let text = ''
  for await (const chunk of stream.setEncoding('utf8')) text += String(chunk)
  return {
    status: Number((headers as Record<string, unknown>)[':status']),
    headers,
    text,
    get body() {
      return JSON.parse(text) as Envelope
    },
  }
}
