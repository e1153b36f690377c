/**
 * Searches and long reads of several tokens and connections: the order in which they are answered.
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

/** Only a scan of all documents can answer this count. */
const longCount = { countDocuments: { filter: { $not: { list: { $size: 3 } } } } }
const search = { find: { sort: { $vector: [1, 1] }, options: { limit: 3 } } }

/** The headers of an account; without them, the server's token is used. */
function accountOf(number: number): Record<string, string> {
  const encode = (text: string) => Buffer.from(text).toString('base64')
  return { Token: `Cassandra:${encode(`user ${number}`)}:${encode('x')}` }
}

/** Sends a long count, and notes its end. Each concurrent request uses a connection of its own. */
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
    // Starts all reader threads, because starting one takes as long as several reads.
    await Promise.all(
      Array.from({ length: 8 }, (_, i) => count(`first ${i}`, [], accountOf(i))),
    )
    assertFound(await server.command(path, search))
    const ended: string[] = []
    const counts = Array.from({ length: 24 }, (_, i) => count(`${i}`, ended, accountOf(0)))
    assertFound(await server.command(path, search))
    await Promise.all(counts)
    // The result of each count was right, even if the count was interrupted and continued
    // later.
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

  test('are rejected beyond a number per token, and can be sent again', async () => {
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
