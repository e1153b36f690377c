import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import {
  DataAPIClient,
  DataAPIHttpError,
  DataAPIResponseError,
  StaticTokenProvider,
  UsernamePasswordTokenProvider,
  type CommandWarningsEvent,
} from '@datastax/astra-db-ts'
import { defaultLimits } from '../../src/limits.ts'
import { testToken } from '../harness.ts'
import { unlessOnCluster } from '../test-engine.ts'
import { keyspace, refusal, Service, thrown, type Document } from './client.ts'

const service = await Service.start({
  accounts: [{ name: 'änn', password: 'pass:word ✓' }],
  limits: { ...defaultLimits, bodySizeMax: 20_000, documentLengthMax: 10_000 },
})

describe('tokens', () => {
  test('are accepted as strings and from token providers', async () => {
    for (const token of [testToken, new StaticTokenProvider(testToken)])
      assert.deepEqual(await service.connect(token).listCollections(), [])
  })

  test('can be passed to the database instead of the client', async () => {
    const client = new DataAPIClient({ environment: 'hcd' })
    const db = client.db(service.url, { keyspace, token: testToken })
    assert.deepEqual(await db.listCollections(), [])
    const admin = db.admin({ environment: 'hcd' })
    assert.deepEqual(await admin.listKeyspaces(), [keyspace])
    await client.close()
  })

  test('can consist of a name and a password', unlessOnCluster, async () => {
    const db = service.connect(new UsernamePasswordTokenProvider('änn', 'pass:word ✓'))
    const collection = await db.createCollection<Document>('by_account')
    await collection.insertOne({ _id: 1 })
    assert.deepEqual(await collection.findOne({}), { _id: 1 })
    assert.deepEqual(await db.admin({ environment: 'hcd' }).listKeyspaces(), [keyspace])
    await collection.drop()
  })

  for (const [name, token] of [
    ['when they are unknown', 'wrong'],
    ['when the password is wrong', new UsernamePasswordTokenProvider('änn', 'password')],
    ['when the name is unknown', new UsernamePasswordTokenProvider('bob', 'pass:word ✓')],
  ] as const)
    test(`are rejected ${name}`, async () => {
      const db = service.connect(token)
      for (const attempt of [
        db.listCollections(),
        db.collection('any').insertOne({}),
        db.collection('any').find({}).toArray(),
        db.admin({ environment: 'hcd' }).listKeyspaces(),
      ]) {
        const error = await refusal(attempt)
        assert.equal(error.errorCode, 'UNAUTHENTICATED_REQUEST')
      }
    })

  test('are required in every request', async () => {
    const client = new DataAPIClient({ environment: 'hcd' })
    const db = client.db(service.url, { keyspace })
    const error = await refusal(db.listCollections())
    assert.equal(error.errorCode, 'MISSING_AUTHENTICATION_TOKEN')
    await client.close()
  })
})

test('keys for embedding and reranking services do not affect other commands', async () => {
  const db = service.connect()
  const collection = await db.createCollection<Document>('with_keys', {
    embeddingApiKey: 'embedding-key',
    rerankingApiKey: 'reranking-key',
  })
  await collection.insertOne({ _id: 1 })
  assert.deepEqual(await collection.findOne({}), { _id: 1 })
  await collection.drop()
})

describe('errors', () => {
  test('contain an id, a code, the command, and a message that names the cause', async () => {
    const db = service.connect()
    const attempt = db.collection('absent').findOne({ a: 1 })
    const error = await thrown(DataAPIResponseError, attempt)
    const [descriptor] = error.errorDescriptors
    assert.match(descriptor.id, /^[0-9a-f-]{36}$/)
    assert.equal(descriptor.family, 'REQUEST')
    assert.equal(descriptor.scope, 'SCHEMA')
    assert.equal(descriptor.errorCode, 'UNKNOWN_COLLECTION_OR_TABLE')
    assert.notEqual(descriptor.title, '')
    assert.equal(error.message, descriptor.message)
    assert(error.message.includes('absent'))
    assert.deepEqual(error.command, {
      findOne: { filter: { a: 1 }, options: { includeSimilarity: undefined } },
    })
  })

  test('are reported together when a command has several errors', async () => {
    const db = service.connect()
    await db.createCollection('several')
    const attempt = db.command(
      { find: { options: { limit: -1, skip: -1 } } },
      { collection: 'several' },
    )
    const { errorDescriptors } = await thrown(DataAPIResponseError, attempt)
    assert.deepEqual(
      errorDescriptors.map(({ errorCode }) => errorCode),
      ['COMMAND_FIELD_VALUE_INVALID', 'COMMAND_FIELD_VALUE_INVALID'],
    )
  })

  test('are HTTP errors when the request is too large', async () => {
    const collection = await service.connect().createCollection<Document>('narrow')
    const attempt = collection.insertOne({ text: 'x'.repeat(20_000) })
    const error = await thrown(DataAPIHttpError, attempt)
    assert.equal(error.status, 413)
    await collection.insertOne({ _id: 1 })
    assert.deepEqual(await collection.findOne({}), { _id: 1 })
  })
})

describe('warnings', () => {
  test('are emitted as events of the client', async () => {
    const client = new DataAPIClient(testToken, {
      environment: 'hcd',
      logging: [{ events: 'commandWarnings', emits: 'event' }],
    })
    const warnings: CommandWarningsEvent['warnings'][number][] = []
    client.on('commandWarnings', (event) => warnings.push(...event.warnings))
    const db = client.db(service.url, { keyspace })
    await db.command({ findKeyspaces: {} }, { keyspace: null })
    assert.deepEqual(warnings, [])
    const found = await db.command({ findNamespaces: {} }, { keyspace: null })
    assert.deepEqual(found.status!['namespaces'], [keyspace])
    assert.deepEqual(
      warnings.map(({ errorCode, scope }) => [errorCode, scope]),
      [['DEPRECATED_COMMAND', 'WARNING']],
    )
    await client.close()
  })
})
