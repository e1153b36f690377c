import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { Collections, numbered } from './collections.ts'

describe('deleteMany', () => {
  const collections = new Collections()

  test('deletes what matches', async () => {
    const books = await collections.create(numbered(10))
    const { text } = await books.send({ deleteMany: { filter: { even: true } } })
    assert.equal(text, '{"status":{"deletedCount":5}}')
    assert.equal((await books.all()).length, 5)
  })

  test('deletes everything without a filter, uncounted', async () => {
    for (const filter of [undefined, null, {}]) {
      const books = await collections.create(numbered(30))
      const { text } = await books.send({ deleteMany: { filter } })
      assert.equal(text, '{"status":{"deletedCount":-1}}')
      assert.deepEqual(await books.all(), [])
      await books.insert({ _id: 1 })
    }
  })

  test('deletes 20 with each call and says when there is more', async () => {
    const books = await collections.create(numbered(45))
    const call = async () =>
      (await books.run({ deleteMany: { filter: { n: { $gte: 0 } } } })).status
    assert.deepEqual(await call(), { deletedCount: 20, moreData: true })
    assert.deepEqual(await call(), { deletedCount: 20, moreData: true })
    assert.deepEqual(await call(), { deletedCount: 5 })
    assert.deepEqual(await call(), { deletedCount: 0 })
  })

  test('has no more to say when exactly 20 match', async () => {
    const books = await collections.create(numbered(20))
    const { status } = await books.run({ deleteMany: { filter: { n: { $gte: 0 } } } })
    assert.deepEqual(status, { deletedCount: 20 })
  })

  test('counts each document for one caller only', async () => {
    const books = await collections.create(numbered(20))
    const answers = await Promise.all(
      Array.from({ length: 5 }, () =>
        books.run({ deleteMany: { filter: { n: { $gte: 0 } } } }),
      ),
    )
    assert.equal(
      answers.reduce((sum, { status }) => sum + (status!['deletedCount'] as number), 0),
      20,
    )
    assert.deepEqual(await books.all(), [])
  })

  test('takes neither options nor a sort, and no bad filter', async () => {
    const books = await collections.create(numbered(3))
    await books.refuse({ deleteMany: { options: { a: 1 } } }, 'COMMAND_ACCEPTS_NO_OPTIONS')
    await books.refuse({ deleteMany: { sort: { a: 1 } } }, 'COMMAND_FIELD_UNKNOWN')
    await books.refuse({ deleteMany: { filter: [] } }, 'FILTER_UNSUPPORTED_DATA_TYPE')
    assert.equal((await books.all()).length, 3)
  })
})
