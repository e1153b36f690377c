/** Observability of a server: metrics, slow commands and request ids. */
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { rm } from 'node:fs/promises'
import { after, afterEach, before, beforeEach, describe, test } from 'node:test'
import { dispatch, type Call, type Services } from '../../src/commands/dispatch/dispatch.ts'
import { killLeftovers, processToken, ServerProcess } from '../faults/server-process.ts'
import { startServer, temporaryFolder, testToken, type TestServer } from '../harness.ts'
import { lettersCollection, PatientProvider } from './patient-provider.ts'

/** The values of a scrape, by name and labels in the notation of the scrape. */
type Samples = ReadonlyMap<string, number>

const sample = /^(\w+(?:\{(?:\w+="(?:[^"\\\n]|\\.)*",?)*\})?) (\S+)$/

/** Parses a scrape in the text format. Throws if a line is neither a comment nor a sample. */
function parseSamples(text: string): Samples {
  const samples = new Map<string, number>()
  const described = new Set<string>()
  for (const line of text.split('\n')) {
    if (line === '') continue
    const comment = /^# (?:HELP|TYPE) (\w+) \S/.exec(line)
    if (comment !== null) {
      described.add(comment[1]!)
      continue
    }
    const [, key, value] = sample.exec(line) ?? assert.fail(`not a sample: ${line}`)
    const name = /^\w+/.exec(key!)![0]
    const family = name.replace(/_(?:bucket|sum|count)$/, '')
    assert(described.has(name) || described.has(family), `${name} is not described`)
    assert(!samples.has(key!), `${key!} stands there twice`)
    assert(/^(?:Nan|[+-]Inf|-?[\d.]+(?:e[+-]?\d+)?)$/.test(value!), line)
    samples.set(key!, Number(value))
  }
  return samples
}

async function scrape({ url }: { url: string }, headers = {}): Promise<Samples> {
  const response = await fetch(`${url}/metrics`, { headers })
  assert.equal(response.status, 200)
  assert.equal(
    response.headers.get('content-type'),
    'text/plain; version=0.0.4; charset=utf-8',
  )
  return parseSamples(await response.text())
}

const commands = (command: string, outcome: string) =>
  `stela_commands_total{command="${command}",outcome="${outcome}"}`
const durations = (part: string, command: string) =>
  `stela_command_duration_seconds_${part}{command="${command}"}`

describe('metrics', () => {
  let server: TestServer
  before(async () => {
    server = await startServer()
    await server.command('/default_keyspace', { createCollection: { name: 'books' } })
    await server.command('/default_keyspace', { createCollection: lettersCollection })
  })
  after(() => server.close())

  /** Runs an action. Returns a function that gives the increase of a sample during the action. */
  async function growth(act: () => Promise<unknown>): Promise<(key: string) => number> {
    const earlier = await scrape(server)
    await act()
    const later = await scrape(server)
    return (key) => (later.get(key) ?? 0) - (earlier.get(key) ?? 0)
  }

  test('count commands by name and outcome', async () => {
    const grew = await growth(async () => {
      for (let i = 0; i < 3; i++)
        await server.command('/default_keyspace/books', { findOne: {} })
      await server.command('/default_keyspace/books', { findOne: { filter: 5 } })
      await server.command('/default_keyspace/nowhere', { findOne: {} })
      await server.command('/default_keyspace/books', { findOne: {} }, { Token: 'wrong' })
      // The provider has no key, so the command fails.
      const answer = await server.command('/default_keyspace/letters', {
        insertOne: { document: { $vectorize: 'a' } },
      })
      assert.equal(answer.body.errors![0]!.family, 'SERVER')
    })
    assert.equal(grew(commands('findOne', 'ok')), 3)
    assert.equal(grew(commands('findOne', 'request_error')), 2)
    assert.equal(grew('stela_commands_refused_total{reason="unauthenticated"}'), 1)
    assert.equal(grew(commands('findOne', 'server_error')), 0)
    assert.equal(grew(commands('insertOne', 'server_error')), 1)
    assert.equal(grew(commands('unknown', 'request_error')), 0)
  })

  test('count requests without a valid command as unknown', async () => {
    const bodies = [{ seek: {} }, { find: {}, findOne: {} }, {}, [], '{', '', '"find"']
    const grew = await growth(async () => {
      for (const body of bodies) await server.command('/default_keyspace/books', body)
      // findOne is a command of collections, so it is unknown at the path of a keyspace.
      await server.command('/default_keyspace', { findOne: {} })
    })
    assert.equal(grew(commands('unknown', 'request_error')), bodies.length + 1)
    assert.equal(grew(durations('count', 'unknown')), bodies.length + 1)
    assert.equal(grew(commands('findOne', 'request_error')), 0)
  })

  test('have a bounded number of samples, whatever names requests contain', async () => {
    await server.command('', { seek: {} })
    // The first request with a rejected token adds a sample for its status, so it is sent before
    // the earlier scrape.
    await server.command('', { seek: {} }, { Token: '' })
    const earlier = await scrape(server)
    for (let i = 0; i < 1000; i++) {
      const name = `c${randomBytes(6).toString('hex')}`
      const path = i % 3 === 0 ? '' : i % 3 === 1 ? `/${name}` : `/${name}/${name}`
      await server.command(path, { [i % 10 === 0 ? `${name}"\n\\` : name]: {} })
    }
    const later = await scrape(server)
    const added = [...later.keys()].filter((key) => !earlier.has(key))
    // Excludes samples of threads: threads may still be starting, and each adds samples with its
    // name.
    assert.deepEqual(
      added.filter((key) => key.startsWith('stela_') && !key.includes('thread=')),
      [],
    )
    assert.equal(
      later.get(commands('unknown', 'request_error'))! -
        earlier.get(commands('unknown', 'request_error'))!,
      1000,
    )
  })

  test('put durations into cumulative buckets', async () => {
    const grew = await growth(async () => {
      for (let i = 0; i < 20; i++) await server.command('', { findKeyspaces: {} })
    })
    assert.equal(grew(durations('count', 'findKeyspaces')), 20)
    assert(grew(durations('sum', 'findKeyspaces')) > 0)
    const samples = await scrape(server)
    const buckets = [...samples].flatMap(([key, count]) => {
      const bound = /_bucket\{le="([^"]*)",command="findKeyspaces"\}$/.exec(key)?.[1]
      return bound === undefined
        ? []
        : [{ bound: Number(bound.replace('+Inf', 'Infinity')), count }]
    })
    assert.equal(buckets[0]!.bound, 0.0005)
    assert.equal(buckets.at(-2)!.bound, 10)
    assert.equal(buckets.at(-1)!.bound, Infinity)
    assert.equal(buckets.at(-1)!.count, samples.get(durations('count', 'findKeyspaces')))
    for (const [i, { bound, count }] of buckets.entries())
      if (i > 0) assert(bound > buckets[i - 1]!.bound && count >= buckets[i - 1]!.count)
  })

  test('count requests by status, and count connections', async () => {
    const requests = (status: string) => `stela_http_requests_total{status="${status}"}`
    const grew = await growth(async () => {
      await server.command('', { findKeyspaces: {} })
      await server.command('', { findKeyspaces: {} }, { Token: 'wrong' })
      await server.send('/nowhere', { method: 'GET' })
      await server.send('/v1', { method: 'GET', headers: { Token: testToken } })
    })
    // The earlier scrape is included, because the server counts a scrape after rendering it.
    assert.equal(grew(requests('200')), 2)
    assert.equal(grew(requests('401')), 1)
    assert.equal(grew(requests('404')), 1)
    assert.equal(grew(requests('405')), 1)
    const samples = await scrape(server)
    assert.equal(samples.get('stela_http_requests_in_flight'), 1)
    assert(samples.get('stela_http_connections')! >= 1)
  })

  test('report the work of the engine', async () => {
    const grew = await growth(async () => {
      await server.command('', { createKeyspace: { name: 'more' } })
      const vector = { dimension: 2, metric: 'cosine' }
      await server.command('/more', {
        createCollection: { name: 'a', options: { vector } },
      })
      const definition = { columns: { id: 'int' }, primaryKey: 'id' }
      await server.command('/more', { createTable: { name: 'b', definition } })
      const documents = Array.from({ length: 50 }, (_, i) => ({ _id: i, $vector: [1, i] }))
      await server.command('/more/a', { insertMany: { documents } })
      await server.command('/more/a', { insertOne: { document: { _id: 0 } } })
      await server.command('/more/a', { deleteOne: { filter: { _id: 1 } } })
      // A search sees all earlier writes, so the vector index is complete afterwards.
      await server.command('/more/a', { findOne: { sort: { $vector: [1, 1] } } })
    })
    assert.equal(grew('stela_keyspaces'), 1)
    assert.equal(grew('stela_collections'), 1)
    assert.equal(grew('stela_tables'), 1)
    assert.equal(grew('stela_commit_writes_total'), 51)
    assert(grew('stela_commits_total') >= 2)
    assert.equal(grew('stela_indexed_vectors'), 49)
    await server.command('', { dropKeyspace: { name: 'more' } })
    const samples = await scrape(server)
    assert.equal(samples.get('stela_tables'), 0)
    assert.equal(samples.get('stela_indexed_vectors'), 0)
  })

  test('report open stores and their use of memory and disk', async () => {
    const vector = { dimension: 2 }
    await server.command('/default_keyspace', {
      createCollection: { name: 'measured', options: { vector } },
    })
    const grew = await growth(async () => {
      const documents = Array.from({ length: 50 }, (_, i) => ({ _id: i, $vector: [1, i] }))
      await server.command('/default_keyspace/measured', { insertMany: { documents } })
      const sort = { $vector: [1, 1] }
      await server.command('/default_keyspace/measured', { findOne: { sort } })
    })
    assert.equal(grew('stela_open'), 1)
    // The metric is the memory in use, not the much larger memory that is reserved.
    const memory = grew('stela_vector_index_memory_bytes')
    assert(memory > 50 * 8 && memory < 50 * 4_000, String(memory))
    const samples = await scrape(server)
    assert(samples.get('stela_disk_bytes{kind="data"}')! > 0)
    for (const thread of ['writer', 'reader 1', 'indexer']) {
      const of = (part: string) =>
        samples.get(`stela_thread_heap_bytes{thread="${thread}",part="${part}"}`)!
      assert(of('used') > 0 && of('used') <= of('size'), thread)
    }
    const documents = Array.from({ length: 20 }, (_, n) => ({ n }))
    await server.command('/default_keyspace/measured', { insertMany: { documents } })
    // Waits until the metric includes the inserts, because the server updates it asynchronously.
    for (let recent = 0; recent < 20;)
      recent = (await scrape(server)).get('stela_index_recent_changes')!
    assert.equal(samples.get('stela_index_waiting_entries'), 0)
    assert.equal(samples.get('stela_terms_segments'), 0)
    const texts = [{ $lexical: 'red fox' }, { $lexical: 'red hen' }, { n: 1 }]
    await server.command('/default_keyspace/measured', { insertMany: { documents: texts } })
    // Once writes have stopped, the server writes recent terms as a segment.
    for (let segments = 0; segments < 1;)
      segments = (await scrape(server)).get('stela_terms_segments')!
    const settled = await scrape(server)
    assert.equal(settled.get('stela_terms_recent_texts'), 0)
    assert.equal(settled.get('stela_terms_waiting_postings'), 0)
    assert.equal(samples.get('stela_writes_waiting'), 0)
    assert.equal(samples.get('stela_reads_waiting'), 0)
    await server.command('/default_keyspace', { deleteCollection: { name: 'measured' } })
  })

  test('count reads that moved to another thread because they were long', async () => {
    for (let i = 0; i < 60; i++) {
      const documents = Array.from({ length: 100 }, (_, n) => ({ n, text: `${i} ${n}` }))
      await server.command('/default_keyspace/books', { insertMany: { documents } })
    }
    const books = '/default_keyspace/books'
    const grew = await growth(async () => {
      await server.command(books, { find: { filter: { text: '1 1' } } })
    })
    assert.equal(grew('stela_reads_moved_to_threads_total'), 0)
    const grewMore = await growth(async () => {
      await server.command(books, { find: { filter: { $not: { text: { $gte: '' } } } } })
    })
    assert.equal(grewMore('stela_reads_moved_to_threads_total'), 1)
  })

  test('report the process and the version', async () => {
    const samples = await scrape(server)
    const infos = [...samples.keys()].filter((key) => key.startsWith('stela_info'))
    assert.equal(infos.length, 1)
    assert.match(infos[0]!, /^stela_info\{version="\d+\.\d+\.\d+"\}$/)
    for (const name of [
      'process_start_time_seconds',
      'process_resident_memory_bytes',
      'process_cpu_seconds_total',
      'nodejs_eventloop_lag_p99_seconds',
      'nodejs_heap_size_used_bytes',
    ])
      assert(samples.has(name), name)
  })

  test('are separate for each server', async () => {
    const other = await startServer()
    try {
      await other.command('', { findKeyspaces: {} })
      assert.equal((await scrape(other)).get(commands('findKeyspaces', 'ok')), 1)
    } finally {
      await other.close()
    }
  })

  test('contain no stored names or values', async () => {
    const text = await (await fetch(`${server.url}/metrics`)).text()
    assert.doesNotMatch(text, /books|letters|default_keyspace|nowhere/)
  })
})

describe('the setting for metrics', () => {
  let server: TestServer
  afterEach(() => server.close())

  test('removes the path if it is "off"', async () => {
    server = await startServer({ metrics: 'off' })
    const answer = await server.send('/metrics', { method: 'GET' })
    assert.equal(answer.http, 404)
    assert.deepEqual(answer.codes, ['UNKNOWN_PATH'])
    assert.equal((await server.command('', { findKeyspaces: {} })).http, 200)
  })

  test('requires a valid token if it is "token"', async () => {
    server = await startServer({ metrics: 'token' })
    const none = await server.send('/metrics', { method: 'GET' })
    assert.equal(none.http, 401)
    assert.deepEqual(none.codes, ['MISSING_AUTHENTICATION_TOKEN'])
    const wrong = await server.send('/metrics', { headers: { Token: 'wrong' } })
    assert.equal(wrong.http, 401)
    assert.deepEqual(wrong.codes, ['UNAUTHENTICATED_REQUEST'])
    await scrape(server, { Token: testToken })
    await scrape(server, { Authorization: `Bearer ${testToken}` })
  })

  test('accepts GET and HEAD, but not POST, if it is "on"', async () => {
    server = await startServer()
    assert.equal((await server.send('/metrics', { method: 'POST' })).http, 404)
    assert.equal((await server.send('/metrics', { method: 'HEAD' })).http, 200)
  })
})

describe('while long commands run', () => {
  let provider: PatientProvider
  beforeEach(async () => {
    provider = await PatientProvider.start()
  })
  afterEach(() => provider.close())

  test('the server answers requests for metrics and health, and the metrics count these commands', async () => {
    const server = await startServer({ providers: provider.settings })
    try {
      await server.command('/default_keyspace', { createCollection: lettersCollection })
      const running = Array.from({ length: 4 }, (_, i) =>
        server.command('/default_keyspace/letters', {
          insertOne: { document: { _id: i, $vectorize: `text ${i}` } },
        }),
      )
      await provider.asked(4)
      for (const path of ['', '/live', '/ready']) {
        const health = await server.send(`/stargate/health${path}`, { method: 'GET' })
        assert.equal(health.http, 200, health.text)
      }
      const samples = await scrape(server)
      assert.equal(samples.get('stela_http_requests_in_flight'), 5)
      assert.equal(samples.get(commands('insertOne', 'ok')), undefined)
      provider.answerAll()
      for (const answer of await Promise.all(running)) assert.deepEqual(answer.codes, [])
      assert.equal((await scrape(server)).get(commands('insertOne', 'ok')), 4)
    } finally {
      await server.close()
    }
  })

  test('concurrent scrapes count exactly the commands that ran', async () => {
    const server = await startServer({ durable: false })
    try {
      await server.command('/default_keyspace', { createCollection: { name: 'busy' } })
      const writes = Array.from({ length: 200 }, (_, i) =>
        server.command('/default_keyspace/busy', { insertOne: { document: { _id: i } } }),
      )
      const scrapes = Array.from({ length: 20 }, () => scrape(server))
      for (const samples of await Promise.all(scrapes))
        assert((samples.get(commands('insertOne', 'ok')) ?? 0) <= 200)
      await Promise.all(writes)
      const samples = await scrape(server)
      assert.equal(samples.get(commands('insertOne', 'ok')), 200)
      assert.equal(samples.get('stela_commit_writes_total'), 200)
      assert(samples.get('stela_commits_total')! <= 200)
    } finally {
      await server.close()
    }
  })

  test('the log names the command, its target and duration, and no data', async () => {
    const dataDir = await temporaryFolder()
    try {
      const flags = ['--embedding-urls', `openai=${provider.url}`]
      const keys = ['--embedding-keys', 'openai=any']
      const slow = await ServerProcess.start(
        dataDir,
        ...flags,
        ...keys,
        '--slow-command',
        '50',
      )
      const { url } = slow
      await slow.command('/default_keyspace', { createCollection: lettersCollection })
      const send = fetch(`${url}/v1/default_keyspace/letters`, {
        method: 'POST',
        headers: {
          Token: processToken,
          'Content-Type': 'application/json',
          'X-Request-Id': 'mine-1',
        },
        body: JSON.stringify({
          insertOne: { document: { _id: 'private', $vectorize: 'private' } },
        }),
      })
      await Promise.race([provider.asked(1), send])
      await new Promise((resolve) => setTimeout(resolve, 80))
      provider.answerAll()
      assert.equal((await send).headers.get('x-request-id'), 'mine-1')
      await slow.stop()
      const lines = slow.err.split('\n').filter((line) => line.includes('mine-1'))
      assert.equal(lines.length, 1, slow.err)
      const line = JSON.parse(lines[0]!) as Record<string, unknown>
      assert.equal(line['level'], 40)
      assert.equal(line['command'], 'insertOne')
      assert.equal(line['target'], 'default_keyspace.letters')
      assert.equal(line['requestId'], 'mine-1')
      assert(Number(line['elapsedMs']) >= 50)
      assert(!slow.err.includes('private'))
    } finally {
      await killLeftovers()
      await rm(dataDir, { recursive: true, force: true })
    }
  })
})

describe('the id of a request', () => {
  let server: TestServer
  before(async () => {
    server = await startServer()
  })
  after(() => server.close())

  const idOf = async (headers: Record<string, string>, body = '{"findKeyspaces":{}}') =>
    (await server.command('', body, headers)).headers.get('x-request-id')

  test('is the one that the client sent', async () => {
    for (const id of [
      'a',
      '7f1c0c0e-3b1e-4c53-9f0e-0d4c53f3a9b1',
      'x'.repeat(64),
      'a.b:c/d=_',
    ])
      for (const headers of [{}, { Token: 'wrong' }])
        assert.equal(await idOf({ 'X-Request-Id': id, ...headers }), id)
    assert.equal(await idOf({ 'X-Request-Id': 'bad' }, '{'), 'bad')
  })

  test('is generated when the client sent none, or one that is unsafe to log', async () => {
    const made = new Set<string | null>()
    for (const id of [
      undefined,
      undefined,
      '',
      'x'.repeat(65),
      'a b',
      'a"b',
      'caf\u00e9',
      'a,b',
    ])
      made.add(await idOf(id === undefined ? {} : { 'X-Request-Id': id }))
    assert.equal(made.size, 8)
    for (const id of made) assert.match(id!, /^[0-9a-f]{12}-[0-9a-z]+$/)
  })

  test('is logged with an internal error', async () => {
    const lines: object[] = []
    const log = { error: (details: object) => lines.push(details) }
    const call = {
      requestId: 'mine-2',
      database: {},
      keyspace: '',
      target: '',
      parseBody: () => {
        throw new TypeError('a mistake')
      },
    }
    const reply = await dispatch(call as unknown as Call, { log } as unknown as Services)
    assert.equal(reply.errors![0]!.code, 'UNEXPECTED_SERVER_ERROR')
    assert.equal(lines.length, 1)
    assert.equal((lines[0] as { requestId: string }).requestId, 'mine-2')
  })
})
