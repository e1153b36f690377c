import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { Collections, numbered } from './collections.ts'

describe('deleteOne', () => {
  const collections = new Collections()

  test('deletes one document and returns a count of 1', async () => {
    const books = await collections.create(numbered(3))
    const { text } = await books.send({ deleteOne: { filter: { even: true } } })
    assert.equal(text, '{"status":{"deletedCount":1}}')
    assert.equal((await books.all()).length, 2)
    assert.equal((await books.all({ filter: { even: true } })).length, 1)
  })

  test('deletes nothing when nothing matches', async () => {
    const books = await collections.create(numbered(3))
    const { status } = await books.run({ deleteOne: { filter: { _id: 7 } } })
    assert.deepEqual(status, { deletedCount: 0 })
    assert.equal((await books.all()).length, 3)
  })

  test('deletes the first document in the order of the sort', async () => {
    const books = await collections.create(numbered(3))
    await books.run({ deleteOne: { filter: {}, sort: { n: -1 } } })
    assert.deepEqual(
      (await books.sorted()).map(({ _id }) => _id),
      [0, 1],
    )
  })

  test('allows the _id to be inserted again', async () => {
    const books = await collections.create([{ _id: 1, a: 1 }])
    await books.run({ deleteOne: { filter: { _id: 1 } } })
    await books.insert({ _id: 1, a: 2 })
    assert.deepEqual(await books.all(), [{ _id: 1, a: 2 }])
  })

  for (const filter of [{ _id: 1 }, { n: 1 }])
    test(`returns a count of 1 to only one of several concurrent requests, by ${Object.keys(filter)[0]!}`, async () => {
      const books = await collections.create(numbered(3))
      const answers = await Promise.all(
        Array.from({ length: 10 }, () => books.run({ deleteOne: { filter } })),
      )
      const counts = answers.map(({ status }) => status!['deletedCount'] as number)
      assert.equal(
        counts.reduce((sum, count) => sum + count, 0),
        1,
      )
      assert.equal((await books.all()).length, 2)
    })

  test('requires a filter, which may be empty, and accepts no options', async () => {
    const books = await collections.create([{ _id: 1 }])
    await books.refuse({ deleteOne: {} }, 'COMMAND_FIELD_VALUE_INVALID')
    await books.refuse({ deleteOne: { filter: null } }, 'COMMAND_FIELD_VALUE_INVALID')
    await books.refuse(
      { deleteOne: { filter: {}, options: { a: 1 } } },
      'COMMAND_ACCEPTS_NO_OPTIONS',
    )
    await books.refuse(
      { deleteOne: { filter: {}, sort: { a: 2 } } },
      'SORT_CLAUSE_VALUE_INVALID',
    )
    const { status } = await books.run({ deleteOne: { filter: {}, options: {} } })
    assert.deepEqual(status, { deletedCount: 1 })
  })

  test('deletes a document that is still absent after a restart', async () => {
    const books = await collections.create(numbered(2))
    await books.run({ deleteOne: { filter: { _id: 0 } } })
    await collections.restart()
    assert.deepEqual(
      (await books.all()).map(({ _id }) => _id),
      [1],
    )
  })
})
