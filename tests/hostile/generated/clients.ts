/** Hostile clients that speak valid HTTP. */
import { once } from 'node:events'
import { Agent, request as plainRequest, type IncomingMessage } from 'node:http'
import { Agent as TlsAgent, request as tlsRequest } from 'node:https'
import type { Readable } from 'node:stream'
import type { Arena } from './arena.ts'
import type { HostileRequest } from './load.ts'

export type Transport = 'HTTP/1.1' | 'HTTP/2' | 'MCP'

/**
 * How a request ended: the status with the code of the first error, or 'none' if the connection
 * closed without an answer.
 */
export type Outcome = string

export interface HostileClient {
  send(request: HostileRequest): Promise<Outcome>
  close(): void
}

/**
 * Creates a client for one connection. `reads`: whether the client reads replies. If not, they stay
 * in the socket until the connection closes.
 */
export function clientOf(
  arena: Arena,
  transport: Transport,
  reads: boolean,
): HostileClient {
  return transport === 'HTTP/2' ? http2Client(arena, reads) : http1Client(arena, reads)
}

function http1Client(arena: Arena, reads: boolean): HostileClient {
  const { url, ca } = arena.server
  const options = { keepAlive: true, maxSockets: 1, localAddress: arena.nextAddress() }
  const agent = ca === undefined ? new Agent(options) : new TlsAgent({ ...options, ca })
  const send = ca === undefined ? plainRequest : tlsRequest
  return {
    async send({ method, path, headers, sender, body }) {
      const request = send(url + path, {
        agent,
        method,
        headers: {
          Token: arena.tokens[sender],
          'Content-Length': body?.length ?? 0,
          ...headers,
        },
      })
      const closed = once(request, 'close').catch(() => undefined)
      request.on('error', () => undefined)
      const responded = once(request, 'response') as Promise<[IncomingMessage]>
      request.end(body)
      const [response] = await Promise.race([
        responded.catch(() => [undefined]),
        closed.then(() => [undefined]),
      ])
      if (response === undefined) return 'none'
      return outcomeOf(response.statusCode!, response, reads)
    },
    close: () => agent.destroy(),
  }
}

function http2Client(arena: Arena, reads: boolean): HostileClient {
  let session = arena.connectHttp2()
  return {
    async send({ method, path, headers, sender, body }) {
      if (session.closed || session.destroyed) session = arena.connectHttp2()
      const stream = session.request({
        ':method': method,
        ':path': path,
        token: arena.tokens[sender],
        ...Object.fromEntries(
          Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]),
        ),
      })
      stream.on('error', () => undefined)
      const closed = once(stream, 'close').catch(() => undefined)
      const responded = once(stream, 'response') as Promise<[{ ':status'?: number }]>
      stream.end(body)
      const [answer] = await Promise.race([
        responded.catch(() => [undefined]),
        closed.then(() => [undefined]),
      ])
      if (answer === undefined) return 'none'
      return outcomeOf(answer[':status'] ?? 0, stream, reads)
    },
    close: () => session.destroy(),
  }
}

/** Maximum number of bytes of a reply that are searched for an error code. */
const lookedAt = 2_000

async function outcomeOf(
  status: number,
  reply: Readable,
  reads: boolean,
): Promise<Outcome> {
  if (!reads) {
    reply.pause()
    reply.on('error', () => undefined)
    await once(reply, 'close').catch(() => undefined)
    return `${status} unread`
  }
  let start = ''
  try {
    for await (const chunk of reply)
      if (start.length < lookedAt) start += (chunk as Buffer).toString('latin1')
  } catch {
    return `${status} cut off`
  }
  const code = /"errorCode":"(\w+)"/.exec(start)?.[1]
  return code === undefined ? `${status}` : `${status} ${code}`
}
