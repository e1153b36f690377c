/** Requests that would block or crash a server without limits. */
import { packValue } from '../../src/json/packed.ts'
import { connect as connectHttp2 } from 'node:http2'
import { once } from 'node:events'
import { gzipSync } from 'node:zlib'
import {
  answersOf,
  load,
  seconds,
  single,
  statusesOn,
  write,
  type Attack,
} from './attack.ts'
import { analyzerAttacks } from './attacks-analyzers.ts'
import { fairAttacks } from './attacks-fair.ts'
import { edgeAttacks } from './attacks-edges.ts'
import { filterAttacks } from './attacks-filters.ts'
import { attacksOnSorts } from './attacks-sorts.ts'
import { turnsAttacks } from './attacks-turns.ts'
import { hostileToken, unknownToken, type HostileServer } from './hostile-server.ts'
import { generatorAttacks } from './attacks-generator.ts'
import { headOf, requestOf } from './requests.ts'

const keyspace = '/default_keyspace'
const target = `${keyspace}/target`

/** An array `[{},{},…]` that is almost as long as a body may be. */
function emptyObjects(): Buffer {
  return Buffer.from(`[${'{},'.repeat(6_600_000)}{}]`)
}

function jsonOf(command: object): Buffer {
  return Buffer.from(JSON.stringify(command))
}

async function createTarget(server: HostileServer, options: object = {}): Promise<void> {
  await server.command(keyspace, { createCollection: { name: 'target', options } })
}

/** Sends the same request on `count` connections concurrently. */
async function atOnce(
  server: HostileServer,
  count: number,
  token: string,
  path: string,
  body: Buffer,
) {
  const one = async () => [...(await single(server, token, path, body)).keys()]
  return answersOf((await Promise.all(Array.from({ length: count }, one))).flat())
}

export const attacks: readonly Attack[] = [
  ...analyzerAttacks,
  ...filterAttacks,
  {
    name: 'objects-unknown-token',
    request: 'body of 19.8 MB, `[{},{},…]`, unknown token',
    run: (server) => single(server, unknownToken, target, emptyObjects()),
  },
  {
    name: 'packed-unknown-token',
    request: 'body of 19.8 MB, `[{},{},…]`, compressed, unknown token',
    server: { flags: ['--compression', 'on'] },
    run: (server) =>
      single(server, unknownToken, target, gzipSync(emptyObjects()), [
        'Content-Encoding: gzip',
      ]),
  },
  {
    name: 'objects',
    request: 'body of 19.8 MB, `[{},{},…]`, valid token',
    run: (server) => single(server, hostileToken, target, emptyObjects()),
  },
  {
    name: 'packed-objects',
    request: 'body of 19.8 MB, `[{},{},…]`, compressed, valid token, 8 at once',
    server: { flags: ['--compression', 'on'] },
    async run(server) {
      const body = gzipSync(emptyObjects())
      const one = async () => [
        ...(
          await single(server, hostileToken, target, body, ['Content-Encoding: gzip'])
        ).keys(),
      ]
      return answersOf((await Promise.all(Array.from({ length: 8 }, one))).flat())
    },
  },
  {
    name: 'pipelined-unread',
    request: '200 pipelined `find` of large documents, replies never read',
    async prepare(server) {
      await createTarget(server, { indexing: { deny: ['text'] } })
      await load(server, 'target', 20, (n) => ({ _id: n, text: 'x'.repeat(1_900_000) }), 5)
    },
    async run(server, { holdSeconds }) {
      const socket = await server.connect()
      socket.pause()
      const request = requestOf(hostileToken, target, jsonOf({ find: {} }))
      void write(socket, Buffer.concat(Array<Buffer>(200).fill(request)))
      await seconds(holdSeconds)
      socket.destroy()
      return answersOf(['unread'])
    },
  },
  {
    name: 'http2-window-0',
    request: 'HTTP/2: 4 connections with 10 streams each, flow window of 0',
    server: { tls: true },
    async prepare(server) {
      await createTarget(server, { indexing: { deny: ['text'] } })
      await load(server, 'target', 20, (n) => ({ _id: n, text: 'x'.repeat(3_900_000) }), 4)
    },
    async run(server, { holdSeconds }) {
      const sessions = Array.from({ length: 4 }, () => {
        const session = connectHttp2(server.url, {
          ...(server.ca !== undefined && { ca: server.ca }),
          settings: { initialWindowSize: 0 },
        })
        session.on('error', () => undefined)
        return session
      })
      await Promise.all(sessions.map((session) => once(session, 'connect')))
      const statuses: number[] = []
      for (const session of sessions)
        for (let n = 0; n < 10; n++) {
          const stream = session.request({
            ':method': 'POST',
            ':path': `/v1${target}`,
            token: hostileToken,
            'content-type': 'application/json',
          })
          stream.on('error', () => undefined)
          stream.on('response', (headers) => statuses.push(headers[':status'] ?? 0))
          stream.end(JSON.stringify({ find: {} }))
        }
      await seconds(holdSeconds)
      for (const session of sessions) session.destroy()
      return answersOf([...statuses, ...Array<'none'>(40 - statuses.length).fill('none')])
    },
  },
  {
    name: 'patterns',
    request: 'insertMany of 20 texts, analyzer with 32 patterns `(x+x+)+y`',
    prepare: (server) =>
      createTarget(server, {
        lexical: {
          enabled: true,
          analyzer: {
            tokenizer: { name: 'keyword' },
            filters: Array.from({ length: 32 }, () => ({
              name: 'patternReplace',
              args: { pattern: '(x+x+)+y', replacement: 'z' },
            })),
          },
        },
      }),
    run: (server) =>
      single(
        server,
        hostileToken,
        target,
        jsonOf({
          insertMany: {
            documents: Array.from({ length: 20 }, () => ({ $lexical: 'x'.repeat(18) })),
          },
        }),
      ),
  },
  ...(['filter', 'sort'] as const).map((clause): Attack => ({
    name: `long-${clause}`,
    request: `${clause === 'filter' ? '`$match`' : 'lexical sort'} of a text of 12 MB`,
    async prepare(server) {
      await createTarget(server)
      await load(server, 'target', 1_000, (n) => ({ _id: n, $lexical: `word w${n}` }))
    },
    run(server) {
      const text = 'some words '.repeat(1_100_000)
      const find =
        clause === 'filter'
          ? { filter: { $lexical: { $match: text } } }
          : { sort: { $lexical: text } }
      return single(server, hostileToken, target, jsonOf({ find }))
    },
  })),
  {
    name: 'wide-vectors',
    request: 'vector search, limit 1 000 of 4 096 dimensions, all fields',
    async prepare(server) {
      await createTarget(server, { vector: { dimension: 4_096 } })
      await load(
        server,
        'target',
        1_000,
        (n) => ({
          _id: n,
          $vector: Array.from({ length: 4_096 }, (_, i) => Math.sin(n * 4_096 + i)),
        }),
        50,
      )
    },
    run: (server) =>
      single(
        server,
        hostileToken,
        target,
        jsonOf({
          find: {
            sort: { $vector: Array<number>(4_096).fill(1) },
            projection: { '*': 1 },
            options: { limit: 1_000 },
          },
        }),
      ),
  },
  {
    name: 'page-state',
    request: 'page state of 16 MB',
    prepare: (server) => createTarget(server),
    run: (server) =>
      single(
        server,
        hostileToken,
        target,
        jsonOf({
          find: {
            options: {
              pageState: Buffer.concat([
                Uint8Array.of(2),
                packValue([0, 'of-no-query', 'engine', '€'.repeat(3_900_000)]),
              ]).toString('base64url'),
            },
          },
        }),
      ),
  },
  {
    name: 'counts',
    request: '24 countDocuments with `$nin` of 97 values over 40 000 documents',
    async prepare(server) {
      await createTarget(server)
      await load(server, 'target', 40_000, (n) => ({ _id: n, value: n % 97, more: `${n}` }))
    },
    run(server) {
      const values = Array.from({ length: 97 }, (_, n) => n)
      return atOnce(
        server,
        24,
        hostileToken,
        target,
        jsonOf({ countDocuments: { filter: { value: { $nin: values } } } }),
      )
    },
  },
  ...(['unknown', 'valid'] as const).map((kind): Attack => ({
    name: `unfinished-${kind}-token`,
    request: `27 unfinished bodies of 19 MB, ${kind} token`,
    async run(server, { holdSeconds }) {
      const token = kind === 'unknown' ? unknownToken : hostileToken
      const sockets = await Promise.all(Array.from({ length: 27 }, () => server.connect()))
      const answers = sockets.map((socket) => statusesOn(socket, 1))
      const part = Buffer.alloc(19_000_000, ' ')
      for (const socket of sockets) {
        void write(socket, headOf(token, target, 19_500_000))
        void write(socket, part)
      }
      await seconds(holdSeconds)
      for (const socket of sockets) socket.destroy()
      return answersOf((await Promise.all(answers)).flat())
    },
  })),
  {
    name: 'large-documents',
    request: 'insertMany of 100 documents of 190 KB, 4 at once',
    prepare: (server) => createTarget(server),
    run: (server) =>
      atOnce(
        server,
        4,
        hostileToken,
        target,
        jsonOf({
          insertMany: {
            documents: Array.from({ length: 100 }, () => ({
              ...Object.fromEntries(
                Array.from({ length: 95 }, (_, n) => [`name${n}`, 'text '.repeat(390)]),
              ),
            })),
          },
        }),
      ),
  },
  {
    name: 'projected',
    request: 'find of 20 documents of 3.9 MB with a projection, 8 at once',
    async prepare(server) {
      await createTarget(server, { indexing: { deny: ['parts'] } })
      const parts = Array.from({ length: 100_000 }, (_, n) => `${n}`.padEnd(36, '.'))
      await load(server, 'target', 20, (n) => ({ _id: n, parts }), 5)
    },
    run: (server) =>
      atOnce(
        server,
        8,
        hostileToken,
        target,
        jsonOf({ find: { projection: { parts: { $slice: [3, 90_000] } } } }),
      ),
  },
  ...attacksOnSorts,
  ...turnsAttacks,
  ...fairAttacks,
  ...edgeAttacks,
  ...generatorAttacks,
]
