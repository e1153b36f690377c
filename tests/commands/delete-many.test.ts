import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { Collections, numbered } from './collections.ts'

describe('deleteMany', () => {
  const collections = new Collections()

  test('deletes matching documents', async () => {
    const books = await collections.create(numbered(10))
    const { text } = await books.send({ deleteMany: { filter: { even: true } } })
    assert.equal(text, '{"status":{"deletedCount":5}}')
    assert.equal((await books.all()).length, 5)
  })

  test('deletes everything without a filter and returns a count of -1', async () => {
    for (const filter of [undefined, null, {}]) {
      const books = await collections.create(numbered(30))
      const { text } = await books.send({ deleteMany: { filter } })
      assert.equal(text, '{"status":{"deletedCount":-1}}')
      assert.deepEqual(await books.all(), [])
      await books.insert({ _id: 1 })
    }
  })

  test('deletes 20 documents per call and reports moreData', async () => {
    const books = await collections.create(numbered(45))
    const call = async () =>
      (await books.run({ deleteMany: { filter: { n: { $gte: 0 } } } })).status
    assert.deepEqual(await call(), { deletedCount: 20, moreData: true })
    assert.deepEqual(await call(), { deletedCount: 20, moreData: true })
    assert.deepEqual(await call(), { deletedCount: 5 })
    assert.deepEqual(await call(), { deletedCount: 0 })
  })

  test('does not report moreData when exactly 20 documents match', async () => {
    const books = await collections.create(numbered(20))
    const { status } = await books.run({ deleteMany: { filter: { n: { $gte: 0 } } } })
    assert.deepEqual(status, { deletedCount: 20 })
  })

  test('counts each deleted document in only one of several concurrent requests', async () => {
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

  test('rejects options, a sort, and an invalid filter', async () => {
    const books = await collections.create(numbered(3))
    await books.refuse({ deleteMany: { options: { a: 1 } } }, 'COMMAND_ACCEPTS_NO_OPTIONS')
    await books.refuse({ deleteMany: { sort: { a: 1 } } }, 'COMMAND_FIELD_UNKNOWN')
    await books.refuse({ deleteMany: { filter: [] } }, 'FILTER_UNSUPPORTED_DATA_TYPE')
    assert.equal((await books.all()).length, 3)
  })
})
