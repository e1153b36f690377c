import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { Collections } from './collections.ts'

const count = 30
const options = { upsert: true }
const update = { $inc: { n: 1 } }
const replacement = { name: 'counter', n: 1 }

describe('concurrent upserts', () => {
  const collections = new Collections()

  const commands = {
    updateOne: (filter: object) => ({ updateOne: { filter, update, options } }),
    updateMany: (filter: object) => ({ updateMany: { filter, update, options } }),
    findOneAndUpdate: (filter: object) => ({
      findOneAndUpdate: { filter, update, options },
    }),
    findOneAndReplace: (filter: object) => ({
      findOneAndReplace: { filter, replacement, options },
    }),
  }

  for (const [name, command] of Object.entries(commands))
    test(`with the same filter create one document: ${name}`, async () => {
      const books = await collections.create()
      const bodies = await Promise.all(
        Array.from({ length: count }, (_, i) =>
          books.run(
            command(i % 2 === 0 ? { name: 'counter' } : { name: { $eq: 'counter' } }),
          ),
        ),
      )
      const upserted = bodies.filter(({ status }) => status!['upsertedId'] !== undefined)
      assert.equal(upserted.length, 1)
      const [document, ...others] = await books.all()
      assert.deepEqual(others, [])
      assert.equal(document!['n'], name === 'findOneAndReplace' ? 1 : count)
    })

  test('and concurrent deletes leave one document or none', async () => {
    const books = await collections.create()
    const filter = { name: 'counter' }
    for (let round = 0; round < 5; round++) {
      const all = Object.values(commands)
      await Promise.all(
        Array.from({ length: count }, (_, i) =>
          books.run(i % 5 === 4 ? { deleteOne: { filter } } : all[i % all.length]!(filter)),
        ),
      )
      assert((await books.all()).length <= 1)
    }
  })
})
