import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { startServer, type TestServer } from '../harness.ts'

const keyspace = '/default_keyspace'
const ok = { status: { ok: 1 } }

describe('deleteCollection', () => {
  let server: TestServer
  before(async () => (server = await startServer({ durable: false })))
  after(() => server.close())

  const run = (body: object) => server.command(keyspace, body)
  const names = async () =>
    (await run({ findCollections: {} })).body.status?.['collections']

  test('deletes a collection with its documents', async () => {
    await run({
      createCollection: { name: 'books', options: { vector: { dimension: 2 } } },
    })
    await server.command(`${keyspace}/books`, { insertOne: { document: { _id: 1 } } })
    assert.deepEqual((await run({ deleteCollection: { name: 'books' } })).body, ok)
    assert.deepEqual(await names(), [])
    const answer = await server.command(`${keyspace}/books`, { findOne: {} })
    assert.deepEqual(answer.codes, ['UNKNOWN_COLLECTION_OR_TABLE'])
  })

  test('allows a new collection of the same name, with other settings and no documents', async () => {
    for (const dimension of [2, 3]) {
      const options = { vector: { dimension } }
      const created = await run({ createCollection: { name: 'again', options } })
      assert.deepEqual(created.body, ok)
      const target = `${keyspace}/again`
      assert.equal(
        (await server.command(target, { countDocuments: {} })).body.status?.['count'],
        0,
      )
      await server.command(target, { insertOne: { document: { _id: 1 } } })
      assert.deepEqual((await run({ deleteCollection: { name: 'again' } })).body, ok)
    }
  })

  test('returns ok when the collection does not exist', async () => {
    for (const name of ['absent', 'not-a-name', 'n'.repeat(100)])
      assert.deepEqual((await run({ deleteCollection: { name } })).body, ok)
  })

  test('returns ok to all concurrent requests that delete the same collection', async () => {
    await run({ createCollection: { name: 'popular' } })
    const deleting = Array.from({ length: 10 }, () =>
      run({ deleteCollection: { name: 'popular' } }),
    )
    for (const answer of await Promise.all(deleting)) assert.deepEqual(answer.body, ok)
    assert.deepEqual(await names(), [])
  })

  test('keeps other collections', async () => {
    for (const name of ['one', 'One', 'one_more']) await run({ createCollection: { name } })
    await run({ deleteCollection: { name: 'one' } })
    assert.deepEqual(await names(), ['One', 'one_more'])
  })

  test('requires a name', async () => {
    for (const name of [undefined, null, '']) {
      const answer = await run({ deleteCollection: { name } })
      assert.deepEqual(answer.codes, ['COMMAND_FIELD_VALUE_INVALID'])
      assert.match(answer.body.errors![0]!.message, /command\.name/)
    }
  })

  test('accepts no options', async () => {
    const withOptions = (options: unknown) =>
      run({ deleteCollection: { name: 'absent', options } })
    assert.deepEqual((await withOptions({})).body, ok)
    assert.deepEqual((await withOptions(null)).body, ok)
    const answer = await withOptions({ force: true })
    assert.deepEqual(answer.codes, ['COMMAND_ACCEPTS_NO_OPTIONS'])
  })

  test('rejects a keyspace that does not exist', async () => {
    const answer = await server.command('/nowhere', { deleteCollection: { name: 'c' } })
    assert.deepEqual(answer.codes, ['UNKNOWN_KEYSPACE'])
  })
})
