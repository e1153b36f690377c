import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { Collections, numbered } from './collections.ts'

describe('findOneAndDelete', () => {
  const collections = new Collections()

  test('deletes a document and returns it', async () => {
    const books = await collections.create([{ _id: 1, a: 1 }, { _id: 2 }])
    const { text } = await books.send({ findOneAndDelete: { filter: { a: 1 } } })
    assert.equal(text, '{"data":{"document":{"_id":1,"a":1}},"status":{"deletedCount":1}}')
    assert.deepEqual(await books.all(), [{ _id: 2 }])
  })

  test('returns null when nothing matches', async () => {
    const books = await collections.create()
    const { text } = await books.send({ findOneAndDelete: { filter: { a: 1 } } })
    assert.equal(text, '{"data":{"document":null},"status":{"deletedCount":0}}')
  })

  test('applies a sort, and a projection to the returned document', async () => {
    const books = await collections.create(
      [...numbered(3), { _id: 3, n: 3, $vector: [1, 2] }],
      { vector: { dimension: 2, metric: 'cosine' } },
    )
    const { data } = await books.run({
      findOneAndDelete: { sort: { n: -1 }, projection: { _id: 0, n: 1, $vector: 1 } },
    })
    assert.deepEqual(data!.document, { n: 3, $vector: [1, 2] })
    assert.equal((await books.all()).length, 3)
  })

  test('returns each document to only one of several concurrent requests', async () => {
    const books = await collections.create(numbered(4))
    const answers = await Promise.all(
      Array.from({ length: 8 }, (_, i) =>
        books.run({ findOneAndDelete: { filter: { _id: i % 4 } } }),
      ),
    )
    const got = answers.flatMap(({ data }) => data!.document?.['_id'] ?? [])
    assert.deepEqual(
      got.toSorted((a, b) => Number(a) - Number(b)),
      [0, 1, 2, 3],
    )
  })

  test('accepts no options', async () => {
    const books = await collections.create()
    await books.refuse({ findOneAndDelete: { options: {} } }, 'COMMAND_FIELD_UNKNOWN')
    await books.refuse(
      { findOneAndDelete: { projection: 5 } },
      'UNSUPPORTED_PROJECTION_DEFINITION',
    )
  })
})
