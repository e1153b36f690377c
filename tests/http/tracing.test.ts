/** Traces of requests: which requests are traced, what a trace contains, and what it hides. */
import { DataAPIClient } from '@datastax/astra-db-ts'
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { defaultConfig } from '../../src/settings/config.ts'
import { Trace, showCommand } from '../../src/commands/dispatch/trace.ts'
import { tracingOf } from '../../src/http/headers.ts'
import { parseStored } from '../../src/json/parse.ts'
import { toPlain } from '../../src/json/plain.ts'
import { lettersCollection, LetterModels } from '../commands/letter-models.ts'
import { startServer, testToken, type Answer, type TestServer } from '../harness.ts'

interface ShownTrace {
  readonly requestId: string
  readonly tenantId: string
  readonly startedAt: string
  readonly durationMicroseconds: number
  readonly events: readonly {
    readonly eventId: string
    readonly timestamp: string
    readonly elapsedMicroseconds: number
    readonly message: string
    readonly data?: Record<string, unknown>
  }[]
}

const wanted = { 'Feature-Flag-request-tracing': 'true' }
const wantedFull = { 'Feature-Flag-request-tracing-full': 'true' }

function traceOf(answer: Pick<Answer, 'body'>): ShownTrace {
  const trace = answer.body.status?.['trace']
  assert(trace, JSON.stringify(answer.body))
  return trace as ShownTrace
}

/** The messages of a trace without their times. */
function messagesOf(answer: Pick<Answer, 'body'>): string[] {
  return traceOf(answer).events.map(({ message }) =>
    message.replace(/ (?:in|after) [\d.]+ ms$/, ''),
  )
}

describe('whether a request is traced', () => {
  const flag = 'feature-flag-request-tracing'
  const open = { requestTracing: undefined, requestTracingFull: undefined }

  test('depends on exact values of headers when the operator did not set tracing', () => {
    assert.equal(tracingOf(open, {}), 'off')
    for (const said of ['false', 'True', '1', ''])
      assert.equal(tracingOf(open, { [flag]: said, [`${flag}-full`]: said }), 'off', said)
    assert.equal(tracingOf(open, { [flag]: 'true' }), 'on')
    assert.equal(tracingOf(open, { [`${flag}-full`]: 'true' }), 'full')
    assert.equal(tracingOf(open, { [flag]: 'false', [`${flag}-full`]: 'true' }), 'full')
  })

  test('depends on the settings of the operator if the operator set tracing', () => {
    const both = { [flag]: 'true', [`${flag}-full`]: 'true' }
    const none = { [flag]: 'false', [`${flag}-full`]: 'false' }
    const on = { ...open, requestTracing: true }
    assert.equal(tracingOf(on, {}), 'on')
    assert.equal(tracingOf(on, none), 'on')
    assert.equal(tracingOf(on, both), 'full')
    assert.equal(tracingOf({ ...open, requestTracing: false }, both), 'off')
    assert.equal(tracingOf({ ...open, requestTracingFull: false }, both), 'on')
    assert.equal(tracingOf({ ...open, requestTracingFull: true }, none), 'full')
    assert.equal(
      tracingOf({ requestTracing: false, requestTracingFull: true }, both),
      'off',
    )
  })
})

describe('a traced request', () => {
  let models: LetterModels
  let server: TestServer
  before(async () => {
    models = await LetterModels.start()
    server = await startServer({ durable: false, providers: models.settings })
    await server.command('/default_keyspace', {
      createCollection: { name: 'letters', options: lettersCollection },
    })
    await server.command('/default_keyspace', { createCollection: { name: 'books' } })
    await server.command('/default_keyspace', {
      createTable: {
        name: 'loans',
        definition: { columns: { id: 'int', book: 'text' }, primaryKey: 'id' },
      },
    })
    await server.command('/default_keyspace/books', {
      insertMany: {
        documents: [
          { _id: 'dune', title: 'Dune', year: 1965 },
          { _id: 'ubik', title: 'Ubik', year: 1969 },
        ],
      },
    })
  })
  after(async () => {
    await server.close()
    await models.close()
  })

  const find = { find: { filter: { year: { $gt: 1966 } }, sort: { year: 1 } } }

  test('gets the usual reply with an additional trace', async () => {
    const plain = await server.command('/default_keyspace/books', find)
    assert.equal(plain.body.status, undefined)
    const answer = await server.command('/default_keyspace/books', find, {
      ...wanted,
      'X-Request-Id': 'tell-me',
    })
    assert.deepEqual(answer.body.data, plain.body.data)
    const trace = traceOf(answer)
    assert.equal(trace.requestId, 'tell-me')
    assert.match(trace.tenantId, /./)
    assert.equal(new Date(trace.startedAt).toISOString(), trace.startedAt)
    assert(Number.isInteger(trace.durationMicroseconds))
    assert.deepEqual(messagesOf(answer), [
      `Parsed a body of ${JSON.stringify(find).length} bytes`,
      'Received the command find',
      'Parsed the fields of the command',
      'Authorized administrator',
      'Found the collection default_keyspace.books',
      'Checked all clauses and documents',
      'Followed a plan: entries expected: 1, entries passed: 1, documents read: 2',
      'Read 1 record',
      'Completed the reply',
    ])
    let last = 0
    for (const [i, event] of trace.events.entries()) {
      assert.deepEqual(Object.keys(event), [
        'eventId',
        'timestamp',
        'elapsedMicroseconds',
        'message',
      ])
      assert.equal(event.eventId, String(i + 1))
      assert(event.elapsedMicroseconds >= last)
      assert(event.timestamp >= trace.startedAt)
      last = event.elapsedMicroseconds
    }
    assert.equal(last, trace.durationMicroseconds)
  })

  test('shows no data that was sent or stored', async () => {
    const { text } = await server.command(
      '/default_keyspace/books',
      { findOne: { filter: { title: 'Dune' }, projection: { _id: 1 } } },
      wanted,
    )
    const { status } = JSON.parse(text) as { status: object }
    assert.doesNotMatch(JSON.stringify(status), /Dune|title/)
  })

  test('shows in full mode what was sent, but no token and no key', async () => {
    const answer = await server.command('/default_keyspace/books', find, {
      ...wantedFull,
      'x-embedding-api-key': 'sk-secret',
    })
    const { events } = traceOf(answer)
    const dataOf = (start: string) =>
      events.find(({ message }) => message.startsWith(start))!.data
    assert.deepEqual(dataOf('Received the command find'), { command: JSON.stringify(find) })
    const { elapsedMs, ...plan } = dataOf('Followed')!
    assert(typeof elapsedMs === 'number')
    assert.deepEqual(plan, {
      plan: 'a range in the index of year, sorted in memory by year',
      ...{ expected: 1, entries: 1, documents: 2 },
    })
    assert.deepEqual(dataOf('Read 1'), {
      collection: 'books',
      filter: ['year gt'],
      sort: ['year 1'],
      limit: 20,
      skip: 0,
      isLaterPage: false,
    })
    assert.doesNotMatch(answer.text, /sk-secret/)
    assert(!answer.text.includes(testToken))

    const service = {
      provider: 'openai',
      modelName: 'text-embedding-3-small',
      authentication: { providerKey: 'my-own-key' },
    }
    const created = await server.command(
      '/default_keyspace',
      { createCollection: { name: 'keyed', options: { vector: { service } } } },
      wantedFull,
    )
    assert.match(created.text, /text-embedding-3-small/)
    assert.doesNotMatch(created.text, /my-own-key/)
  })

  test('shows embeddings and searches', async () => {
    const inserted = await server.command(
      '/default_keyspace/letters',
      { insertOne: { document: { _id: 1, $vectorize: 'aab' } } },
      { ...wanted, 'x-embedding-api-key': 'key' },
    )
    assert.deepEqual(inserted.body.status!['insertedIds'], [1])
    assert.deepEqual(messagesOf(inserted).slice(4, -1), [
      'Found the collection default_keyspace.letters',
      'Checked all clauses and documents',
      'Computed the vectors of 1 text by openai',
      'Wrote 1 record (insert)',
    ])
    const found = await server.command(
      '/default_keyspace/letters',
      { find: { sort: { $vectorize: 'ab' } } },
      { ...wanted, 'x-embedding-api-key': 'key' },
    )
    assert.deepEqual(messagesOf(found).slice(5, -1), [
      'Checked all clauses and documents',
      'Computed the vectors of 1 text by openai',
      'Searched by vector and found 1 record',
    ])
  })

  test('shows counts, changes, rows and schemas', async () => {
    const seen = async (path: string, command: object) => {
      const answer = await server.command(`/default_keyspace${path}`, command, wanted)
      assert.equal(answer.body.errors, undefined, answer.text)
      return messagesOf(answer).slice(4, -1)
    }
    assert.deepEqual(
      (await seen('/books', { countDocuments: { filter: { year: 1969 } } })).slice(2),
      ['Followed a plan: entries passed: 0, documents read: 0', 'Counted 1 record'],
    )
    const updated = await seen('/books', {
      updateOne: { filter: { _id: 'ubik' }, update: { $inc: { year: 0, pages: 1 } } },
    })
    assert.deepEqual(updated.slice(2), [
      'Followed a plan: entries expected: 1, entries passed: 1, documents read: 1',
      'Read 1 record',
      'Wrote 1 record (replace)',
    ])
    assert.deepEqual(await seen('/loans', { insertOne: { document: { id: 1 } } }), [
      'Found the table default_keyspace.loans',
      'Checked all clauses and documents',
      'Wrote 1 record (insert)',
    ])
    assert.deepEqual(
      await seen('/loans', {
        alterTable: { operation: { add: { columns: { due: 'date' } } } },
      }),
      ['Found the table default_keyspace.loans', 'Changed the schema'],
    )
    assert.deepEqual(await seen('', { createCollection: { name: 'more' } }), [
      'Changed the schema',
    ])
  })

  test('shows that a long read moved to another thread', async () => {
    const path = '/default_keyspace/many'
    await server.command('/default_keyspace', { createCollection: { name: 'many' } })
    for (let start = 0; start < 3000; start += 100) {
      const documents = Array.from({ length: 100 }, (_, i) => ({ n: start + i }))
      await server.command(path, { insertMany: { documents } })
    }
    const planOf = async (filter: object): Promise<string> => {
      const answer = await server.command(path, { find: { filter } }, wantedFull)
      const { events } = traceOf(answer)
      const followed = events.find(({ message }) => message.startsWith('Followed'))
      return followed!.data!['plan'] as string
    }
    assert.equal(await planOf({ n: { $ne: 0 } }), 'all documents; the index checks n')
    assert.equal(
      await planOf({ n: { $exists: false } }),
      'all documents; the index checks n (a list of 3000); on a reader thread',
    )
  })

  test('shows the completed steps when it fails', async () => {
    const answer = await server.command('/default_keyspace/none', { find: {} }, wanted)
    assert.deepEqual(answer.codes, ['UNKNOWN_COLLECTION_OR_TABLE'])
    assert.deepEqual(messagesOf(answer), [
      'Parsed a body of 11 bytes',
      'Received the command find',
      'Parsed the fields of the command',
      'Authorized administrator',
      'Answered with UNKNOWN_COLLECTION_OR_TABLE',
      'Completed the reply',
    ])
    const broken = await server.command('', '{', wanted)
    assert.deepEqual(messagesOf(broken), [
      'Answered with REQUEST_NOT_JSON',
      'Completed the reply',
    ])
    const unknown = await server.command(
      '',
      { findKeyspaces: {} },
      { ...wanted, Token: 'no' },
    )
    assert.equal(unknown.http, 401)
    assert.equal(unknown.body.status, undefined, 'nothing is told to nobody')
  })

  test('can run concurrently with untraced requests for the same document', async () => {
    const path = '/default_keyspace/books'
    const update = {
      updateOne: {
        filter: { _id: 'turns' },
        update: { $inc: { n: 1 } },
        options: { upsert: true },
      },
    }
    const answers = await Promise.all(
      Array.from({ length: 40 }, (_, i) =>
        server.command(path, update, i % 2 === 0 ? wanted : {}),
      ),
    )
    for (const answer of answers) assert.deepEqual(answer.codes, [], answer.text)
    const { body } = await server.command(path, { findOne: { filter: { _id: 'turns' } } })
    assert.equal(body.data!.document!['n'], 40)
  })

  test('can be requested with the official client', async () => {
    const client = new DataAPIClient({
      environment: 'other',
      additionalHeaders: { ...wanted, 'X-Request-Id': 'from-the-client' },
    })
    const db = client.db(server.url, {
      keyspace: 'default_keyspace',
      token: testToken,
    })
    const collection = db.collection('books')
    assert.equal((await collection.findOne({ _id: 'dune' }))!['title'], 'Dune')
    assert.equal((await collection.insertMany([{ a: 1 }, { a: 2 }])).insertedCount, 2)
    assert.equal((await collection.deleteMany({ a: { $in: [1, 2] } })).deletedCount, 2)
    const raw = (await db.command(
      { findOne: {} },
      { collection: 'books' },
    )) as Answer['body']
    assert.equal(traceOf({ body: raw }).requestId, 'from-the-client')
    await client.close()
  })
})

describe('the tracing setting of a server', () => {
  test('traces all requests or none, whatever their headers ask for', async () => {
    const path = ''
    const command = { findKeyspaces: {} }
    const settings = defaultConfig.tracing
    const eager = await startServer({ tracing: { ...settings, requestTracing: true } })
    const mute = await startServer({ tracing: { ...settings, requestTracing: false } })
    try {
      assert(traceOf(await eager.command(path, command)).events.length > 3)
      const { body } = await mute.command(path, command, { ...wanted, ...wantedFull })
      assert.deepEqual(Object.keys(body.status!), ['keyspaces'])
    } finally {
      await eager.close()
      await mute.close()
    }
  })
})

describe('a trace', () => {
  const request = { requestId: 'a', tenantId: 'b', isFull: false }

  test('has a maximum size', () => {
    const trace = new Trace(request)
    for (let i = 0; i < 250; i++) trace.note('again')
    const { events } = toPlain(trace.show()) as ShownTrace
    assert.equal(events.length, 201)
    assert.equal(events.at(-1)!.message, 'Completed the reply, after 50 more events')
  })

  test('computes its data only in full mode', () => {
    new Trace(request).note('once', () => assert.fail('nobody wants it'))
  })

  test('truncates long commands', () => {
    const fields = parseStored(`{"document":{"text":"${'x'.repeat(5000)}"}}`)
    const shown = showCommand('insertOne', fields)
    assert(shown.length < 2100)
    assert.match(shown, /x… \(5038 characters in total\)$/)
  })
})
