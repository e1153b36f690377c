/** Vector, lexical and embedded search, as applications use them. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { DataAPIVector } from '@datastax/astra-db-ts'
import { packagesAreInstalled } from '../../src/providers/local/packages.ts'
import { refusal, Service, type Document } from './client.ts'

const service = await Service.start()

function idsOf(documents: readonly Document[]): unknown[] {
  return documents.map(({ _id }) => _id)
}

describe('a vector search', () => {
  const places = [
    { _id: 'east', n: 1, $vector: [1, 0] },
    { _id: 'north-east', n: 2, $vector: [0.5, 0.5] },
    { _id: 'north', n: 1, $vector: new DataAPIVector([0, 0.25]) },
    { _id: 'nowhere', n: 1 },
  ]
  const create = () =>
    service.collection(places, { vector: { dimension: 2, metric: 'cosine' } })

  test('returns the nearest documents first, with their similarity', async () => {
    const collection = await create()
    const cursor = collection.find(
      { n: { $lt: 5 } },
      { sort: { $vector: [1, 0] }, includeSimilarity: true, limit: 10 },
    )
    const found = await cursor.toArray()
    assert.deepEqual(idsOf(found), ['east', 'north-east', 'north'])
    for (const [i, expected] of [1, 0.853553, 0.5].entries())
      assert(Math.abs(found[i]!.$similarity! - expected) < 1e-5)
  })

  test('returns the sort vector', async () => {
    const collection = await create()
    const cursor = collection
      .find({})
      .sort({ $vector: new DataAPIVector([0.1, 0.2]) })
      .includeSortVector()
    assert.deepEqual((await cursor.getSortVector())!.asArray(), [0.1, 0.2])
    assert.equal((await cursor.toArray()).length, 3)
    const plain = collection.find({}, { sort: { n: 1 } })
    assert.equal(await plain.getSortVector(), null)
  })

  test('returns vectors when the projection includes them', async () => {
    const collection = await create()
    const found = await collection.findOne(
      {},
      { sort: { $vector: [0, 1] }, projection: { $vector: 1 }, includeSimilarity: true },
    )
    assert.equal(found!._id, 'north')
    assert.equal(found!.$similarity, 1)
    assert.deepEqual((found!['$vector'] as DataAPIVector).asArray(), [0, 0.25])
  })

  test('selects the document that a command changes', async () => {
    const collection = await create()
    const sort = { $vector: [1, 0.1] }
    const updated = await collection.findOneAndUpdate(
      {},
      { $set: { $vector: [0, -1] } },
      { sort, returnDocument: 'before' },
    )
    assert.equal(updated!._id, 'east')
    const { modifiedCount } = await collection.updateOne({}, { $inc: { n: 1 } }, { sort })
    assert.equal(modifiedCount, 1)
    const replaced = await collection.findOneAndReplace({}, { new: true }, { sort })
    assert.deepEqual(replaced, { _id: 'north-east', n: 3 })
    assert.equal((await collection.findOneAndDelete({}, { sort }))!._id, 'north')
    assert.equal((await collection.deleteOne({}, { sort })).deletedCount, 1)
    assert.equal(await collection.findOne({}, { sort }), null)
    assert.equal(await collection.countDocuments({}, 10), 2)
  })

  test('accepts minSimilarity and diversity in a raw command', async () => {
    const collection = await create()
    const db = service.connect()
    const find = async (options: object) => {
      const command = { find: { sort: { $vector: [1, 0] }, options } }
      const { data } = await db.command(command, { collection: collection.name })
      return idsOf(data!['documents'] as Document[])
    }
    assert.deepEqual(await find({ minSimilarity: 0.8 }), ['east', 'north-east'])
    assert.deepEqual(await find({ diversity: 1, limit: 2 }), ['east', 'north'])
    const options = { diversity: 1, minSimilarity: 0.8 }
    assert.deepEqual(await find(options), ['east', 'north-east'])
    const error = await refusal(find({ minSimilarity: 2 }))
    assert.equal(error.errorCode, 'COMMAND_FIELD_VALUE_INVALID')
  })

  test('rejects a vector of another length', async () => {
    const collection = await create()
    const error = await refusal(
      collection.find({}, { sort: { $vector: [1, 2, 3] } }).toArray(),
    )
    assert.equal(error.errorCode, 'INVALID_VECTOR_LENGTH')
  })
})

describe('a lexical search', () => {
  const notes = [
    { _id: 1, $lexical: 'monkey' },
    { _id: 2, $lexical: 'monkey bread is so tasty' },
    { _id: 3, $lexical: 'monkey monkey monkey' },
    { _id: 4, $lexical: 'tree' },
  ]

  test('returns the most relevant documents first', async () => {
    const collection = await service.collection(notes)
    const found = await collection.find({}, { sort: { $lexical: 'monkey' } }).toArray()
    assert.deepEqual(idsOf(found), [3, 1, 2])
    const one = await collection.findOne({}, { sort: { $lexical: 'tasty bread' } })
    assert.equal(one!._id, 2)
    const sentence = { $lexical: 'Which monkey is in the tree?' }
    const some = await collection.find({}, { sort: sentence }).toArray()
    assert.deepEqual(idsOf(some), [4, 2, 3, 1])
  })

  test('returns all documents with the terms, page by page', async () => {
    const many = Array.from({ length: 150 }, (_, _id) => ({ _id, $lexical: 'leaf' }))
    const collection = await service.collection(many)
    const ids = many.map(({ _id }) => _id)
    const sort = { $lexical: 'leaf' }
    assert.deepEqual(idsOf(await collection.find({}, { sort }).toArray()), ids)
    const some = await collection.find({}, { sort, limit: 110 }).toArray()
    assert.deepEqual(idsOf(some), ids.slice(0, 110))
  })

  test('filters by terms', async () => {
    const collection = await service.collection(notes)
    const filter = { $lexical: { $match: 'Monkey tasty' } }
    assert.deepEqual(idsOf(await collection.find(filter).toArray()), [2])
    assert.equal(await collection.countDocuments(filter, 10), 1)
    assert.equal((await collection.deleteMany(filter)).deletedCount, 1)
  })
})

describe('texts that the server embeds', () => {
  const skip = !packagesAreInstalled() && 'the optional packages are not installed'

  test('are found by meaning', { skip }, async () => {
    const collection = await service.collection([], {
      vector: {
        metric: 'cosine',
        service: { provider: 'local', modelName: 'all-MiniLM-L6-v2' },
      },
    })
    await collection.insertMany([
      { _id: 'cat', $vectorize: 'A kitten sleeps on the sofa.' },
      { _id: 'money', $vectorize: 'The bank raised its interest rates.' },
      { _id: 'ship', $vectorize: 'The vessel sailed into the harbour.' },
    ])
    const ask = (text: string) =>
      collection.find(
        {},
        { sort: { $vectorize: text }, includeSimilarity: true, includeSortVector: true },
      )
    for (const [text, id] of [
      ['pets at home', 'cat'],
      ['finance news', 'money'],
      ['boats', 'ship'],
    ] as const) {
      const cursor = ask(text)
      assert.equal((await cursor.getSortVector())!.length, 384)
      const [best, next] = await cursor.toArray()
      assert.equal(best!._id, id)
      assert(best!.$similarity! > next!.$similarity!)
    }
    const moved = await collection.findOneAndUpdate(
      {},
      { $set: { $vectorize: 'A puppy plays in the garden.' } },
      { sort: { $vectorize: 'young animals' }, returnDocument: 'after' },
    )
    assert.equal(moved!._id, 'cat')
    const dog = await collection.findOne({}, { sort: { $vectorize: 'dogs outdoors' } })
    assert.equal(dog!._id, 'cat')
  })
})
