/**
 * Attacks that use no commands: connections, headers, pages, and requests without a valid
 * token.
 */
import { once } from 'node:events'
import { connect as connectPlain, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import {
  answersOf,
  seconds,
  statusesOn,
  write,
  type Answers,
  type Attack,
} from './attack.ts'
import { clientHello } from './client-hello.ts'
import { hostileToken, unknownToken, type HostileServer } from './hostile-server.ts'
import { requestOf } from './requests.ts'
import { resetStreams } from './reset-streams.ts'

const keyspace = '/default_keyspace'
const target = `${keyspace}/target`

/**
 * Address of the attacker. Bystanders use another one, so that limits per address do not affect
 * them.
 */
const localAddress = '127.0.0.2'

function open(server: HostileServer): Socket {
  const { hostname, port } = new URL(server.url)
  const socket = connectPlain({ host: hostname, port: Number(port), localAddress })
  socket.on('error', () => undefined)
  return socket
}

async function opened(server: HostileServer): Promise<Socket> {
  const socket = open(server)
  await once(socket, 'connect')
  return socket
}

/** Pipelines the same requests on `connections` connections concurrently. */
async function flood(
  server: HostileServer,
  connections: number,
  perConnection: number,
  request: Buffer,
): Promise<Answers> {
  const sockets = await Promise.all(
    Array.from({ length: connections }, () => opened(server)),
  )
  const one = async (socket: Socket) => {
    const statuses = statusesOn(socket, perConnection)
    await write(socket, Buffer.concat(Array<Buffer>(perConnection).fill(request)))
    return statuses
  }
  const statuses = await Promise.all(sockets.map(one))
  for (const socket of sockets) socket.destroy()
  return answersOf(statuses.flat())
}

function get(path: string, headers: readonly string[] = []): Buffer {
  return request('GET', path, headers)
}

function request(method: string, path: string, headers: readonly string[] = []): Buffer {
  const lines = [`${method} ${path} HTTP/1.1`, 'Host: x', ...headers]
  return Buffer.from(`${lines.join('\r\n')}\r\n\r\n`)
}

/** Opens streams and resets each of them at once, on one connection. */
async function resetRapidly(server: HostileServer, count: number): Promise<'none' | 200> {
  const { hostname, port } = new URL(server.url)
  const socket = connectTls({
    host: hostname,
    port: Number(port),
    ca: server.ca,
    ALPNProtocols: ['h2'],
    socket: open(server),
  })
  socket.on('error', () => undefined).resume()
  await once(socket, 'secureConnect')
  await write(socket, resetStreams(count))
  await seconds(1)
  const wasClosed = socket.destroyed || socket.readableEnded
  socket.destroy()
  return wasClosed ? 'none' : 200
}

const unknownTokenRequest = requestOf(unknownToken, target, Buffer.from('{"findOne":{}}'))

/** Attacks. All but the last few have no valid token. */
export const edgeAttacks: readonly Attack[] = [
  {
    name: 'http2-rapid-reset',
    request: 'HTTP/2: 10 000 streams that are reset immediately, on each of 8 connections',
    server: { tls: true },
    async run(server) {
      const all = Array.from({ length: 8 }, () => resetRapidly(server, 10_000))
      return answersOf(await Promise.all(all))
    },
  },
  {
    name: 'tls-handshakes',
    request: 'the first message of a TLS handshake on 500 connections at once',
    server: { tls: true },
    async run(server) {
      const sockets = await Promise.all(Array.from({ length: 500 }, () => opened(server)))
      const hello = await clientHello()
      const answers = await Promise.all(
        sockets.map(async (socket) => {
          const answered = once(socket, 'data').catch(() => undefined)
          await write(socket, hello)
          await Promise.race([answered, once(socket, 'close')])
          const answer = socket.destroyed ? 'none' : 200
          socket.destroy()
          return answer
        }),
      )
      return answersOf(answers)
    },
  },
  {
    name: 'unknown-tokens',
    request: '2 000 commands with an unknown token, on 500 connections',
    run: (server) => flood(server, 500, 4, unknownTokenRequest),
  },
  {
    name: 'metrics-flood',
    request: '500 requests for `/metrics` at once',
    run: (server) => flood(server, 500, 1, get('/metrics')),
  },
  {
    name: 'management-tokens',
    request:
      '2 000 requests to the management API with an unknown token, on 500 connections',
    run: (server) =>
      flood(
        server,
        500,
        4,
        get('/v2/databases', [`Authorization: Bearer ${unknownToken}`]),
      ),
  },
  {
    name: 'mcp-tokens',
    request: '2 000 MCP messages with an unknown token, on 500 connections',
    run: (server) =>
      flood(
        server,
        500,
        4,
        requestOf(
          unknownToken,
          '/mcp',
          Buffer.from('{"jsonrpc":"2.0","id":1,"method":"tools/list"}'),
        ),
      ),
  },
  {
    name: 'mcp-lists',
    request: '200 MCP messages `tools/list` at once, valid token',
    run: (server) =>
      flood(
        server,
        200,
        1,
        requestOf(
          hostileToken,
          '/mcp',
          Buffer.from('{"jsonrpc":"2.0","id":1,"method":"tools/list"}'),
          ['Accept: application/json, text/event-stream'],
        ),
      ),
  },
  {
    name: 'connections',
    request: '5 000 connections that are opened and closed',
    async run(server) {
      const answers: ('none' | 200)[] = []
      for (let from = 0; from < 5_000; from += 500) {
        const sockets = Array.from({ length: 500 }, () => opened(server))
        for (const socket of await Promise.all(sockets)) {
          answers.push(socket.destroyed ? 'none' : 200)
          socket.destroy()
        }
      }
      return answersOf(answers)
    },
  },
  {
    name: 'health-flood',
    request: '10 000 health checks, pipelined, on 100 connections',
    run: (server) => flood(server, 100, 100, get('/stargate/health')),
  },
  {
    name: 'options-flood',
    request: '10 000 CORS preflight requests, pipelined, on 100 connections',
    server: { flags: ['--cors-origins', 'https://a.example'] },
    run: (server) =>
      flood(
        server,
        100,
        100,
        request('OPTIONS', `/v1${target}`, [
          'Origin: https://a.example',
          'Access-Control-Request-Method: POST',
        ]),
      ),
  },
  {
    name: 'long-urls',
    request: '2 000 requests with a URL of 15 KB, on 500 connections',
    run: (server) => flood(server, 500, 4, get(`/v1/${'a/'.repeat(7_500)}`)),
  },
  {
    name: 'long-headers',
    request: '2 000 requests with 10 000 bytes of headers, on 500 connections',
    run: (server) =>
      flood(
        server,
        500,
        4,
        get(
          '/stargate/health',
          Array.from({ length: 800 }, (_, n) => `h${n}: abcd`),
        ),
      ),
  },
  {
    name: 'pages-flood',
    request: '2 000 requests for `/console` and `/`, on 500 connections',
    run: (server) => flood(server, 500, 2, Buffer.concat([get('/console'), get('/')])),
  },
  {
    name: 'unreadable',
    request: '2 000 connections that send bytes other than HTTP',
    async run(server) {
      const statuses: (number | 'none')[] = []
      for (let from = 0; from < 2_000; from += 500) {
        const sockets = Array.from({ length: 500 }, () => opened(server))
        const all = (await Promise.all(sockets)).map(async (socket) => {
          const answers = statusesOn(socket, 1)
          await write(socket, Buffer.from('NOT HTTP\r\n\r\n'))
          return answers
        })
        statuses.push(...(await Promise.all(all)).flat())
      }
      return answersOf(statuses)
    },
  },
  {
    name: 'slow-headers',
    request: '2 000 connections that send their headers a byte at a time',
    async run(server) {
      const sockets = await Promise.all(Array.from({ length: 2_000 }, () => opened(server)))
      for (const byte of 'POST /v1')
        for (const socket of sockets) await write(socket, Buffer.from(byte))
      await seconds(1)
      for (const socket of sockets) socket.destroy()
      return answersOf(['unread'])
    },
  },
  {
    name: 'white-space',
    request: 'body of 19.9 MB of white space before `{"find":{}}`',
    async run(server) {
      await server.command(keyspace, { createCollection: { name: 'target' } })
      const body = Buffer.from(`${' '.repeat(19_900_000)}{"find":{}}`)
      return flood(server, 1, 1, requestOf(hostileToken, target, body))
    },
  },
  {
    name: 'white-space-between',
    request: '4 bodies of 19.9 MB of white space within `{"find": {}}`',
    async run(server) {
      await server.command(keyspace, { createCollection: { name: 'target' } })
      const body = Buffer.from(`{"find":${' '.repeat(19_900_000)}{}}`)
      return flood(server, 4, 1, requestOf(hostileToken, target, body))
    },
  },
  {
    name: 'only-white-space',
    request: '4 bodies of 19.9 MB of white space',
    run: (server) =>
      flood(server, 4, 1, requestOf(hostileToken, target, Buffer.alloc(19_900_000, ' '))),
  },
  {
    name: 'explained-collections',
    request: 'findCollections with `explain`, options of 160 MB',
    async prepare(server) {
      for (let n = 0; n < 16; n++) {
        const filters = Array.from({ length: 10 }, () => ({
          name: 'synonym',
          args: { synonyms: `a${n},b => ${'c'.repeat(90)}`.padEnd(999_000, ' ') },
        }))
        await server.command(keyspace, {
          createCollection: {
            name: `explained${n}`,
            options: {
              lexical: {
                enabled: true,
                analyzer: { tokenizer: { name: 'standard' }, filters },
              },
            },
          },
        })
      }
    },
    run: (server) =>
      flood(
        server,
        4,
        1,
        requestOf(
          hostileToken,
          keyspace,
          Buffer.from('{"findCollections":{"options":{"explain":true}}}'),
        ),
      ),
  },
]
