/** Vectors that are set after the insert of their row or document, before a node flushes them. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Engine } from '../../src/engine/contract.ts'
import { startServer, type TestServer } from '../harness.ts'
import { testLimits } from './connect.ts'
import { TestKeyspaces } from './test-keyspaces.ts'

const keyspace = '/default_keyspace'
const path = `${keyspace}/places`
const comparedMax = 250

describe('a search by vector within partitions', () => {
  let keyspaces: TestKeyspaces
  let engine: Engine
  let server: TestServer

  const send = async (target: string, body: object) => {
    const { codes, text, body: answered } = await server.command(target, body)
    assert.deepEqual(codes, [], text)
    return answered
  }
  const find = async (filter: object, limit = 10) => {
    const clauses = { filter, sort: { v: [1, 0] }, projection: { c: 1 } }
    const { data } = await send(path, { find: { ...clauses, options: { limit } } })
    return data!.documents!.map((row) => row['c'])
  }
  const set = (filter: object, v: readonly number[] | null) =>
    send(path, { updateOne: { filter, update: { $set: { v } } } })

  before(async () => {
    keyspaces = await TestKeyspaces.make()
    engine = await keyspaces.open({ limits: { ...testLimits, comparedMax } })
    server = await startServer({ checked: false }, engine)
    const columns = {
      p: 'text',
      c: 'int',
      n: 'int',
      v: { type: 'vector', dimension: 2 },
    }
    const primaryKey = { partitionBy: ['p'], partitionSort: { c: 1 } }
    const definition = { columns, primaryKey }
    await send(keyspace, { createTable: { name: 'places', definition } })
    const metric = { metric: 'euclidean' }
    const onVector = { column: 'v', options: metric }
    await send(path, { createVectorIndex: { name: 'places_v', definition: onVector } })
    await send(path, { createIndex: { name: 'places_n', definition: { column: 'n' } } })
    await send(path, {
      insertMany: {
        documents: [
          { p: 'a', c: 1, n: 1 },
          { p: 'a', c: 2, n: 2, v: [9, 9] },
          { p: 'a', c: 3, n: 3 },
          { p: 'b', c: 4, n: 1 },
          { p: 'b', c: 5, v: [1, 0] },
        ],
      },
    })
    await set({ p: 'a', c: 1 }, [1, 0])
    await set({ p: 'a', c: 3 }, [2, 0])
    await set({ p: 'b', c: 4 }, [1, 1])
    await set({ p: 'b', c: 5 }, null)
  })

  after(async () => {
    await server.close()
    await engine.close()
    await keyspaces.remove()
  })

  test('returns rows whose vectors were set after the insert', async () => {
    assert.deepEqual(await find({ p: 'a' }), [1, 3, 2])
    assert.deepEqual(await find({ p: 'a' }, 2), [1, 3])
    assert.deepEqual(await find({ p: 'b' }), [4])
    assert.deepEqual(await find({ p: { $in: ['a', 'b'] } }), [1, 3, 4, 2])
    assert.deepEqual(await find({}), [1, 3, 4, 2])
  })

  test('returns rows whose vectors were set after the insert, under further conditions', async () => {
    assert.deepEqual(await find({ p: 'a', c: 1 }), [1])
    assert.deepEqual(await find({ p: 'a', c: { $gte: 2 } }), [3, 2])
    assert.deepEqual(await find({ p: 'a', n: { $lte: 2 } }), [1, 2])
    assert.deepEqual(await find({ p: 'a', n: { $ne: 3 } }), [1, 2])
  })

  /** Inserts rows with their vectors. The first row gets its vector after the insert. */
  const insertMany = async (p: string, count: number) => {
    for (let first = 0; first < count; first += 100) {
      const documents = Array.from({ length: Math.min(100, count - first) }, (_, at) => {
        const c = first + at
        return c === 0 ? { p, c } : { p, c, v: [c + 1, 0] }
      })
      await send(path, { insertMany: { documents } })
    }
    await set({ p, c: 0 }, [1, 0])
  }
  const warningsOf = async (filter: object) => {
    const { status } = await send(path, { find: { filter, sort: { v: [1, 0] } } })
    return (status!.warnings ?? []).map(({ errorCode }) => errorCode)
  }

  test('compares all rows of a partition and returns the nearest', async () => {
    await insertMany('full', comparedMax)
    assert.deepEqual(await find({ p: 'full' }, 3), [0, 1, 2])
    assert.deepEqual(await find({ p: 'full', c: { $lt: 2 } }, 3), [0, 1])
    assert.deepEqual(await warningsOf({ p: 'full' }), [])
  })

  test('uses the index for a partition with too many rows to compare, and warns', async () => {
    await insertMany('many', comparedMax + 1)
    assert.deepEqual((await find({ p: 'many' }, 3)).slice(-2), [1, 2])
    assert.deepEqual(await find({ p: 'many', c: { $gte: 5 } }, 2), [5, 6])
    assert.deepEqual(await warningsOf({ p: 'many' }), ['VECTOR_SEARCH_MAY_MISS_ROWS'])
    assert.deepEqual(await warningsOf({ p: { $in: ['a', 'many'] } }), [
      'VECTOR_SEARCH_MAY_MISS_ROWS',
    ])
    assert.deepEqual(await warningsOf({}), [])
    assert.deepEqual(await find({ p: 'many', c: 0 }), [0])
    assert.deepEqual(await find({ p: 'many', c: { $lt: 200 } }, 2), [0, 1])
  })

  test('returns documents whose vectors were set after the insert, under a condition on _id', async () => {
    const options = { vector: { dimension: 2, metric: 'euclidean' } }
    await send(keyspace, { createCollection: { name: 'late', options } })
    await send(`${keyspace}/late`, {
      insertMany: { documents: [{ _id: 'x' }, { _id: 'y', $vector: [5, 5] }] },
    })
    const update = { $set: { $vector: [1, 0] } }
    await send(`${keyspace}/late`, { updateOne: { filter: { _id: 'x' }, update } })
    for (const filter of [{ _id: 'x' }, { _id: { $in: ['x', 'z'] } }]) {
      const clauses = { filter, sort: { $vector: [1, 0] } }
      const { data } = await send(`${keyspace}/late`, { find: clauses })
      assert.deepEqual(data!.documents, [{ _id: 'x' }])
    }
  })
})
