/** Attacks that fill queues of shared resources: writes, schema changes, models. */
import { answersOf, load, statusesOn, write, type Answers, type Attack } from './attack.ts'
import { hostileToken, type HostileServer } from './hostile-server.ts'
import { requestOf } from './requests.ts'

const keyspace = '/default_keyspace'
const target = `${keyspace}/target`

/** Sends all commands. Each connection sends its commands one after the other. */
async function sendAll(
  server: HostileServer,
  path: string,
  connections: readonly (readonly object[])[],
): Promise<Answers> {
  const statuses = await Promise.all(
    connections.map(async (commands) => {
      const socket = await server.connect()
      const answered = statusesOn(socket, commands.length)
      for (const command of commands) {
        const body = Buffer.from(JSON.stringify(command))
        await write(socket, requestOf(hostileToken, path, body))
      }
      const found = await answered
      socket.destroy()
      return found
    }),
  )
  return answersOf(statuses.flat())
}

function times<T>(count: number, make: (n: number) => T): T[] {
  return Array.from({ length: count }, (_, n) => make(n))
}

/** A document with `fields` fields, all of them indexed. */
function wideDocument(fields: number): object {
  return Object.fromEntries(times(fields, (n) => [`field${n}`, `value ${n * 7_919}`]))
}

export const fairAttacks: readonly Attack[] = [
  {
    name: 'wide-inserts',
    request: '16 connections, `insertMany` of 100 documents with 190 fields, 4 times',
    prepare: (server) =>
      server
        .command(keyspace, { createCollection: { name: 'target' } })
        .then(() => undefined),
    run: (server) =>
      sendAll(
        server,
        target,
        times(16, () =>
          times(4, () => ({
            insertMany: { documents: times(100, () => wideDocument(190)) },
          })),
        ),
      ),
  },
  {
    name: 'index-fills',
    request: '8 `createIndex` at once on a table of 4 000 rows',
    async prepare(server) {
      const columns = Object.fromEntries(times(12, (n) => [`c${n}`, 'text']))
      await server.command(keyspace, {
        createTable: {
          name: 'target',
          definition: { columns: { id: 'int', ...columns }, primaryKey: 'id' },
        },
      })
      await load(server, 'target', 4_000, (id) => ({
        id,
        ...Object.fromEntries(times(12, (n) => [`c${n}`, `${n} ${id * 7_919}`])),
      }))
    },
    run: (server) =>
      sendAll(
        server,
        target,
        times(8, (n) => [
          { createIndex: { name: `index${n}`, definition: { column: `c${n}` } } },
        ]),
      ),
  },
  {
    name: 'vectorize-finds',
    request: '100 connections, `find` sorted by a `$vectorize` of 900 words',
    async prepare(server) {
      const service = { provider: 'local', modelName: 'all-MiniLM-L6-v2' }
      const options = { vector: { metric: 'cosine', service } }
      await server.command(keyspace, { createCollection: { name: 'target', options } })
    },
    run: (server) =>
      sendAll(
        server,
        target,
        times(100, (n) => [
          {
            find: {
              sort: { $vectorize: `${n} ${'several words of no meaning '.repeat(180)}` },
            },
          },
        ]),
      ),
  },
  {
    name: 'schema-storm',
    request: '30 connections that create and drop collections',
    run: (server) =>
      sendAll(
        server,
        keyspace,
        times(30, (n) =>
          times(8, (step) =>
            step % 2 === 0
              ? { createCollection: { name: `storm${n}` } }
              : { deleteCollection: { name: `storm${n}` } },
          ),
        ),
      ),
  },
]
