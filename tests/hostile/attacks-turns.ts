/** Many concurrent requests of one client, each as expensive as a request may be. */
import { connect as connectHttp2 } from 'node:http2'
import { answersOf, load, statusesOn, write, type Answers, type Attack } from './attack.ts'
import { hostileToken, type HostileServer } from './hostile-server.ts'
import { requestOf } from './requests.ts'

const keyspace = '/default_keyspace'
const target = `${keyspace}/target`

/** 63 conditions with 100 numbers each. The filter has 36 KB and takes a few milliseconds. */
const clauses = {
  filter: {
    $or: Array.from({ length: 63 }, (_, n) => ({
      [`a${n % 3}`]: { $in: Array.from({ length: 100 }, (_, i) => 10_000 + 100 * n + i) },
    })),
  },
}

const find = Buffer.from(JSON.stringify({ find: clauses }))

const toolCall = Buffer.from(
  JSON.stringify({
    jsonrpc: '2.0',
    id: 1,
    method: 'tools/call',
    params: {
      name: 'find',
      arguments: { keyspace: 'default_keyspace', collection: 'target', ...clauses },
    },
  }),
)

async function prepare(server: HostileServer): Promise<void> {
  await server.command(keyspace, { createCollection: { name: 'target' } })
  await load(server, 'target', 200, (n) => ({ _id: n, a0: n, a1: n, a2: n }))
}

/** Opens `count` connections, then sends the same requests on all of them. */
async function onConnections(
  server: HostileServer,
  count: number,
  requests: readonly Buffer[],
): Promise<Answers> {
  const open = async () => server.connect()
  const sockets = await Promise.all(Array.from({ length: count }, open))
  const bytes = Buffer.concat(requests)
  const statuses = await Promise.all(
    sockets.map(async (socket) => {
      const received = statusesOn(socket, requests.length)
      await write(socket, bytes)
      return received
    }),
  )
  for (const socket of sockets) socket.destroy()
  return answersOf(statuses.flat())
}

/** Sends the same request on `streams` streams of each of `connections` connections. */
async function onStreams(
  server: HostileServer,
  connections: number,
  streams: number,
  path: string,
  body: Buffer,
): Promise<Answers> {
  const one = async () => {
    const session = connectHttp2(
      server.url,
      server.ca === undefined ? {} : { ca: server.ca },
    )
    session.on('error', () => undefined)
    const ask = () =>
      new Promise<number | 'none'>((resolve) => {
        const stream = session.request({
          ':method': 'POST',
          ':path': path,
          token: hostileToken,
          'content-type': 'application/json',
        })
        let status: number | 'none' = 'none'
        stream.on('response', (headers) => (status = headers[':status'] ?? 'none'))
        stream.on('error', () => undefined)
        stream.on('close', () => resolve(status))
        stream.resume()
        stream.end(body)
      })
    const statuses = await Promise.all(Array.from({ length: streams }, ask))
    session.destroy()
    return statuses
  }
  return answersOf((await Promise.all(Array.from({ length: connections }, one))).flat())
}

export const turnsAttacks: readonly Attack[] = [
  {
    name: 'finds-at-once',
    request: '700 connections with two `find` of 36 KB each',
    prepare,
    run(server) {
      const request = requestOf(hostileToken, target, find)
      return onConnections(server, 700, [request, request])
    },
  },
  {
    name: 'tool-calls-at-once',
    request: '700 connections with a tool call `find` of 36 KB each',
    prepare,
    run(server) {
      const headers = ['Accept: application/json, text/event-stream']
      return onConnections(server, 700, [
        requestOf(hostileToken, '/mcp', toolCall, headers),
      ])
    },
  },
  {
    name: 'http2-finds-at-once',
    request: 'HTTP/2: 25 connections with 28 `find` of 36 KB each',
    server: { tls: true },
    prepare,
    run: (server) => onStreams(server, 25, 28, `/v1${target}`, find),
  },
]
