import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { Collections, numbered } from './collections.ts'

describe('findOneAndUpdate', () => {
  const collections = new Collections()

  test('returns the document before the change by default', async () => {
    const books = await collections.create([{ _id: 1, a: 1 }])
    const { text } = await books.send({
      findOneAndUpdate: { filter: { _id: 1 }, update: { $set: { a: 2 } } },
    })
    assert.equal(
      text,
      '{"data":{"document":{"_id":1,"a":1}},"status":{"matchedCount":1,"modifiedCount":1}}',
    )
    assert.deepEqual(await books.all(), [{ _id: 1, a: 2 }])
  })

  test('returns the document after the change with returnDocument "after"', async () => {
    const books = await collections.create([{ _id: 1, a: 1 }])
    const { data } = await books.run({
      findOneAndUpdate: {
        update: { $set: { a: 2 } },
        options: { returnDocument: 'after' },
      },
    })
    assert.deepEqual(data!.document, { _id: 1, a: 2 })
  })

  test('returns the document when nothing changed', async () => {
    const books = await collections.create([{ _id: 1, a: 1 }])
    for (const returnDocument of ['before', 'after']) {
      const { data, status } = await books.run({
        findOneAndUpdate: { update: { $set: { a: 1 } }, options: { returnDocument } },
      })
      assert.deepEqual(data!.document, { _id: 1, a: 1 })
      assert.deepEqual(status, { matchedCount: 1, modifiedCount: 0 })
    }
  })

  test('returns null when nothing matches', async () => {
    const books = await collections.create()
    const { data, status } = await books.run({
      findOneAndUpdate: {
        update: { $set: { a: 1 } },
        options: { returnDocument: 'after' },
      },
    })
    assert.deepEqual(data, { document: null })
    assert.deepEqual(status, { matchedCount: 0, modifiedCount: 0 })
  })

  test('returns null when it upserts, or the new document with returnDocument "after"', async () => {
    const books = await collections.create()
    for (const [_id, returnDocument, document] of [
      [1, 'before', null],
      [2, 'after', { _id: 2, a: 1 }],
    ] as const) {
      const { data, status } = await books.run({
        findOneAndUpdate: {
          filter: { _id },
          update: { $set: { a: 1 } },
          options: { returnDocument, upsert: true },
        },
      })
      assert.deepEqual(data, { document })
      assert.deepEqual(status, { matchedCount: 0, modifiedCount: 0, upsertedId: _id })
    }
  })

  test('applies a sort, and a projection to the returned document only', async () => {
    const books = await collections.create(numbered(5))
    const { data } = await books.run({
      findOneAndUpdate: {
        sort: { n: -1 },
        projection: { n: 1, _id: 0 },
        update: { $inc: { n: 10 } },
        options: { returnDocument: 'after' },
      },
    })
    assert.deepEqual(data!.document, { n: 14 })
    assert.deepEqual((await books.sorted())[4], { _id: 4, n: 14, even: true })
  })

  test('returns search fields, before or after the change, if the projection includes them', async () => {
    const books = await collections.create([{ _id: 1, $vector: [1, 2] }], {
      vector: { dimension: 2, metric: 'cosine' },
    })
    const update = { $set: { $vector: [3, 4] } }
    const projection = { $vector: 1 }
    const before = await books.run({ findOneAndUpdate: { update, projection } })
    assert.deepEqual(before.data!.document, { _id: 1, $vector: [1, 2] })
    const after = await books.run({
      findOneAndUpdate: { update, projection, options: { returnDocument: 'after' } },
    })
    assert.deepEqual(after.data!.document, { _id: 1, $vector: [3, 4] })
  })

  test('rejects unknown values of returnDocument, invalid clauses and a missing update', async () => {
    const books = await collections.create([{ _id: 1, a: 'x' }])
    await books.refuse(
      { findOneAndUpdate: { update: {}, options: { returnDocument: 'now' } } },
      'COMMAND_FIELD_VALUE_INVALID',
    )
    await books.refuse({ findOneAndUpdate: {} }, 'COMMAND_FIELD_VALUE_INVALID')
    await books.refuse(
      { findOneAndUpdate: { update: {}, projection: { a: 1, b: 0 } } },
      'UNSUPPORTED_PROJECTION_PARAM',
    )
    const error = await books.refuse(
      { findOneAndUpdate: { update: { $inc: { a: 1 } } } },
      'UNSUPPORTED_UPDATE_OPERATION_TARGET',
    )
    assert.equal(error.status, undefined)
  })

  test('returns to each concurrent request the result of its own increment', async () => {
    const books = await collections.create([{ _id: 'sequence', n: 0 }])
    const answers = await Promise.all(
      Array.from({ length: 30 }, () =>
        books.run({
          findOneAndUpdate: {
            filter: { _id: 'sequence' },
            update: { $inc: { n: 1 } },
            options: { returnDocument: 'after' },
          },
        }),
      ),
    )
    const numbers = answers.map(({ data }) => data!.document!['n'] as number)
    assert.deepEqual(
      numbers.toSorted((a, b) => a - b),
      Array.from({ length: 30 }, (_, i) => i + 1),
    )
  })
})
