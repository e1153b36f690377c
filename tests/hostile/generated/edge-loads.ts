/** Misuse of HTTP, and MCP messages. */
import { setTimeout as pause } from 'node:timers/promises'
import { answersOf, write } from '../attack.ts'
import { headOf, requestOf } from '../requests.ts'
import type { Choices } from './choices.ts'
import {
  commandTo,
  get,
  messageOf,
  type ConnectionLoad,
  type HostileRequest,
  type RequestLoad,
} from './load.ts'
import { keyspace } from './targets.ts'

/** Requests for paths other than commands. */
export function pages(choices: Choices): RequestLoad {
  const path = choices.pick([
    ...['/metrics', '/metrics', '/stargate/health', '/stargate/health/ready', '/'],
    ...['/api/json/openapi', '/swagger-ui', '/console', '/nowhere'],
  ])
  const size = choices.size(10, 14_000)
  const options: HostileRequest = {
    method: 'OPTIONS',
    path: `/v1${keyspace}/arrays`,
    sender: 'nobody',
    headers: { Origin: 'https://example.com', 'Access-Control-Request-Method': 'POST' },
    body: undefined,
  }
  const padded: HostileRequest = {
    ...get(path),
    headers: { 'X-Padding': 'x'.repeat(size) },
  }
  return {
    says: `GET ${path}, OPTIONS, headers of ${size} bytes`,
    requests: [get(path), options, padded],
  }
}

export function badTokens(choices: Choices): RequestLoad {
  const size = choices.size(1, 8_000)
  const requests = Array.from({ length: 20 }, (_, n): HostileRequest => {
    const request = commandTo(`${keyspace}/arrays`, { find: {} }, 'nobody')
    return {
      ...request,
      headers: { ...request.headers, Token: `Stela:${n}:${'x'.repeat(size)}` },
    }
  })
  return { says: `invalid tokens of ${size} characters`, requests }
}

export function messages(choices: Choices): RequestLoad {
  const method = choices.pick([
    'tools/list',
    'resources/list',
    'prompts/list',
    'initialize',
    'resources/read',
    'nothing',
  ])
  const size = choices.size(1, 100_000)
  const params = {
    cursor: 'x'.repeat(size),
    uri: `stela://default_keyspace/${'x'.repeat(size)}`,
    protocolVersion: '2025-11-25',
    capabilities: {},
    clientInfo: { name: 'x'.repeat(size), version: '1' },
  }
  return {
    says: `MCP message ${method} of ${size} characters`,
    requests: [
      messageOf(method, params),
      messageOf(method, {}),
      messageOf('resources/list', {}),
    ],
  }
}

/** Connections that are opened and closed, with half of a request or none. */
export function churn(choices: Choices): ConnectionLoad {
  const half = choices.oneIn(2)
  return {
    says: `connections that are closed ${half ? 'in the middle of a request' : 'at once'}`,
    run: (arena, connections, signal) =>
      everyConnection(connections, signal, async () => {
        const socket = await arena.connect()
        if (half)
          await write(socket, headOf(arena.tokens.writer, `${keyspace}/arrays`, 1_000))
        socket.destroy()
      }),
  }
}

/** Bodies that never end. */
export function unfinishedBodies(choices: Choices): ConnectionLoad {
  const size = choices.size(1_000, 19_000_000)
  const sender = choices.pick(['writer', 'nobody'] as const)
  return {
    says: `unfinished bodies of ${size} bytes, ${sender === 'nobody' ? 'unknown' : 'valid'} token`,
    run: (arena, connections, signal) =>
      everyConnection(connections, signal, async () => {
        const socket = await arena.connect()
        socket.resume()
        void write(socket, headOf(arena.tokens[sender], `${keyspace}/arrays`, size + 1))
        void write(socket, Buffer.alloc(size, ' '))
        await untilClosedOr(socket, signal)
        socket.destroy()
      }),
  }
}

/** Many requests on one connection, whose client does not read the replies. */
export function pipelines(choices: Choices): ConnectionLoad {
  const count = choices.size(2, 900)
  const target = choices.pick(['large', 'arrays', 'many'])
  const body = Buffer.from('{"find":{}}')
  return {
    says: `${count} pipelined finds on ${target}, replies unread`,
    run: (arena, connections, signal) =>
      everyConnection(Math.min(connections, 32), signal, async () => {
        const socket = await arena.connect()
        socket.pause()
        const request = requestOf(arena.tokens.writer, `${keyspace}/${target}`, body)
        void write(socket, Buffer.concat(Array<Buffer>(count).fill(request)))
        await untilClosedOr(socket, signal)
        socket.destroy()
      }),
  }
}

/** HTTP/2 streams that are reset as soon as they are opened. The load needs TLS. */
export function rapidResets(choices: Choices): ConnectionLoad {
  const atOnce = choices.size(10, 1_000)
  const withBody = choices.oneIn(2)
  return {
    says: `HTTP/2: ${atOnce} streams opened and reset at a time${withBody ? ', with a body' : ''}`,
    run: (arena, connections, signal) =>
      everyConnection(Math.min(connections, 16), signal, async () => {
        const session = arena.connectHttp2()
        session.on('error', () => undefined)
        while (!signal.aborted && !session.destroyed) {
          for (let n = 0; n < atOnce && !session.destroyed; n++) {
            const stream = session.request({
              ':method': 'POST',
              ':path': `/v1${keyspace}/many`,
              token: arena.tokens.writer,
              'content-type': 'application/json',
            })
            stream.on('error', () => undefined)
            if (withBody) stream.write('{"find":{}}')
            stream.close(8)
          }
          await pause(1)
        }
        session.destroy()
      }),
  }
}

/** Repeats `once` on each connection until `signal` is aborted. */
async function everyConnection(
  connections: number,
  signal: AbortSignal,
  once: () => Promise<void>,
) {
  let done = 0
  await Promise.all(
    Array.from({ length: connections }, async () => {
      while (!signal.aborted) {
        try {
          await once()
        } catch {
          // The server may reject connections. The load then continues after a pause.
          await pause(5)
        }
        done++
      }
    }),
  )
  return answersOf(Array<'none'>(done).fill('none'))
}

function untilClosedOr(
  socket: { once(event: 'close', act: () => void): unknown },
  signal: AbortSignal,
) {
  return new Promise<void>((resolve) => {
    if (signal.aborted) resolve()
    signal.addEventListener('abort', () => resolve(), { once: true })
    socket.once('close', resolve)
  })
}
