/** Queries that compare, sort or filter by columns that the projection excludes. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Engine } from '../../src/engine/contract.ts'
import { startServer, type TestServer } from '../harness.ts'
import { TestKeyspaces } from './test-keyspaces.ts'

/**
 * More rows than the server reads with one request to the cluster, so that a search may need
 * several.
 */
const rowCount = 1_100
const atATime = 100
const path = '/default_keyspace/points'
const projection = { k: 1 }

describe('a query whose projection excludes columns that it needs', () => {
  let keyspaces: TestKeyspaces
  let engine: Engine
  let server: TestServer

  const send = async (body: object, target = path) => {
    const { codes, text, body: answered } = await server.command(target, body)
    assert.deepEqual(codes, [], text)
    return answered
  }
  const find = async (clauses: object) => (await send({ find: clauses })).data!.documents!
  const keysOf = async (clauses: object) =>
    (await find({ ...clauses, projection })).map((row) => {
      assert.deepEqual(Object.keys(row), ['k'])
      return row['k']
    })

  before(async () => {
    keyspaces = await TestKeyspaces.make()
    engine = await keyspaces.open()
    server = await startServer({ checked: false }, engine)
    const columns = {
      k: 'int',
      n: 'int',
      words: 'text',
      v: { type: 'vector', dimension: 2 },
    }
    const definition = { columns, primaryKey: 'k' }
    await send({ createTable: { name: 'points', definition } }, '/default_keyspace')
    const options = { metric: 'euclidean' }
    await send({
      createVectorIndex: { name: 'points_v', definition: { column: 'v', options } },
    })
    await send({
      createTextIndex: { name: 'points_words', definition: { column: 'words' } },
    })
    for (let first = 0; first < rowCount; first += atATime) {
      const documents = Array.from({ length: atATime }, (_, at) => {
        const k = first + at
        return { k, n: k, words: k % 100 === 0 ? 'rare word' : 'word', v: [k, 0] }
      })
      await send({ insertMany: { documents } })
    }
  })

  after(async () => {
    await server.close()
    await engine.close()
    await keyspaces.remove()
  })

  test('returns the nearest rows when one request cannot read all rows', async () => {
    const keys = await keysOf({ sort: { v: [0, 0] } })
    assert.equal(keys.length, 1_000)
    assert.deepEqual(keys.slice(0, 5), [0, 1, 2, 3, 4])
  })

  test('returns the nearest rows that match a filter, even if they are far from the vector', async () => {
    const filter = { n: { $gte: 1_050 } }
    const clauses = { filter, sort: { v: [0, 0] }, options: { limit: 3 } }
    assert.deepEqual(await keysOf(clauses), [1_050, 1_051, 1_052])
    const { data } = await send({ findOne: { filter, sort: { v: [0, 0] }, projection } })
    assert.deepEqual(data!.document, { k: 1_050 })
  })

  test('sorts by an excluded column', async () => {
    const filter = { words: { $match: 'rare' } }
    const options = { limit: 3 }
    assert.deepEqual(await keysOf({ filter, sort: { n: -1 }, options }), [1_000, 900, 800])
  })

  test('filters and searches by terms of an excluded column', async () => {
    const rare = Array.from({ length: rowCount / 100 }, (_, at) => at * 100)
    const byFilter = await keysOf({ filter: { words: { $match: 'rare' } } })
    const bySearch = await keysOf({ sort: { words: 'rare' } })
    const ascending = (keys: unknown[]) => (keys as number[]).toSorted((a, b) => a - b)
    assert.deepEqual([byFilter, bySearch].map(ascending), [rare, rare])
    const filter = { n: { $gte: 950 } }
    assert.deepEqual(await keysOf({ filter, sort: { words: 'rare' } }), [1_000])
  })
})
