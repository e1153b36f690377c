/**
 * Searches and long reads of several tokens and connections, and the order in which they are
 * answered.
 */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { after, afterEach, before, describe, test } from 'node:test'
import type { Config } from '../../src/settings/config.ts'
import { defaultLimits } from '../../src/limits.ts'
import { startServer, type Answer, type TestServer } from '../harness.ts'
import { openConnection, requestOf } from './raw-connection.ts'

let server: TestServer

const documents = 8_000
const path = '/default_keyspace/long'

async function start(config: Partial<Config> = {}): Promise<void> {
  server = await startServer({
    accounts: Array.from({ length: 8 }, (_, i) => ({ name: `user ${i}`, password: 'x' })),
    limits: { ...defaultLimits, countMax: documents },
    searchThreads: 2,
    ...config,
  })
  const options = { vector: { dimension: 2 }, indexing: { allow: ['list'] } }
  const created = await server.command('/default_keyspace', {
    createCollection: { name: 'long', options },
  })
  assert.deepEqual(created.codes, [])
  for (let i = 0; i < documents; i += 100) {
    const some = Array.from({ length: 100 }, (_, j) => ({
      $vector: [i + j + 1, 1],
      list: [1, 2],
    }))
    const inserted = await server.command(path, { insertMany: { documents: some } })
    assert.deepEqual(inserted.codes, [])
  }
}

/** No index can answer this count, so it scans all documents. */
const longCount = { countDocuments: { filter: { $not: { list: { $size: 3 } } } } }
const search = { find: { sort: { $vector: [1, 1] }, options: { limit: 3 } } }

/** The headers of an account. Requests without them use the token of the server. */
function accountOf(number: number): Record<string, string> {
  const encode = (text: string) => Buffer.from(text).toString('base64')
  return { Token: `Cassandra:${encode(`user ${number}`)}:${encode('x')}` }
}

/**
 * Sends a long count, and adds its name to `ended` when it ends. Each concurrent request uses its
 * own connection.
 */
async function count(name: string, ended: string[], headers = {}): Promise<void> {
  const counted = await server.command(path, longCount, headers)
  assert.deepEqual(counted.body, { status: { count: documents } })
  ended.push(name)
}

async function readsWaiting(): Promise<number> {
  const { text } = await server.send('/metrics', {})
  return Number(/^stela_reads_waiting (\d+)$/m.exec(text)![1])
}

async function untilReadsWait(isThere: (reads: number) => boolean): Promise<void> {
  for (let i = 0; i < 2_000; i++) if (isThere(await readsWaiting())) return
  assert.fail(`${await readsWaiting()} reads wait`)
}

function assertFound(found: Answer): void {
  assert.deepEqual(found.codes, [])
  assert.equal(found.body.data!.documents!.length, 3)
}

describe('a search', () => {
  before(() => start())
  after(() => server.close())

  test('is answered while long counts of another token run', async () => {
    // Starts all reader threads in advance, because starting a thread takes as long as several
    // reads.
    await Promise.all(
      Array.from({ length: 8 }, (_, i) => count(`first ${i}`, [], accountOf(i))),
    )
    assertFound(await server.command(path, search))
    const ended: string[] = []
    const counts = Array.from({ length: 24 }, (_, i) => count(`${i}`, ended, accountOf(0)))
    assertFound(await server.command(path, search))
    await Promise.all(counts)
    // Each count has asserted its result, even if the server interrupted it and continued it later.
    assert.equal(ended.length, 24)
  })

  test('is answered while long counts of many tokens run', async () => {
    const ended: string[] = []
    const counts = Array.from({ length: 24 }, (_, i) =>
      count(`${i}`, ended, accountOf(i % 8)),
    )
    assertFound(await server.command(path, search))
    await Promise.all(counts)
  })
})

describe('waiting reads', () => {
  afterEach(() => server.close())

  test('are rejected beyond a maximum number per token, and succeed when they are sent again later', async () => {
    const limits = { ...defaultLimits, countMax: documents, waitingReadsMax: 4 }
    await start({ limits })
    const answers = await Promise.all(
      Array.from({ length: 24 }, () => server.command(path, longCount)),
    )
    const refused = answers.filter(({ http }) => http !== 200)
    assert(refused.length > 0)
    for (const answer of refused) {
      assert.equal(answer.http, 503)
      assert.deepEqual(answer.codes, ['SERVER_OVERLOADED'])
      assert.equal(answer.headers.get('Retry-After'), '1')
      assert.match(
        answer.body.errors![0]!.message,
        /4 reads of this token already wait.*--max-waiting-reads/,
      )
    }
    for (const answer of answers.filter(({ http }) => http === 200))
      assert.deepEqual(answer.body, { status: { count: documents } })
    await count('again', [])
  })

  test('are limited per token, so that one token does not cause rejections of another', async () => {
    const limits = { ...defaultLimits, countMax: documents, waitingReadsMax: 1 }
    await start({ limits })
    const many = Array.from({ length: 12 }, () => server.command(path, longCount))
    await Promise.all([...many, count('other', [], accountOf(0))])
  })

  test('are aborted at their deadline', async () => {
    await start()
    await server.stop()
    const limits = { ...defaultLimits, countMax: documents }
    const { dataDir } = server
    server = await startServer({ dataDir, limits, searchThreads: 2, commandTimeoutMs: 20 })
    const answers = await Promise.all(
      Array.from({ length: 12 }, () => server.command(path, longCount)),
    )
    for (const { codes } of answers) assert.deepEqual(codes, ['TIMEOUT_READING_DATA'])
    await untilReadsWait((reads) => reads === 0)
  })

  test('are aborted when their clients disconnect', async () => {
    await start()
    const sockets = await Promise.all(
      Array.from({ length: 24 }, () => openConnection(server.url)),
    )
    for (const socket of sockets) socket.write(requestOf(longCount, '/v1' + path))
    await untilReadsWait((reads) => reads > 12)
    const answered: unknown[] = []
    for (const socket of sockets) socket.on('data', (bytes) => answered.push(bytes))
    await Promise.all(
      sockets.map((socket) => {
        socket.destroy()
        return once(socket, 'close')
      }),
    )
    await untilReadsWait((reads) => reads === 0)
    assert(answered.length < 12, `${answered.length} were answered`)
    await count('last', [])
  })
})
