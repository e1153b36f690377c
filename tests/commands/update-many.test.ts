import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { Collections, numbered, type Target } from './collections.ts'

/** Repeats the command while its reply has moreData, and returns the status of each reply. */
async function updateAll(books: Target, filter: object, update: object) {
  const statuses: Record<string, unknown>[] = []
  let pageState: unknown
  do {
    const { status } = await books.run({
      updateMany: { filter, update, options: pageState ? { pageState } : {} },
    })
    statuses.push(status!)
    pageState = status!['nextPageState']
  } while (pageState !== undefined)
  return statuses
}

describe('updateMany', () => {
  const collections = new Collections()

  test('updates matching documents', async () => {
    const books = await collections.create(numbered(10))
    const { text } = await books.send({
      updateMany: { filter: { even: true }, update: { $set: { seen: true } } },
    })
    assert.equal(text, '{"status":{"matchedCount":5,"modifiedCount":5}}')
    assert.equal((await books.all({ filter: { seen: true } })).length, 5)
  })

  test('updates 20 documents per call, and the next call continues with the next documents', async () => {
    for (const [count, matched] of [
      [20, [20]],
      [21, [20, 1]],
      [60, [20, 20, 20]],
    ] as const) {
      const books = await collections.create(numbered(count))
      const statuses = await updateAll(books, {}, { $inc: { n: 1000 } })
      assert.deepEqual(
        statuses.map((status) => status['matchedCount']),
        matched,
      )
      statuses.forEach((status, i) => {
        const more = i < matched.length - 1
        assert.equal(status['moreData'], more ? true : undefined)
        assert.equal(typeof status['nextPageState'], more ? 'string' : 'undefined')
      })
      const documents = await books.sorted()
      assert.deepEqual(
        documents.map(({ n }) => n),
        Array.from({ length: count }, (_, i) => i + 1000),
      )
    }
  })

  test('updates no document twice when changed documents still match', async () => {
    const books = await collections.create(numbered(70))
    await updateAll(books, { n: { $gte: 0 } }, { $inc: { n: 25, times: 1 } })
    assert((await books.all()).every(({ times }) => times === 1))
  })

  test('updates all documents even if changed documents no longer match', async () => {
    const books = await collections.create(numbered(70))
    const statuses = await updateAll(books, { n: { $lt: 1000 } }, { $set: { n: 2000 } })
    assert.equal(
      statuses.reduce((sum, status) => sum + (status['modifiedCount'] as number), 0),
      70,
    )
  })

  test('counts unchanged matches as matched and not as modified', async () => {
    const books = await collections.create([{ _id: 1, a: 1 }, { _id: 2 }])
    const { status } = await books.run({ updateMany: { update: { $set: { a: 1 } } } })
    assert.deepEqual(status, { matchedCount: 2, modifiedCount: 1 })
  })

  test('upserts when nothing matches', async () => {
    const books = await collections.create([{ _id: 1 }])
    const options = { upsert: true }
    const { status } = await books.run({
      updateMany: { filter: { _id: 'x', a: 1 }, update: { $set: { b: 2 } }, options },
    })
    assert.deepEqual(status, { matchedCount: 0, modifiedCount: 0, upsertedId: 'x' })
    const again = await books.run({
      updateMany: { filter: { _id: 'x' }, update: { $set: { b: 3 } }, options },
    })
    assert.deepEqual(again.status, { matchedCount: 1, modifiedCount: 1 })
    const mismatch = await books.run({
      updateMany: { filter: { _id: 'x', a: 5 }, update: { $set: { b: 4 } }, options },
    })
    assert.deepEqual(mismatch.status, { matchedCount: 0, modifiedCount: 0 })
    assert.deepEqual(await books.all({ filter: { _id: 'x' } }), [{ _id: 'x', a: 1, b: 3 }])
  })

  test('returns errors without a status when a document cannot be updated', async () => {
    const books = await collections.create([
      { _id: 1, n: 1 },
      { _id: 2, n: 'text' },
    ])
    const error = await books.refuse(
      { updateMany: { update: { $inc: { n: 1 } } } },
      'UNSUPPORTED_UPDATE_OPERATION_TARGET',
    )
    assert.equal(error.status, undefined)
    assert.deepEqual((await books.sorted())[1], { _id: 2, n: 'text' })
  })

  test('applies the updates of all concurrent calls', async () => {
    const books = await collections.create(
      Array.from({ length: 10 }, (_, i) => ({ _id: i, n: 0 })),
    )
    await Promise.all(
      Array.from({ length: 15 }, () =>
        books.run({ updateMany: { update: { $inc: { n: 1 } } } }),
      ),
    )
    assert((await books.all()).every(({ n }) => n === 15))
  })

  test('rejects page states of other queries, a sort, and a missing update', async () => {
    const books = await collections.create(numbered(50))
    const { data } = await books.run({ find: {} })
    const update = { $set: { a: 1 } }
    for (const pageState of [data!.nextPageState, 'made up'])
      await books.refuse(
        { updateMany: { update, options: { pageState } } },
        'COMMAND_FIELD_VALUE_INVALID',
      )
    await books.refuse({ updateMany: { update, sort: { a: 1 } } }, 'COMMAND_FIELD_UNKNOWN')
    await books.refuse({ updateMany: {} }, 'COMMAND_FIELD_VALUE_INVALID')
  })
})
