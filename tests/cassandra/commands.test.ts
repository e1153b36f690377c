/** Runs each command once on a real node. `npm run test:cassandra` runs all tests of commands. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { commandsAt } from '../../src/commands/dispatch/registry.ts'
import type { Engine } from '../../src/engine/contract.ts'
import { LetterModels, lettersCollection } from '../commands/letter-models.ts'
import { startServer, type Answer, type TestServer } from '../harness.ts'
import { TestKeyspaces } from './test-keyspaces.ts'

describe('a server on a cluster', () => {
  const sent = new Set<string>()
  let keyspaces: TestKeyspaces
  let engine: Engine
  let models: LetterModels
  let server: TestServer

  before(async () => {
    keyspaces = await TestKeyspaces.make()
    engine = await keyspaces.open()
    models = await LetterModels.start()
    server = await startServer({ checked: false, providers: models.settings }, engine)
  })

  after(async () => {
    await server.close()
    await models.close()
    await engine.close()
    await keyspaces.remove()
  })

  const send = async (path: string, body: object): Promise<Answer['body']> => {
    sent.add(Object.keys(body)[0]!)
    const { codes, text, body: answered } = await server.command(path, body)
    assert.deepEqual(codes, [], `${JSON.stringify(body)}: ${text}`)
    return answered
  }

  const status = async (path: string, body: object) => (await send(path, body)).status
  const documents = async (path: string, body: object) =>
    (await send(path, body)).data!.documents
  const document = async (path: string, body: object) =>
    (await send(path, body)).data!.document

  test('creates, lists and drops keyspaces', async () => {
    for (const noun of ['Keyspace', 'Namespace']) {
      await send('', { [`create${noun}`]: { name: 'shop' } })
      const listed = await status('', { [`find${noun}s`]: {} })
      const names = listed![`${noun.toLowerCase()}s`] as string[]
      assert.deepEqual(names.toSorted(), ['default_keyspace', 'shop'])
      await send('', { [`drop${noun}`]: { name: 'shop' } })
    }
  })

  test('lists embedding and reranking providers', async () => {
    for (const command of ['findEmbeddingProviders', 'findRerankingProviders'])
      assert(await status('', { [command]: {} }))
  })

  test('executes the commands of collections', async () => {
    const path = '/default_keyspace/letters'
    const options = lettersCollection
    await send('/default_keyspace', { createCollection: { name: 'letters', options } })
    const listed = await status('/default_keyspace', { findCollections: {} })
    assert.deepEqual(listed, { collections: ['letters'] })

    await send(path, { insertOne: { document: { _id: 1, n: 1, $hybrid: 'ant' } } })
    await send(path, {
      insertMany: {
        documents: [
          { _id: 2, n: 2, $hybrid: 'ant ant bee' },
          { _id: 3, n: 3, $hybrid: 'bee' },
        ],
      },
    })
    assert.deepEqual(await document(path, { findOne: { filter: { n: 2 } } }), {
      _id: 2,
      n: 2,
    })
    const sorted = await documents(path, {
      find: { filter: { n: { $gt: 1 } }, sort: { n: -1 } },
    })
    assert.deepEqual(sorted, [
      { _id: 3, n: 3 },
      { _id: 2, n: 2 },
    ])
    const nearest = await documents(path, { find: { sort: { $vectorize: 'bee' } } })
    assert.equal(nearest![0]!['_id'], 3)
    const similar = async (options: object) => {
      const found = await documents(path, { find: { sort: { $vector: [0, 1] }, options } })
      return found!.map(({ _id }) => _id)
    }
    assert.deepEqual(await similar({ minSimilarity: 0.75 }), [3, 2])
    assert.deepEqual(await similar({ diversity: 1, limit: 2 }), [3, 1])
    const lexical = await documents(path, { find: { sort: { $lexical: 'ant' } } })
    assert.deepEqual(lexical!.map(({ _id }) => _id).toSorted(), [1, 2])
    const reranked = await documents(path, {
      findAndRerank: { sort: { $hybrid: 'ant' } },
    })
    assert.deepEqual(
      reranked!.map(({ _id }) => _id),
      [2, 1, 3],
    )

    const inc = { $inc: { n: 10 } }
    await send(path, { updateOne: { filter: { _id: 1 }, update: inc } })
    assert.deepEqual(await status(path, { updateMany: { filter: {}, update: inc } }), {
      matchedCount: 3,
      modifiedCount: 3,
    })
    const returned = { returnDocument: 'after' }
    assert.deepEqual(
      await document(path, {
        findOneAndUpdate: { filter: { _id: 1 }, update: inc, options: returned },
      }),
      { _id: 1, n: 31 },
    )
    assert.deepEqual(
      await document(path, {
        findOneAndReplace: {
          filter: { _id: 2 },
          replacement: { other: true },
          options: returned,
        },
      }),
      { _id: 2, other: true },
    )
    assert.deepEqual(await status(path, { countDocuments: { filter: {} } }), { count: 3 })
    assert.deepEqual(await status(path, { estimatedDocumentCount: {} }), { count: 3 })
    assert.deepEqual(await document(path, { findOneAndDelete: { filter: { _id: 1 } } }), {
      _id: 1,
      n: 31,
    })
    await send(path, { deleteOne: { filter: { _id: 2 } } })
    assert.deepEqual(await status(path, { deleteMany: { filter: { n: 13 } } }), {
      deletedCount: 1,
    })
    await send('/default_keyspace', { deleteCollection: { name: 'letters' } })
  })

  test('executes the commands of tables', async () => {
    const keyspace = '/default_keyspace'
    const path = `${keyspace}/readings`
    const fields = { x: 'int' }
    await send(keyspace, { createType: { name: 'spot', definition: { fields } } })
    await send(keyspace, { alterType: { name: 'spot', add: { fields: { y: 'int' } } } })
    const types = await status(keyspace, { listTypes: {} })
    assert.deepEqual(types, { types: ['spot'] })

    const columns = {
      place: 'text',
      hour: 'int',
      words: 'text',
      near: { type: 'vector', dimension: 2 },
      at: { type: 'userDefined', udtName: 'spot' },
    }
    const primaryKey = { partitionBy: ['place'], partitionSort: { hour: -1 } }
    const definition = { columns, primaryKey }
    await send(keyspace, { createTable: { name: 'readings', definition } })
    assert.deepEqual(await status(keyspace, { listTables: {} }), { tables: ['readings'] })
    await send(path, { alterTable: { operation: { add: { columns: { n: 'bigint' } } } } })
    const index = (name: string, column: string) => ({ name, definition: { column } })
    await send(path, { createIndex: index('by_n', 'n') })
    await send(path, { createVectorIndex: index('by_near', 'near') })
    await send(path, { createTextIndex: index('by_words', 'words') })
    assert.deepEqual(await status(path, { listIndexes: {} }), {
      indexes: ['by_n', 'by_near', 'by_words'],
    })

    const oslo = { place: 'Oslo', hour: 1, n: 1, words: 'rain and wind', near: [1, 0] }
    await send(path, { insertOne: { document: oslo } })
    await send(path, {
      insertMany: {
        documents: [
          { place: 'Oslo', hour: 2, n: 2, at: { x: 1, y: 2 } },
          { place: 'Rome', hour: 1, n: 2, near: [0, 1] },
        ],
      },
    })
    assert.deepEqual(await document(path, { findOne: { filter: { n: 1 } } }), oslo)
    const hours = await documents(path, { find: { filter: { place: 'Oslo' } } })
    assert.deepEqual(
      hours!.map(({ hour }) => hour),
      [2, 1],
    )
    const nearest = await documents(path, { find: { sort: { near: [0, 1] } } })
    assert.equal(nearest![0]!['place'], 'Rome')
    const similar = async (options: object) => {
      const find = { sort: { near: [0, 1] }, projection: { place: 1 }, options }
      return documents(path, { find })
    }
    assert.deepEqual(await similar({ minSimilarity: 0.9 }), [{ place: 'Rome' }])
    assert.deepEqual(await similar({ diversity: 1 }), [
      { place: 'Rome' },
      { place: 'Oslo' },
    ])
    const words = await documents(path, { find: { sort: { words: 'wind' } } })
    assert.deepEqual(words, [oslo])

    const key = { place: 'Oslo', hour: 2 }
    await send(path, { updateOne: { filter: key, update: { $unset: { at: 1 } } } })
    assert.deepEqual(await document(path, { findOne: { filter: key } }), { ...key, n: 2 })
    await send(path, { deleteOne: { filter: key } })
    await send(path, { deleteMany: { filter: { place: 'Oslo' } } })
    assert.deepEqual(
      (await documents(path, { find: {} }))!.map(({ place }) => place),
      ['Rome'],
    )
    await send(keyspace, { dropIndex: { name: 'by_n' } })
    await send(path, { dropIndex: { name: 'by_near' } })
    await send(keyspace, { dropTable: { name: 'readings' } })
    await send(keyspace, { dropType: { name: 'spot' } })
  })

  test('has executed every command of the registry in the tests above', () => {
    const all = Object.values(commandsAt).flatMap((commands) => [...commands.keys()])
    assert.deepEqual(
      all.filter((name) => !sent.has(name)),
      [],
    )
  })
})
