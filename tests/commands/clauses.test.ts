/** Checks of clauses that all commands share. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { Collections } from './collections.ts'

const max = 10_000

function paths(count: number): Record<string, number> {
  return Object.fromEntries(Array.from({ length: count }, (_, i) => [`p${i}`, 1]))
}

describe('clauses', () => {
  const collections = new Collections()

  test('have a maximum number of parts, counted over all levels', async () => {
    const target = await collections.create([{ _id: 1, p5: 5, tags: [1] }])
    const { data } = await target.run({ find: { projection: paths(max) } })
    assert.deepEqual(data!.documents, [{ _id: 1, p5: 5 }])
    const tooMany = 'COMMAND_FIELD_VALUE_INVALID'
    await target.refuse({ find: { projection: paths(max + 1) } }, tooMany)
    await target.refuse({ find: { sort: paths(max + 1) } }, tooMany)
    for (const filter of [
      { tags: { $all: Array.from({ length: max }, (_, i) => i) } },
      { $or: Array.from({ length: max + 1 }, () => ({})) },
      { $and: Array.from({ length: 100 }, () => ({ $or: Array(100).fill({}) })) },
    ]) {
      await target.refuse({ find: { filter } }, tooMany)
      await target.refuse({ deleteOne: { filter } }, tooMany)
    }
  })

  test('are required in updates, and the error names the missing clause', async () => {
    const target = await collections.create([{ _id: 1 }])
    for (const command of ['updateOne', 'updateMany', 'findOneAndUpdate']) {
      const refusal = await target.refuse({ [command]: {} }, 'COMMAND_FIELD_VALUE_INVALID')
      assert.match(refusal.message, /^command\.updateClause cannot be `null`/)
    }
  })

  test('have a maximum number of paths in updates', async () => {
    const target = await collections.create([{ _id: 1 }])
    const { message } = await target.refuse(
      { updateOne: { update: { $unset: paths(max / 2), $inc: paths(max / 2 + 1) } } },
      'UNSUPPORTED_UPDATE_OPERATION_PARAM',
    )
    assert.match(message, /more than 10000 paths/)
    const { status } = await target.run({ updateOne: { update: { $unset: paths(max) } } })
    assert.equal(status!['matchedCount'], 1)
  })
})
