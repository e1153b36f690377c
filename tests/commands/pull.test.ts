/** $pull and $pullAll, in all commands that accept an update. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { Collections } from './collections.ts'
import { WrittenTables } from './written-tables.ts'

describe('$pull and $pullAll', () => {
  const collections = new Collections()

  test('remove elements of an array and count the document as modified', async () => {
    const books = await collections.create([
      {
        _id: 1,
        tags: ['a', 'b', 'a'],
        scores: [1, 8, 9],
        lent: [{ to: 'Ada', days: 3 }],
        pages: [3, 40, 'x'],
      },
    ])
    const { text } = await books.send({
      updateOne: {
        filter: { _id: 1 },
        update: {
          $pull: { tags: 'a', lent: { days: { $lt: 5 } }, pages: { $not: { $gt: 9 } } },
          $pullAll: { scores: [1, 9, 7] },
        },
      },
    })
    assert.equal(text, '{"status":{"matchedCount":1,"modifiedCount":1}}')
    assert.deepEqual(await books.all(), [
      { _id: 1, tags: ['b'], scores: [8], lent: [], pages: [40] },
    ])
  })

  test('update the index, so that filters find remaining elements and no removed elements', async () => {
    const books = await collections.create([{ _id: 1, tags: ['a', 'b'] }])
    await books.run({
      updateOne: { filter: { tags: 'a' }, update: { $pull: { tags: 'a' } } },
    })
    assert.deepEqual(await books.all({ filter: { tags: 'a' } }), [])
    assert.equal((await books.all({ filter: { tags: 'b' } })).length, 1)
    assert.equal((await books.all({ filter: { tags: { $size: 1 } } })).length, 1)
  })

  test('modify nothing when no element matches', async () => {
    const books = await collections.create([{ _id: 1, tags: ['a'] }])
    for (const update of [
      { $pull: { tags: 'z' } },
      { $pull: { tags: { $gt: 5 } } },
      { $pull: { missing: 'a' } },
      { $pull: { 'tags.x': 'a' } },
      { $pullAll: { tags: ['y', 'z'], missing: ['a'] } },
      { $pullAll: { tags: [] } },
    ]) {
      const { status } = await books.run({ updateOne: { filter: {}, update } })
      assert.deepEqual(
        status,
        { matchedCount: 1, modifiedCount: 0 },
        JSON.stringify(update),
      )
    }
  })

  test('count modified documents in updateMany', async () => {
    const books = await collections.create([
      { _id: 1, tags: ['a'] },
      { _id: 2, tags: ['b'] },
      { _id: 3 },
    ])
    const { status } = await books.run({ updateMany: { update: { $pull: { tags: 'a' } } } })
    assert.deepEqual(status, { matchedCount: 3, modifiedCount: 1 })
    assert.deepEqual(await books.sorted(), [
      { _id: 1, tags: [] },
      { _id: 2, tags: ['b'] },
      { _id: 3 },
    ])
  })

  test('return the remaining elements in findOneAndUpdate', async () => {
    const books = await collections.create([
      {
        _id: 1,
        parts: [
          { _id: 'x', n: 1 },
          { _id: 'y', n: 2 },
          { _id: 'z', n: 3 },
        ],
      },
    ])
    const { data, status } = await books.run({
      findOneAndUpdate: {
        filter: { _id: 1 },
        update: { $pull: { parts: { _id: { $in: ['x', 'z'] } } } },
        options: { returnDocument: 'after' },
      },
    })
    assert.deepEqual(data!.document, { _id: 1, parts: [{ _id: 'y', n: 2 }] })
    assert.deepEqual(status, { matchedCount: 1, modifiedCount: 1 })
  })

  test('change the array that the filter provides in an upsert', async () => {
    const books = await collections.create()
    const { status } = await books.run({
      updateOne: {
        filter: { _id: 7, tags: { $eq: ['a', 'b'] } },
        update: { $pull: { tags: 'a', missing: 1 } },
        options: { upsert: true },
      },
    })
    assert.deepEqual(status, { matchedCount: 0, modifiedCount: 0, upsertedId: 7 })
    assert.deepEqual(await books.all(), [{ _id: 7, tags: ['b'] }])
  })

  test('reject non-array values, as $pop does', async () => {
    const books = await collections.create([{ _id: 1, tags: 'a' }])
    for (const update of [{ $pull: { tags: 'a' } }, { $pullAll: { tags: ['a'] } }]) {
      const error = await books.refuse(
        { updateOne: { filter: { _id: 1 }, update } },
        'UNSUPPORTED_UPDATE_OPERATION_TARGET',
      )
      assert(error.message.endsWith('the document has a String there.'), error.message)
    }
  })

  test('reject an invalid condition, and a path that is updated twice', async () => {
    const books = await collections.create([{ _id: 1, tags: ['a'] }])
    for (const [update, mention] of [
      [{ $pull: { tags: { $regex: 'a' } } }, '"$regex" is not a filter operator'],
      [{ $pullAll: { tags: 'a' } }, 'an Array of values, not "a"'],
      [{ $pull: { tags: 'a' }, $push: { tags: 'b' } }, 'overlaps'],
    ] as const) {
      const error = await books.refuse(
        { updateOne: { update } },
        'UNSUPPORTED_UPDATE_OPERATION_PARAM',
      )
      assert(error.message.includes(mention), error.message)
    }
  })

  test('remove elements of long arrays on unindexed paths', async () => {
    const scores = Array.from({ length: 3000 }, (_, i) => i)
    const books = await collections.create([{ _id: 1, scores }], {
      indexing: { deny: ['scores'] },
    })
    await books.run({ updateOne: { update: { $pull: { scores: { $gte: 2 } } } } })
    assert.deepEqual(await books.all(), [{ _id: 1, scores: [0, 1] }])
  })

  test('remove an element in only one of several concurrent requests', async () => {
    const tags = Array.from({ length: 12 }, (_, i) => `t${i}`)
    const books = await collections.create([{ _id: 1, tags }])
    const answers = await Promise.all(
      [...tags, ...tags].map((tag) =>
        books.run({ updateOne: { filter: { _id: 1 }, update: { $pull: { tags: tag } } } }),
      ),
    )
    const modified = answers.map(({ status }) => status!['modifiedCount'] as number)
    assert.equal(
      modified.reduce((sum, count) => sum + count),
      tags.length,
    )
    assert.deepEqual(await books.all(), [{ _id: 1, tags: [] }])
  })
})

describe('$pull on tables', () => {
  const tables = new WrittenTables()

  test('is rejected as an unknown operator', async () => {
    const table = await tables.create({
      columns: { id: 'int', tags: { type: 'list', valueType: 'text' } },
      primaryKey: 'id',
    })
    const error = await table.refuse(
      { updateOne: { filter: { id: 1 }, update: { $pull: { tags: 'a' } } } },
      'UNSUPPORTED_UPDATE_OPERATIONS_FOR_TABLE',
    )
    assert(error.message.includes('$pullAll'), error.message)
  })
})
