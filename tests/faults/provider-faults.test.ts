/**
 * Providers that fail in every way that a network service can, tested through the whole server. The
 * error names the fault, nothing is written, the number of retries is limited, and other requests
 * do not wait.
 */
import assert from 'node:assert/strict'
import { request as httpRequest } from 'node:http'
import { after, afterEach, before, beforeEach, describe, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { defaultProviderSettings } from '../../src/providers/provider-settings.ts'
import { letterVector } from '../commands/letter-models.ts'
import { startServer, testToken, type TestServer } from '../harness.ts'
import { FakeProvider, type Answer, type Asked } from '../providers/fake-provider.ts'

/**
 * Number of calls to a provider: `patientCalls` for faults that a retry may cure, `singleCall` for
 * all other faults.
 */
const patientCalls = 4
const singleCall = 1

/** A valid reply of an embedding service with the OpenAI protocol. */
function embeddings({ body }: Asked): Answer {
  const { input } = body as { input: string[] }
  return openAi(input.map(letterVector))
}

function openAi(vectors: readonly unknown[]): Answer {
  const data = vectors.map((embedding, index) => ({ index, embedding }))
  return { body: { data, usage: { prompt_tokens: 1, total_tokens: 1 } } }
}

function rankings({ body }: Asked): Answer {
  const { passages } = body as { passages: unknown[] }
  return { body: { rankings: passages.map((_, index) => ({ index, logit: -index })) } }
}

interface Fault {
  readonly answer: Answer | ((asked: Asked) => Answer)
  /** The error code without its prefix EMBEDDING_ or RERANKING_. */
  readonly code: string
  readonly calls?: number
}

const down = 'PROVIDER_SERVER_ERROR'
const unexpected = 'PROVIDER_UNEXPECTED_RESPONSE'

/** Faults of any service. */
const faults: Readonly<Record<string, Fault>> = {
  'limits its callers': {
    answer: { status: 429, body: { error: { message: 'slow down' } } },
    code: 'PROVIDER_RATE_LIMITED',
  },
  'does not know its callers': {
    answer: { status: 401, body: {} },
    code: 'PROVIDER_CLIENT_ERROR',
  },
  'fails with 500': { answer: { status: 500, body: 'oh no' }, code: down },
  'fails with 503 in HTML': {
    answer: { status: 503, contentType: 'text/html', body: '<h1>Busy</h1>' },
    code: down,
  },
  'is behind a gateway that timed out': {
    answer: { status: 504, body: {} },
    code: 'PROVIDER_TIMEOUT',
    calls: patientCalls,
  },
  'reports that the request took too long': {
    answer: { status: 408, body: {} },
    code: 'PROVIDER_TIMEOUT',
    calls: patientCalls,
  },
  'redirects to another address': {
    answer: { status: 302, body: '', headers: { location: 'http://127.0.0.1:1/' } },
    code: unexpected,
  },
  'answers with a page of HTML': {
    answer: { contentType: 'text/html', body: '<html>' },
    code: unexpected,
  },
  'answers with nothing': { answer: { body: '' }, code: unexpected },
  'answers with null': { answer: { body: null }, code: unexpected },
  'answers with another object': { answer: { body: { hello: 1 } }, code: unexpected },
  'sends an answer of four megabytes': {
    answer: { body: `{"x":"${'x'.repeat(4_000_000)}"}` },
    code: unexpected,
  },
  // The provider may have closed an idle keep-alive connection, so the server sends the request
  // again on a new connection.
  'closes the connection without an answer': { answer: 'hang up', code: down, calls: 2 },
  'closes the connection within its answer': {
    answer: 'half an answer',
    code: down,
    calls: 2,
  },
}

/** Faults of embedding services only. Those of rerankers are below. */
const embeddingFaults: Readonly<Record<string, Fault>> = {
  'answers with broken JSON': {
    answer: { body: '{"data":[' },
    code: 'RESPONSE_DECODING_ERROR',
  },
  'sends one vector too many': {
    answer: ({ body }) =>
      openAi([...(body as { input: string[] }).input, 'x'].map(letterVector)),
    code: unexpected,
  },
  'sends no vectors': { answer: openAi([]), code: unexpected },
  'sends vectors of another length': { answer: everyVector([1, 2, 3]), code: unexpected },
  'sends empty vectors': { answer: everyVector([]), code: unexpected },
  'sends texts instead of vectors': { answer: everyVector('[1, 2]'), code: unexpected },
  'sends vectors of texts': { answer: everyVector(['1', '2']), code: unexpected },
  'sends vectors of null': { answer: everyVector([null, null]), code: unexpected },
  'sends numbers that are too large for 32-bit floats': {
    answer: everyVector([1, 1e39]),
    code: unexpected,
  },
}

const rerankingFaults: Readonly<Record<string, Fault>> = {
  'answers with broken JSON': { answer: { body: '{"rankings":[' }, code: unexpected },
  'sends one score too many': { answer: everyRanking(1), code: unexpected },
  'sends one score too few': { answer: everyRanking(-1), code: unexpected },
  'sends the score of one passage repeatedly': {
    answer: ({ body }) => {
      const { passages } = body as { passages: unknown[] }
      return { body: { rankings: passages.map(() => ({ index: 0, logit: 1 })) } }
    },
    code: unexpected,
  },
  'sends texts instead of scores': {
    answer: { body: { rankings: [{ index: 0, logit: 'high' }] } },
    code: unexpected,
  },
}

function everyVector(vector: unknown): (asked: Asked) => Answer {
  return ({ body }) => openAi((body as { input: string[] }).input.map(() => vector))
}

function everyRanking(more: number): (asked: Asked) => Answer {
  return ({ body }) => {
    const { length } = (body as { passages: unknown[] }).passages
    const rankings = Array.from({ length: length + more }, (_, index) => ({
      index,
      logit: 1,
    }))
    return { body: { rankings } }
  }
}

const embedder = await FakeProvider.start()
const reranker = await FakeProvider.start()
const sleeper = await FakeProvider.start()

/** A port without a listener. */
const nowhere = 'http://127.0.0.1:9/'

const providers = {
  ...defaultProviderSettings,
  embeddingUrls: new Map([
    ['openai', `${embedder.url}/`],
    ['mistral', embedder.url],
    ['voyageAI', sleeper.url],
    ['jinaAI', nowhere],
  ]),
  embeddingKeys: new Map(
    ['openai', 'mistral', 'voyageAI', 'jinaAI'].map((name) => [name, 'server-key']),
  ),
  rerankingUrls: new Map([['nvidia', `${reranker.url}/`]]),
}

const stored = [
  { _id: 1, n: 1, $vectorize: 'ant', $lexical: 'ant' },
  { _id: 2, n: 2, $vectorize: 'bee', $lexical: 'bee ant' },
  { _id: 3, n: 3, $vector: [1, 2], $lexical: 'cat ant' },
]

const writes: readonly object[] = [
  { insertOne: { document: { _id: 'new', $vectorize: 'new' } } },
  { insertOne: { document: { _id: 'new', $hybrid: 'new' } } },
  { insertMany: { documents: [{ _id: 'a' }, { _id: 'b', $vectorize: 'new' }] } },
  {
    insertMany: {
      documents: [{ $vectorize: 'new' }, { _id: 'c' }],
      options: { ordered: true },
    },
  },
  { updateOne: { filter: { _id: 1 }, update: { $set: { $vectorize: 'new', n: 9 } } } },
  { updateMany: { filter: { n: 2 }, update: { $set: { $vectorize: 'new', n: 9 } } } },
  {
    updateOne: {
      filter: { _id: 'up' },
      update: { $set: { $vectorize: 'new' } },
      options: { upsert: true },
    },
  },
  { findOneAndUpdate: { filter: { _id: 2 }, update: { $set: { $vectorize: 'new' } } } },
  { findOneAndReplace: { filter: { _id: 3 }, replacement: { $vectorize: 'new' } } },
]

const bySort: readonly object[] = [
  { find: { sort: { $vectorize: 'ant' } } },
  { findOne: { sort: { $vectorize: 'ant' } } },
  { updateOne: { sort: { $vectorize: 'ant' }, update: { $set: { n: 9 } } } },
  { deleteOne: { filter: {}, sort: { $vectorize: 'ant' } } },
  { findOneAndDelete: { sort: { $vectorize: 'ant' } } },
  { findAndRerank: { sort: { $hybrid: 'ant' } } },
]

let server: TestServer
/**
 * An insert whose provider does not answer the first call. It starts before the tests, because it
 * waits for a timeout.
 */
let slowInsert: Promise<unknown>

before(async () => {
  server = await startServer({ durable: false, providers })
  await created('slow', withService('voyageAI', 'voyage-2', 1024))
  const vector = Array.from({ length: 1024 }, () => 1)
  sleeper.answers((asked) =>
    sleeper.asked.length === 1 ? 'silence' : everyVector(vector)(asked),
  )
  slowInsert = sent('slow', { insertOne: { document: { _id: 1, $vectorize: 'late' } } })
  await created('plain', {})
  await sent('plain', { insertMany: { documents: [{ _id: 1 }, { _id: 2 }] } })
})
after(() => server.close())
beforeEach(() => {
  embedder.answers(embeddings)
  reranker.answers(rankings)
})

async function created(name: string, options: object): Promise<void> {
  const answer = await server.command('/default_keyspace', {
    createCollection: { name, options },
  })
  assert.deepEqual(answer.codes, [], answer.text)
}

async function sent(name: string, command: object) {
  const answer = await server.command(`/default_keyspace/${name}`, command)
  assert.deepEqual(answer.codes, [], answer.text)
  return answer.body
}

function withService(provider: string, modelName: string, dimension = 2): object {
  return { vector: { dimension, metric: 'cosine', service: { provider, modelName } } }
}

/** All documents of a collection. */
async function everythingIn(name: string): Promise<unknown> {
  const { data } = await sent(name, {
    find: { sort: { _id: 1 }, projection: { '*': 1 } },
  })
  return data!.documents
}

async function assertRefused(name: string, command: object, code: string): Promise<void> {
  const { http, codes, body, text } = await server.command(
    `/default_keyspace/${name}`,
    command,
  )
  assert.deepEqual(codes, [code], `${JSON.stringify(command)} => ${text}`)
  assert.equal(http, 200)
  assert.equal(body.data, undefined)
  assert.equal(body.status, undefined)
  assert(!text.includes('server-key'), 'keys are told to nobody')
}

/** Asserts that the server answers concurrent requests that do not call providers. */
async function assertOthersServed(): Promise<void> {
  const answers = await Promise.all(
    Array.from({ length: 40 }, (_, i) =>
      sent('plain', i % 2 === 0 ? { find: {} } : { countDocuments: {} }),
    ),
  )
  for (const { data, status } of answers)
    assert.equal(data?.documents?.length ?? status!['count'], 2)
}

describe('an embedding provider that', () => {
  before(async () => {
    embedder.answers(embeddings)
    await created('texts', withService('openai', 'text-embedding-3-small'))
    await sent('texts', { insertMany: { documents: stored } })
  })

  for (const [what, { answer, code, calls }] of Object.entries({
    ...faults,
    ...embeddingFaults,
  }))
    test(`${what} makes each command fail without changes`, async () => {
      const before = await everythingIn('texts')
      embedder.answers(answer)
      for (const command of [...writes, ...bySort]) {
        const asked = embedder.asked.length
        await assertRefused('texts', command, `EMBEDDING_${code}`)
        const count = embedder.asked.length - asked
        assert(count >= 1 && count <= (calls ?? singleCall), `asked ${count} times`)
        // Retries take long, so faults with retries are tested with one command only.
        if (calls === patientCalls) break
      }
      assert.deepEqual(await everythingIn('texts'), before)
      assert.equal(reranker.asked.length, 0)
      await assertOthersServed()
    })

  test('sends zeros makes each command fail if the metric has no similarity for zeros', async () => {
    const before = await everythingIn('texts')
    embedder.answers(everyVector([0, 0]))
    for (const command of [...writes, ...bySort]) {
      const { codes, text } = await server.command('/default_keyspace/texts', command)
      assert.deepEqual(codes, ['SHRED_BAD_VECTOR_VALUE'], text)
    }
    const after = (await everythingIn('texts')) as { _id: unknown }[]
    // insertMany rejects only the document whose vector is all zeros, as if the client had sent
    // this vector.
    const others = after.filter(({ _id }) => typeof _id === 'number')
    assert.deepEqual(others, before)
  })

  test('sends zeros for rows makes the inserts fail when the column has a cosine index', async () => {
    const service = { provider: 'openai', modelName: 'text-embedding-3-small' }
    const columns = { p: 'int', v: { type: 'vector', dimension: 2, service } }
    const path = '/default_keyspace'
    for (const [to, command] of [
      [path, { createTable: { name: 'rows', definition: { columns, primaryKey: 'p' } } }],
      [
        `${path}/rows`,
        { createVectorIndex: { name: 'by_v', definition: { column: 'v' } } },
      ],
      [`${path}/rows`, { insertOne: { document: { p: 1, v: [1, 2] } } }],
    ] as const) {
      const { codes, text } = await server.command(to, command)
      assert.deepEqual(codes, [], text)
    }
    embedder.answers(everyVector([0, 0]))
    for (const [code, command] of [
      ['SHRED_BAD_VECTOR_VALUE', { insertOne: { document: { p: 2, v: 'new' } } }],
      ['SHRED_BAD_VECTOR_VALUE', { insertMany: { documents: [{ p: 2, v: 'new' }] } }],
      [
        'SHRED_BAD_VECTOR_VALUE',
        { updateOne: { filter: { p: 1 }, update: { $set: { v: 'new' } } } },
      ],
      ['INVALID_DATABASE_QUERY', { find: { sort: { v: 'ant' } } }],
      ['INVALID_DATABASE_QUERY', { findOne: { sort: { v: 'ant' } } }],
    ] as const) {
      const { codes, text } = await server.command(`${path}/rows`, command)
      assert.deepEqual(codes, [code], text)
    }
    const { data } = await sent('rows', { find: {} })
    assert.deepEqual(data!.documents, [{ p: 1, v: [1, 2] }])
  })

  test('fails for one of many batches makes the insert store nothing', async () => {
    await created('batched', withService('mistral', 'mistral-embed', 1024))
    const vector = Array.from({ length: 1024 }, () => 1)
    let calls = 0
    embedder.answers((asked) =>
      ++calls === 3 ? { status: 500, body: {} } : everyVector(vector)(asked),
    )
    const documents = Array.from({ length: 100 }, (_, _id) => ({
      _id,
      $vectorize: `text ${_id}`,
    }))
    for (const ordered of [true, false]) {
      calls = 0
      await assertRefused(
        'batched',
        { insertMany: { documents, options: { ordered } } },
        'EMBEDDING_PROVIDER_SERVER_ERROR',
      )
      assert(calls <= 4, `asked ${calls} times`)
    }
    assert.deepEqual(await everythingIn('batched'), [])
  })

  test('cannot be reached makes each command fail at once', async () => {
    await created('nowhere', withService('jinaAI', 'jina-embeddings-v3'))
    await sent('nowhere', {
      insertMany: { documents: [{ _id: 1, $vector: [1, 2], n: 1 }, { _id: 2 }] },
    })
    const before = await everythingIn('nowhere')
    for (const command of writes.slice(0, 3))
      await assertRefused('nowhere', command, 'EMBEDDING_PROVIDER_SERVER_ERROR')
    for (const command of bySort)
      await assertRefused('nowhere', command, 'EMBEDDING_PROVIDER_SERVER_ERROR')
    assert.deepEqual(await everythingIn('nowhere'), before)
    await assertOthersServed()
  })
})

describe('a reranking provider that', () => {
  before(async () => {
    embedder.answers(embeddings)
    await created('ranked', withService('openai', 'text-embedding-3-small'))
    await sent('ranked', { insertMany: { documents: stored } })
  })

  for (const [what, { answer, code, calls }] of Object.entries({
    ...faults,
    ...rerankingFaults,
  }))
    test(`${what} makes findAndRerank fail`, async () => {
      reranker.answers(answer)
      const command = { findAndRerank: { sort: { $hybrid: 'ant' } } }
      await assertRefused('ranked', command, `RERANKING_${code}`)
      const count = reranker.asked.length
      assert(count >= 1 && count <= (calls ?? singleCall), `asked ${count} times`)
      await assertOthersServed()
    })

  test('cannot be reached makes findAndRerank fail at once', async () => {
    const other = await startServer({
      durable: false,
      providers: { ...providers, rerankingUrls: new Map([['nvidia', nowhere]]) },
    })
    await other.command('/default_keyspace', {
      createCollection: {
        name: 'ranked',
        options: withService('openai', 'text-embedding-3-small'),
      },
    })
    await other.command('/default_keyspace/ranked', {
      insertMany: { documents: stored },
    })
    const { codes } = await other.command('/default_keyspace/ranked', {
      findAndRerank: { sort: { $hybrid: 'ant' } },
    })
    await other.close()
    assert.deepEqual(codes, ['RERANKING_PROVIDER_SERVER_ERROR'])
  })
})

describe('a provider that does not answer', () => {
  const insert = { insertOne: { document: { $vectorize: 'never' } } }

  before(async () => {
    embedder.answers(embeddings)
    await created('unanswered', withService('openai', 'text-embedding-3-small'))
    await sent('unanswered', { insertMany: { documents: stored } })
  })
  afterEach(() => embedder.dropIdleConnections())

  test('does not delay requests that do not need the provider', async () => {
    embedder.answers('silence')
    const waiting = Array.from({ length: 40 }, () => leave('unanswered', insert))
    await until(() => embedder.running > 0)
    for (let i = 0; i < 3; i++) await assertOthersServed()
    const near = await sent('unanswered', { find: { sort: { $vector: [1, 2] } } })
    assert.equal(near.data!.documents!.length, 3)
    for (const request of waiting) request.abort()
    await until(() => embedder.running === 0)
    assert(embedder.asked.length <= 40, `asked ${embedder.asked.length} times`)
    assert.equal(((await everythingIn('unanswered')) as unknown[]).length, 3)
  })

  for (const [what, provider, command] of [
    ['an insert', embedder, insert],
    ['an update', embedder, writes[4]!],
    ['a search', embedder, bySort[0]!],
    ['a reranking', reranker, bySort.at(-1)!],
  ] as const)
    test(`loses its connection, and is not called again, when the client of ${what} disconnects`, async () => {
      const before = await everythingIn('unanswered')
      provider.answers('silence')
      const request = leave('unanswered', command)
      await until(() => provider.running === 1)
      request.abort()
      await until(() => provider.running === 0)
      await assertOthersServed()
      assert.equal(provider.asked.length, 1, 'nor is it asked again')
      assert.deepEqual(await everythingIn('unanswered'), before)
    })

  test('to the first call is called again, and the reply to the second call is used', async () => {
    await slowInsert
    assert.equal(sleeper.asked.length, 2)
    assert.equal(((await everythingIn('slow')) as unknown[]).length, 1)
  })
})

/** Sends a request without waiting for its reply. The caller aborts the request later. */
function leave(name: string, command: object): { abort(): void } {
  const request = httpRequest(`${server.url}/v1/default_keyspace/${name}`, {
    agent: false,
    method: 'POST',
    headers: { Token: testToken, 'Content-Type': 'application/json' },
  })
  request.on('error', () => undefined)
  request.end(JSON.stringify(command))
  return { abort: () => request.destroy() }
}

async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await delay(5)
}
