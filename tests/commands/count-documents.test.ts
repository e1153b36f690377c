import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { Collections, numbered } from './collections.ts'

describe('countDocuments', () => {
  const collections = new Collections({ countMax: 150 })

  test('counts zero in an empty collection', async () => {
    const books = await collections.create()
    const { text } = await books.send({ countDocuments: {} })
    assert.equal(text, '{"status":{"count":0}}')
  })

  test('counts matching documents', async () => {
    const books = await collections.create(numbered(31))
    const count = async (filter: object) =>
      (await books.run({ countDocuments: { filter } })).status!['count']
    assert.equal(await count({}), 31)
    assert.equal(await count({ even: true }), 16)
    assert.equal(await count({ n: { $lt: 10 }, even: false }), 5)
    assert.equal(await count({ _id: { $in: [1, 2, 3, 100] } }), 3)
    assert.equal(await count({ _id: { $in: [] } }), 0)
    assert.equal(await count({ $or: [{ n: 1 }, { even: true }] }), 17)
  })

  test('returns an exact count up to the limit', async () => {
    const books = await collections.create(numbered(150))
    assert.deepEqual((await books.run({ countDocuments: {} })).status, { count: 150 })
  })

  test('stops at the limit and reports moreData', async () => {
    const books = await collections.create(numbered(151))
    const more = { count: 150, moreData: true }
    assert.deepEqual((await books.run({ countDocuments: {} })).status, more)
    const { status } = await books.run({ countDocuments: { filter: { n: { $gte: 0 } } } })
    assert.deepEqual(status, more)
  })

  test('rejects options, a sort, and an invalid filter', async () => {
    const books = await collections.create()
    await books.refuse(
      { countDocuments: { options: { limit: 1 } } },
      'COMMAND_ACCEPTS_NO_OPTIONS',
    )
    await books.refuse({ countDocuments: { sort: { a: 1 } } }, 'COMMAND_FIELD_UNKNOWN')
    await books.refuse(
      { countDocuments: { filter: { a: { $nope: 1 } } } },
      'FILTER_UNSUPPORTED_OPERATOR',
    )
  })
})
