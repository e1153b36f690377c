/**
 * Regression attacks. They use weaknesses that generated load, or a review of unbounded loops, has
 * found.
 */
import {
  answersOf,
  load,
  seconds,
  statusesOn,
  write,
  type Answers,
  type Attack,
} from './attack.ts'
import { hostileToken, unknownToken, type HostileServer } from './hostile-server.ts'
import { requestOf } from './requests.ts'

const keyspace = '/default_keyspace'

/** Padding that makes the headers of a request almost as large as allowed. */
const padding = ' '.repeat(15_000)

export const generatorAttacks: readonly Attack[] = [
  {
    name: 'accepted-encodings',
    request:
      '20 requests with `Accept-Encoding: br;q=a` and 15 KB of spaces, unknown token',
    server: { flags: ['--compression', 'on'] },
    async run(server) {
      const request = requestOf(unknownToken, `${keyspace}/target`, Buffer.from('{}'), [
        `Accept-Encoding: br;q=a${padding}b`,
      ])
      const one = async () => {
        const socket = await server.connect()
        const statuses = statusesOn(socket, 1)
        await write(socket, request)
        const [status] = await statuses
        socket.destroy()
        return status!
      }
      return answersOf(await Promise.all(Array.from({ length: 20 }, one)))
    },
  },
  {
    name: 'unread-searches',
    request: '700 connections, vector search with replies of 1 MB, never read',
    async prepare(server) {
      const options = { vector: { dimension: 256 }, indexing: { deny: ['text'] } }
      await server.command(keyspace, { createCollection: { name: 'target', options } })
      const $vector = (n: number) => numbers(256).map((at) => Math.sin(n * 256 + at))
      const text = 'x'.repeat(1_000)
      await load(server, 'target', 1_000, (n) => ({ _id: n, text, $vector: $vector(n) }))
    },
    async run(server, { holdSeconds }) {
      const sort = { $vector: numbers(256).map((at) => Math.cos(at)) }
      const find = { find: { sort, options: { limit: 1_000 } } }
      return unread(server, 700, 1, find, holdSeconds)
    },
  },
  {
    name: 'unread-pipelines',
    request: '32 connections with 900 pipelined `find` each, replies never read',
    async prepare(server) {
      const options = { indexing: { deny: ['text'] } }
      await server.command(keyspace, { createCollection: { name: 'target', options } })
      const text = 'x'.repeat(100_000)
      await load(server, 'target', 100, (n) => ({ _id: n, text }))
    },
    run: (server, { holdSeconds }) => unread(server, 32, 900, { find: {} }, holdSeconds),
  },
  ...(['l', 's', 'm'] as const).map((column): Attack => ({
    name: `long-cell-${column}`,
    request: `insertOne of a row with a ${{ l: 'list', s: 'set', m: 'map' }[column]} of 400 000 numbers, then $set and $pullAll`,
    prepare: createRows,
    async run(server) {
      const value = column === 'm' ? pairs(400_000) : numbers(400_000)
      const removed = column === 'm' ? pairs(400_000).map(([key]) => key) : value
      const change = (update: object) => ({ updateOne: { filter: { id: 'a' }, update } })
      const answers: (number | 'none' | 'unread')[] = []
      for (const command of [
        { insertOne: { document: { id: 'a', [column]: value } } },
        change({ $set: { [column]: value } }),
        change({ $pullAll: { [column]: removed } }),
      ])
        answers.push(...(await sendOnce(server, command)).keys())
      return answersOf(answers)
    },
  })),
]

/** Sends requests on several connections, and does not read the replies. */
async function unread(
  server: HostileServer,
  connections: number,
  requests: number,
  command: object,
  holdSeconds: number,
): Promise<Answers> {
  const body = Buffer.from(JSON.stringify(command))
  const request = requestOf(hostileToken, `${keyspace}/target`, body)
  const open = () => server.connect()
  const sockets = await Promise.all(Array.from({ length: connections }, open))
  for (const socket of sockets) {
    socket.pause()
    void write(socket, Buffer.concat(Array<Buffer>(requests).fill(request)))
  }
  await seconds(holdSeconds)
  for (const socket of sockets) socket.destroy()
  return answersOf(['unread'])
}

function numbers(count: number): number[] {
  return Array.from({ length: count }, (_, n) => n)
}

function pairs(count: number): [number, number][] {
  return numbers(count).map((n) => [n, n])
}

async function createRows(server: HostileServer): Promise<void> {
  await server.command(keyspace, {
    createTable: {
      name: 'target',
      definition: {
        columns: {
          id: 'text',
          l: { type: 'list', valueType: 'int' },
          s: { type: 'set', valueType: 'int' },
          m: { type: 'map', keyType: 'int', valueType: 'int' },
        },
        primaryKey: 'id',
      },
    },
  })
}

/** Sends one command on a separate connection. */
async function sendOnce(server: HostileServer, command: object): Promise<Answers> {
  const socket = await server.connect()
  const statuses = statusesOn(socket, 1)
  const body = Buffer.from(JSON.stringify(command))
  await write(socket, requestOf(hostileToken, `${keyspace}/target`, body))
  const answers = answersOf(await statuses)
  socket.destroy()
  return answers
}
