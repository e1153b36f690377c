import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { Collections, numbered } from './collections.ts'

describe('findOne', () => {
  const collections = new Collections()

  test('returns null when nothing matches', async () => {
    const books = await collections.create()
    const { text } = await books.send({ findOne: { filter: { _id: 1 } } })
    assert.equal(text, '{"data":{"document":null}}')
  })

  test('finds a document by _id, by other conditions, and without a filter', async () => {
    const books = await collections.create([{ _id: 'a', n: 1 }])
    for (const filter of [{ _id: 'a' }, { n: 1 }, {}, { _id: 'a', n: 1 }]) {
      const { text } = await books.send({ findOne: { filter } })
      assert.equal(text, '{"data":{"document":{"_id":"a","n":1}}}')
    }
  })

  test('finds the first document in the order of the sort', async () => {
    const books = await collections.create(numbered(30))
    const first = async (sort: object) =>
      (await books.run({ findOne: { sort, filter: { even: true } } })).data!.document![
        '_id'
      ]
    assert.equal(await first({ n: 1 }), 0)
    assert.equal(await first({ n: -1 }), 28)
    assert.equal(await first({ missing: -1 }), 0)
  })

  test('applies a projection', async () => {
    const books = await collections.create([{ _id: 1, a: 1, b: 2 }])
    const { data } = await books.run({ findOne: { projection: { _id: 0, b: 1 } } })
    assert.deepEqual(data!.document, { b: 2 })
    await books.refuse(
      { findOne: { projection: 'a' } },
      'UNSUPPORTED_PROJECTION_DEFINITION',
    )
  })

  test('rejects the options limit, skip and pageState', async () => {
    const books = await collections.create()
    for (const name of ['limit', 'skip', 'pageState'])
      await books.refuse({ findOne: { options: { [name]: 1 } } }, 'COMMAND_FIELD_UNKNOWN')
  })

  test('returns a sortVector of null with includeSortVector when it does not sort by a vector', async () => {
    const books = await collections.create([{ _id: 1 }])
    const { data, status } = await books.run({
      findOne: { options: { includeSortVector: true, includeSimilarity: true } },
    })
    assert.deepEqual(data, { document: { _id: 1 } })
    assert.deepEqual(status, { sortVector: null })
  })
})
