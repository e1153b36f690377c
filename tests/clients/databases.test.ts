import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import {
  Collection,
  DataAPIClient,
  DataAPIDbAdmin,
  type CollectionRerankOptions,
} from '@datastax/astra-db-ts'
import { defaultProviderSettings } from '../../src/providers/provider-settings.ts'
import { testToken } from '../harness.ts'
import { refusal, Service, type Document } from './client.ts'

// The default reranker gets an unreachable address, because with its usual address an
// installed local model would replace it.
const rerankingUrls = new Map([['nvidia', 'http://127.0.0.1:9/ranking']])
const service = await Service.start({
  providers: { ...defaultProviderSettings, rerankingUrls },
})

const lexical = { enabled: true, analyzer: 'standard' }
const rerank = {
  enabled: true,
  service: { provider: 'nvidia', modelName: 'nvidia/llama-3.2-nv-rerankqa-1b-v2' },
}

describe('a client', () => {
  for (const environment of ['hcd', 'dse', 'cassandra', 'other'] as const)
    test(`connects in the ${environment} environment`, async () => {
      const client = new DataAPIClient(testToken, { environment })
      const db = client.db(service.url, { keyspace: 'default_keyspace' })
      assert((await db.admin({ environment }).listKeyspaces()).includes('default_keyspace'))
      await client.close()
    })

  test('connects by the path /api/json/v1', async () => {
    const client = new DataAPIClient(testToken, { environment: 'other' })
    const db = client.db(`${service.url}/`, {
      keyspace: 'default_keyspace',
      dataApiPath: 'api/json/v1',
    })
    const collection = await db.createCollection<Document>('by_longer_path')
    await collection.insertOne({ _id: 1 })
    assert.deepEqual(await collection.findOne({}), { _id: 1 })
    await collection.drop()
    await client.close()
  })
})

describe('createCollection', () => {
  test('creates a collection with the default options', async () => {
    const collection = await service.connect().createCollection<Document>('plain')
    assert(collection instanceof Collection)
    assert.equal(collection.name, 'plain')
    assert.equal(collection.keyspace, 'default_keyspace')
    await collection.insertOne({ _id: 'a' })
    assert.deepEqual(await collection.findOne({}), { _id: 'a' })
    assert.deepEqual(await collection.options(), { lexical, rerank })
  })

  for (const [name, given, kept] of [
    ['with_object_ids', { defaultId: { type: 'objectId' } }, {}],
    ['with_uuids', { defaultId: { type: 'uuid' } }, {}],
    ['with_uuids_6', { defaultId: { type: 'uuidv6' } }, {}],
    ['with_uuids_7', { defaultId: { type: 'uuidv7' } }, {}],
    ['with_allowed', { indexing: { allow: ['name', 'address.city'] } }, {}],
    ['with_denied', { indexing: { deny: ['notes'] } }, {}],
    ['with_nothing_indexed', { indexing: { deny: ['*'] } }, {}],
    [
      'with_vectors',
      { vector: { dimension: 3 } },
      { vector: { dimension: 3, metric: 'cosine', sourceModel: 'other' } },
    ],
    [
      'with_euclidean_vectors',
      { vector: { dimension: 1536, metric: 'euclidean' } },
      { vector: { dimension: 1536, metric: 'euclidean', sourceModel: 'other' } },
    ],
    [
      'with_model_vectors',
      { vector: { dimension: 1536, sourceModel: 'openai-v3-small' } },
      {
        vector: { dimension: 1536, metric: 'dot_product', sourceModel: 'openai-v3-small' },
      },
    ],
    ['without_lexical', { lexical: { enabled: false } }, {}],
    ['with_english', { lexical: { enabled: true, analyzer: 'english' } }, {}],
    [
      'with_own_analyzer',
      {
        lexical: {
          enabled: true,
          analyzer: { tokenizer: { name: 'whitespace' }, filters: [{ name: 'lowercase' }] },
        },
      },
      {},
    ],
    ['with_reranking', { rerank }, {}],
    // The types of the client require a service even if reranking is disabled.
    ['without_reranking', { rerank: { enabled: false } as CollectionRerankOptions }, {}],
    [
      'with_everything',
      {
        defaultId: { type: 'uuidv7' },
        indexing: { deny: ['notes'] },
        vector: { dimension: 4, metric: 'dot_product', sourceModel: 'other' },
        lexical: { enabled: true, analyzer: 'whitespace' },
        rerank,
      },
      {},
    ],
  ] as const)
    test(`creates and lists a collection ${name.replaceAll('_', ' ')}`, async () => {
      const db = service.connect()
      const options = structuredClone(given) as Parameters<typeof db.createCollection>[1]
      const collection = await db.createCollection(name, options)
      const expected = { lexical, rerank, ...given, ...kept }
      assert.deepEqual(await collection.options(), expected)
      // Repeating the command with the same options succeeds.
      await db.createCollection(name, options)
      await collection.drop()
    })

  test('rejects an unknown embedding service', async () => {
    const error = await refusal(
      service.connect().createCollection('with_service', {
        vector: { service: { provider: 'nobody', modelName: 'nothing' } },
      }),
    )
    assert.equal(error.errorCode, 'INVALID_CREATE_COLLECTION_OPTIONS')
    assert(error.message.includes('nobody'))
  })

  test('rejects other settings for an existing collection', async () => {
    const db = service.connect()
    await db.createCollection('settled', { indexing: { deny: ['notes'] } })
    const error = await refusal(
      db.createCollection('settled', { vector: { dimension: 3 } }),
    )
    assert.equal(error.errorCode, 'EXISTING_COLLECTION_DIFFERENT_SETTINGS')
    assert(error.message.includes('settled'))
  })

  test('rejects invalid names', async () => {
    const error = await refusal(service.connect().createCollection('not a name'))
    assert.equal(error.errorCode, 'UNSUPPORTED_SCHEMA_NAME')
  })
})

describe('listCollections', () => {
  test('returns an empty list, names, or names with options', async () => {
    const db = service.connect()
    await db.admin({ environment: 'hcd' }).createKeyspace('listed', {
      updateDbKeyspace: true,
    })
    assert.deepEqual(await db.listCollections(), [])
    assert.deepEqual(await db.listCollections({ nameOnly: true }), [])
    await db.createCollection('b', { defaultId: { type: 'uuid' } })
    await db.createCollection('a')
    assert.deepEqual(await db.listCollections({ nameOnly: true }), ['a', 'b'])
    assert.deepEqual(await db.listCollections(), [
      { name: 'a', definition: { lexical, rerank } },
      { name: 'b', definition: { defaultId: { type: 'uuid' }, lexical, rerank } },
    ])
  })

  test('lists the collections of the given keyspace', async () => {
    const db = service.connect()
    await db.admin({ environment: 'hcd' }).createKeyspace('elsewhere')
    await db.createCollection('there', { keyspace: 'elsewhere' })
    const names = await db.listCollections({ nameOnly: true, keyspace: 'elsewhere' })
    assert.deepEqual(names, ['there'])
    assert(!(await db.listCollections({ nameOnly: true })).includes('there'))
  })

  test('rejects a keyspace that does not exist', async () => {
    const error = await refusal(service.connect().listCollections({ keyspace: 'nowhere' }))
    assert.equal(error.errorCode, 'UNKNOWN_KEYSPACE')
    assert(error.message.includes('nowhere'))
  })
})

describe('dropCollection', () => {
  test('drops a collection with its documents', async () => {
    const db = service.connect()
    const collection = await db.createCollection<Document>('dropped')
    await collection.insertOne({ _id: 1 })
    await db.dropCollection('dropped')
    assert(!(await db.listCollections({ nameOnly: true })).includes('dropped'))
    const error = await refusal(collection.findOne({}))
    assert.equal(error.errorCode, 'UNKNOWN_COLLECTION_OR_TABLE')
    assert(error.message.includes('dropped'))
    await db.createCollection('dropped')
    assert.equal(await collection.findOne({}), null)
  })

  test('can be called as the method drop of the collection', async () => {
    const db = service.connect()
    const collection = await db.createCollection('dropped_by_itself')
    await collection.drop()
    assert(!(await db.listCollections({ nameOnly: true })).includes('dropped_by_itself'))
    await assert.rejects(collection.options(), /collection not found/)
  })

  test('succeeds when the collection does not exist', async () => {
    await service.connect().dropCollection('never_there')
  })
})

describe('keyspaces', () => {
  test('are created, listed and dropped', async () => {
    const db = service.connect()
    const admin = db.admin({ environment: 'hcd' })
    assert(admin instanceof DataAPIDbAdmin)
    assert.equal(admin.db(), db)
    await admin.createKeyspace('shop')
    // Creating an existing keyspace changes nothing.
    await admin.createKeyspace('shop', {
      replication: { class: 'SimpleStrategy', replicationFactor: 2 },
    })
    await admin.createKeyspace('store', {
      replication: { class: 'NetworkTopologyStrategy', datacenter1: 1 },
    })
    const names = await admin.listKeyspaces()
    assert(names.includes('default_keyspace'))
    assert(names.includes('shop'))
    assert(names.includes('store'))
    await admin.dropKeyspace('shop')
    await admin.dropKeyspace('shop')
    assert(!(await admin.listKeyspaces()).includes('shop'))
  })

  test('become the working keyspace with the option updateDbKeyspace', async () => {
    const db = service.connect()
    const admin = db.admin({ environment: 'hcd' })
    await admin.createKeyspace('current', { updateDbKeyspace: true })
    assert.equal(db.keyspace, 'current')
    const collection = await db.createCollection('here')
    assert.equal(collection.keyspace, 'current')
    db.useKeyspace('default_keyspace')
    assert(!(await db.listCollections({ nameOnly: true })).includes('here'))
  })

  test('can contain collections of the same name', async () => {
    const db = service.connect()
    await db.admin({ environment: 'hcd' }).createKeyspace('other_keyspace')
    const here = await db.createCollection<Document>('twin')
    const there = await db.createCollection<Document>('twin', {
      keyspace: 'other_keyspace',
    })
    await here.insertOne({ _id: 'here' })
    await there.insertOne({ _id: 'there' })
    assert.deepEqual(await here.find({}).toArray(), [{ _id: 'here' }])
    const reached = db.collection<Document>('twin', { keyspace: 'other_keyspace' })
    assert.deepEqual(await reached.find({}).toArray(), [{ _id: 'there' }])
  })

  test('reject invalid names', async () => {
    const admin = service.connect().admin({ environment: 'hcd' })
    const error = await refusal(admin.createKeyspace('not-a-name'))
    assert.equal(error.errorCode, 'UNSUPPORTED_SCHEMA_NAME')
  })
})

describe('collection', () => {
  test('sends no request until one of its methods is called', async () => {
    const collection = service.connect().collection<Document>('never_created')
    const error = await refusal(collection.insertOne({}))
    assert.equal(error.errorCode, 'UNKNOWN_COLLECTION_OR_TABLE')
  })
})

describe('command', () => {
  test('sends any command to the keyspace, to a collection or to neither', async () => {
    const db = service.connect()
    assert.deepEqual((await db.command({ createCollection: { name: 'raw' } })).status, {
      ok: 1,
    })
    const inserted = await db.command(
      { insertOne: { document: { _id: 'a', at: { $date: 1 } } } },
      { collection: 'raw' },
    )
    assert.deepEqual(inserted.status, { insertedIds: ['a'] })
    const found = await db.command({ find: {} }, { collection: 'raw' })
    assert.deepEqual(found.data, {
      documents: [{ _id: 'a', at: { $date: 1 } }],
      nextPageState: null,
    })
    const listed = await db.command({ findKeyspaces: {} }, { keyspace: null })
    assert((listed.status!['keyspaces'] as string[]).includes('default_keyspace'))
  })

  test('reports an unknown command by its error code', async () => {
    const error = await refusal(service.connect().command({ explode: {} }))
    assert.equal(error.errorCode, 'COMMAND_UNKNOWN')
    assert(error.message.includes('explode'))
  })
})
