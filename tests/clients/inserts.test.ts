import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import {
  CollectionInsertManyError,
  DataAPIResponseError,
  ObjectId,
  UUID,
} from '@datastax/astra-db-ts'
import {
  everything,
  numbered,
  refusal,
  Service,
  thrown,
  type Descriptor,
} from './client.ts'

const service = await Service.start()

describe('insertOne', () => {
  test('inserts a document and returns its id', async () => {
    const collection = await service.collection()
    const result = await collection.insertOne({ _id: 'a', tags: ['x', { y: null }] })
    assert.deepEqual(result, { insertedId: 'a' })
    assert.deepEqual(await everything(collection), [{ _id: 'a', tags: ['x', { y: null }] }])
  })

  test('generates a missing id', async () => {
    const collection = await service.collection()
    const { insertedId } = await collection.insertOne({ name: 'n' })
    assert.match(insertedId as string, /^[0-9a-f]{8}-[0-9a-f]{4}-4/)
    assert.deepEqual(await collection.findOne({ _id: insertedId }), {
      _id: insertedId,
      name: 'n',
    })
  })

  for (const [type, version] of [
    ['uuid', 4],
    ['uuidv6', 6],
    ['uuidv7', 7],
  ] as const)
    test(`generates ids of the type ${type}`, async () => {
      const collection = await service.collection([], { defaultId: { type } })
      const { insertedId } = await collection.insertOne({})
      assert(insertedId instanceof UUID)
      assert.equal(insertedId.version, version)
      const found = await collection.findOne({ _id: insertedId })
      assert(insertedId.equals(found!._id))
    })

  test('generates ids of the type objectId', async () => {
    const collection = await service.collection([], { defaultId: { type: 'objectId' } })
    const { insertedId } = await collection.insertOne({})
    assert(insertedId instanceof ObjectId)
    assert(Math.abs(insertedId.getTimestamp().getTime() - Date.now()) < 3_600_000)
    const found = await collection.findOne({ _id: insertedId })
    assert(insertedId.equals(found!._id))
  })

  test('rejects an id that exists', async () => {
    const collection = await service.collection([{ _id: 'a', n: 1 }])
    const error = await refusal(collection.insertOne({ _id: 'a', n: 2 }))
    assert.equal(error.errorCode, 'DOCUMENT_ALREADY_EXISTS')
    assert.deepEqual(error.documentIds, ['a'])
    assert.deepEqual(await everything(collection), [{ _id: 'a', n: 1 }])
  })
})

describe('insertMany', () => {
  test('inserts nothing for an empty list', async () => {
    const collection = await service.collection()
    for (const ordered of [true, false])
      assert.deepEqual(await collection.insertMany([], { ordered }), {
        insertedCount: 0,
        insertedIds: [],
      })
  })

  test('inserts documents in order, chunk after chunk', async () => {
    const collection = await service.collection()
    const documents = numbered(157)
    const result = await collection.insertMany(documents, { ordered: true })
    assert.equal(result.insertedCount, 157)
    assert.deepEqual(
      result.insertedIds,
      documents.map(({ _id }) => _id),
    )
    assert.deepEqual(await everything(collection), documents)
  })

  test('inserts documents unordered, in concurrent chunks', async () => {
    const collection = await service.collection()
    const documents = numbered(457)
    const result = await collection.insertMany(documents)
    assert.equal(result.insertedCount, 457)
    assert.equal(new Set(result.insertedIds).size, 457)
    assert.deepEqual(await everything(collection), documents)
  })

  test('accepts chunks of at most a hundred documents', async () => {
    const collection = await service.collection()
    const documents = numbered(200)
    await collection.insertMany(documents, { chunkSize: 100, concurrency: 2 })
    assert.equal(await collection.countDocuments({}, 1000), 200)
    const error = await thrown(
      CollectionInsertManyError,
      collection.insertMany(
        documents.map(({ n }) => ({ n })),
        { chunkSize: 101, ordered: true },
      ),
    )
    assert.deepEqual(codes(error), ['COMMAND_FIELD_VALUE_INVALID'])
    assert.deepEqual(error.insertedIds(), [])
  })

  test('generates missing ids', async () => {
    const collection = await service.collection([], { defaultId: { type: 'objectId' } })
    const { insertedIds } = await collection.insertMany(
      [{ n: 1 }, { _id: 'own', n: 2 }, { n: 3 }],
      { ordered: true },
    )
    assert(insertedIds[0] instanceof ObjectId)
    assert.equal(insertedIds[1], 'own')
    assert(insertedIds[2] instanceof ObjectId)
  })

  test('lists the ids that were inserted before the first failure, in order', async () => {
    const collection = await service.collection([{ _id: 70, old: true }])
    const error = await thrown(
      CollectionInsertManyError,
      collection.insertMany(numbered(157), { ordered: true }),
    )
    assert.deepEqual(
      error.insertedIds(),
      Array.from({ length: 70 }, (_, n) => n),
    )
    assert.deepEqual(codes(error), ['DOCUMENT_ALREADY_EXISTS'])
    assert.deepEqual(descriptors(error)[0]!.documentIds, [70])
    assert.equal(await collection.countDocuments({}, 1000), 71)
    assert.deepEqual(await collection.findOne({ _id: 70 }), { _id: 70, old: true })
  })

  test('inserts all valid documents when unordered', async () => {
    const taken = [3, 70, 71, 156]
    const collection = await service.collection(taken.map((_id) => ({ _id, old: true })))
    const error = await thrown(
      CollectionInsertManyError,
      collection.insertMany(numbered(157)),
    )
    assert.equal(error.insertedIds().length, 153)
    assert(!error.insertedIds().some((id) => taken.includes(id as number)))
    assert.deepEqual(
      descriptors(error)
        .map(({ documentIds }) => documentIds![0])
        .sort((a, b) => Number(a) - Number(b)),
      taken,
    )
    assert.deepEqual(new Set(codes(error)), new Set(['DOCUMENT_ALREADY_EXISTS']))
    assert.equal(await collection.countDocuments({}, 1000), 157)
    assert.equal(await collection.countDocuments({ old: true }, 1000), 4)
  })

  test('reports failures of different kinds separately', async () => {
    const collection = await service.collection([{ _id: 1 }])
    const error = await thrown(
      CollectionInsertManyError,
      collection.insertMany([
        { _id: 0 },
        { _id: 1 },
        { _id: 2, $odd: 1 },
        { _id: 3 },
        { _id: '' },
      ]),
    )
    assert.deepEqual(error.insertedIds(), [0, 3])
    assert.deepEqual(codes(error), [
      'DOCUMENT_ALREADY_EXISTS',
      'SHRED_BAD_FIELD_NAME',
      'SHRED_BAD_DOCID_VALUE',
    ])
    assert.match(error.message, /\+ 2 more errors/)
  })
})

function descriptors(error: CollectionInsertManyError): readonly Descriptor[] {
  return error.errors().flatMap((cause) => {
    assert(cause instanceof DataAPIResponseError)
    return cause.errorDescriptors
  })
}

function codes(error: CollectionInsertManyError): readonly string[] {
  return descriptors(error).map(({ errorCode }) => errorCode)
}
