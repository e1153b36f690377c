/**
 * Threads of the server that die. Requests that wait for the thread fail. Requests that do not need
 * it succeed.
 */
import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, test } from 'node:test'
import type { Worker } from 'node:worker_threads'
import { EngineError } from '../../src/engine/errors.ts'
import { Thread } from '../../src/engine/embedded/worker/thread.ts'
import { startServer, type TestServer } from '../harness.ts'
import { becomes, healthOf } from './health.ts'

const books = '/default_keyspace/books'

describe('a thread', () => {
  const start = (code: string) =>
    new Thread<{ id: number; kind: string }, { id: number; error?: string }>(
      'test',
      new URL(`data:text/javascript,${encodeURIComponent(code)}`),
      (reason, options, reply) =>
        new EngineError(reply === undefined ? 'write' : 'read', reason, options),
    )
  const listen = (act: string) =>
    `import { parentPort } from 'node:worker_threads';
     parentPort.on('message', (message) => { ${act} })`

  for (const [how, code] of [
    ['throws while it answers', listen("throw new Error('out of order')")],
    ['ends while it answers', listen('process.exit(3)')],
    [
      'answers with a value that cannot be sent',
      listen('parentPort.postMessage([() => 1])'),
    ],
    ['cannot start', "throw new Error('no')"],
    ['cannot be loaded', "import 'node:nothing'"],
  ] as const)
    test(`that ${how} makes waiting and later requests fail`, async () => {
      const thread = start(code)
      const died = { name: 'EngineError', kind: 'write', message: /its thread has died/ }
      const asked = [1, 2, 3].map(() => thread.ask({ kind: 'work' }))
      for (const answer of await Promise.allSettled(asked)) {
        assert(answer.status === 'rejected')
        assert.match(String(answer.reason), /its thread has died/)
      }
      await assert.rejects(thread.ask({ kind: 'work' }), died)
      assert(thread.isLost)
      await thread.stop({ kind: 'stop' })
    })
})

describe('a server', () => {
  let server: TestServer
  /** The worker threads of the server, in the order in which they started. */
  let workers: Worker[]
  const note = (worker: Worker) => workers.push(worker)

  beforeEach(async () => {
    workers = []
    process.on('worker', note)
    server = await startServer()
    await succeed('/default_keyspace', {
      createCollection: {
        name: 'books',
        options: { vector: { dimension: 2, metric: 'cosine' } },
      },
    })
    const documents = Array.from({ length: 50 }, (_, n) => ({
      ...{ _id: n, n, $vector: [Math.cos(n), Math.sin(n)] },
    }))
    await succeed(books, { insertMany: { documents } })
  })

  afterEach(async () => {
    process.off('worker', note)
    await server.close()
  })

  async function succeed(path: string, command: object): Promise<string> {
    const answer = await server.command(path, command)
    assert.deepEqual(answer.codes, [], answer.text)
    return answer.text
  }

  /** The writer thread, which starts before all other threads. */
  const writer = () => workers[0]!
  const others = () => workers.slice(1)
  const search = { find: { sort: { $vector: [1, 0] }, projection: { n: 0 } } }

  test('rejects writes, fails the health check and continues reads when its writer thread has died', async () => {
    assert.equal((await healthOf(server)).status, 'UP')
    const insert = () => server.command(books, { insertOne: { document: {} } })
    const asked = Promise.all([insert(), insert(), insert()])
    await writer().terminate()
    await asked
    const refused = await insert()
    assert.deepEqual(refused.codes, ['FAILED_WRITE_REQUEST'])
    assert.match(refused.text, /thread has died.*Restart the server.*It is not known/)
    assert.match((await becomes(server, 'DOWN'))!, /thread has died.*Restart the server/)
    assert.equal((await healthOf(server, '/ready')).http, 503)
    assert.match(await succeed(books, { findOne: { filter: { _id: 7 } } }), /"_id":7/)
  })

  test('replaces reader and indexer threads that have died', async () => {
    const before = await succeed(books, search)
    assert(others().length >= 2, 'one that reads, one that keeps vector indexes')
    for (let round = 0; round < 2; round++) {
      for (const worker of others()) await worker.terminate()
      assert.equal(await succeed(books, search), before)
    }
    await succeed(books, { insertOne: { document: { _id: 'new', $vector: [1, 0] } } })
    assert.match(await succeed(books, search), /"documents":\[\{"_id":0\},\{"_id":"new"\}/)
    await succeed('/default_keyspace', { deleteCollection: { name: 'books' } })
    assert.equal((await healthOf(server)).status, 'UP')
  })
})
