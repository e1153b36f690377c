/** Vector searches of documents. They may miss a few neighbours, but their hits are exact. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Write } from '../../../src/engine/contract.ts'
import { printJson } from '../../../src/json/print.ts'
import type { Value } from '../../../src/json/value.ts'
import { dropTarget, where } from '../store.ts'
import { VectorWorld } from '../vector-world.ts'
import { assertFails, kindOf } from './fails.ts'
import { RunningEngine, type World } from './world.ts'

const seed = Number(process.env['SEED'] ?? 815)
const floor = 0.95
const uuid = '00000000-0000-4000-8000-000000000000'

export function describeVectors(name: string, world: World): void {
  describe(`${name}: vector searches (seed ${seed})`, () => {
    const running = new RunningEngine(world)
    let made = 0
    const create = (options: Parameters<typeof VectorWorld.create>[1] = {}) =>
      VectorWorld.create(running.engine, { name: `v${made++}`, seed, ...options })

    const idsOf = async (vectors: VectorWorld, vector: Float32Array, limit: number) =>
      (await vectors.search(vector, limit)).map(({ record }) => record.id)

    for (const metric of ['cosine', 'dot_product', 'euclidean'] as const)
      test(`find the nearest documents by ${metric}, with and without filters`, async () => {
        const vectors = await create({ metric })
        assert.deepEqual(await vectors.search(vectors.vector()), [])
        await vectors.insert(400)
        const filters = [undefined, where('even', 'eq', true), where('hundredth', 'eq', 7)]
        await running.eventually(async () => {
          for (const filter of filters) {
            const recall = await vectors.recall(filter)
            assert(recall >= floor, `recall ${recall} with ${JSON.stringify(filter)}`)
          }
        })
        const nothing = where('hundredth', 'eq', 'none')
        assert.deepEqual(await vectors.search(vectors.vector(), 10, nothing), [])
      })

    test('reflect every write', async () => {
      const vectors = await create()
      await vectors.insert(50)
      for (let i = 0; i < 20; i++) {
        const [kept, gone, lost] = [...vectors.held.keys()]
        const [vector, old] = [vectors.vector(), vectors.held.get(gone!)!.vector!]
        await vectors.replace(kept!, vector)
        await vectors.remove(gone!)
        await vectors.replace(lost!, undefined)
        await running.eventually(async () => {
          assert.deepEqual(await idsOf(vectors, vector, 1), [kept])
          const found = await idsOf(vectors, old, 100)
          assert(!found.includes(gone!) && !found.includes(lost!))
        })
        await vectors.remove(lost!)
        await vectors.insert(2)
      }
      await running.engine.truncate(vectors.target)
      vectors.held.clear()
      await running.eventually(async () =>
        assert.deepEqual(await vectors.search(vectors.vector()), []),
      )
      await vectors.insert(20)
      await running.eventually(async () => assert((await vectors.recall()) >= floor))
    })

    test('omit documents without a vector, and break ties by _id', async () => {
      const vectors = await create()
      const one = vectors.vector()
      await vectors.insert(60, () => one)
      for (const id of [1, 2, 3, 5, 8]) await vectors.replace(id, undefined)
      for (const id of [1, 2]) await vectors.replace(id, one)
      await running.eventually(async () =>
        assert.deepEqual(await idsOf(vectors, one, 5), [1, 2, 4, 6, 7]),
      )
    })

    test('omit documents whose score is below the minimum', async () => {
      const vectors = await create()
      await vectors.insert(90)
      const query = vectors.vector()
      const best = vectors.expected(query, 90)
      for (const filter of [undefined, where('even', 'eq', true)])
        for (const place of [0, 3, 40, 89]) {
          const scoreMin = best[place]!.score
          await running.eventually(async () => {
            const hits = await vectors.search(query, 90, filter, scoreMin)
            const expected = vectors.expected(query, 90, filter)
            assert.deepEqual(
              hits.map(({ record, score }) => ({ id: record.id, score })),
              expected.filter(({ score }) => score >= scoreMin),
            )
          })
        }
    })

    test('find documents with ids of every kind', async () => {
      const vectors = await create({ dimension: 2 })
      const ids: readonly Value[] = [
        ...['text', 1, 1.5, true, null],
        ...['1', '2'].map((digit) => new Map([['$uuid', uuid.replaceAll('0', digit)]])),
        ...['1', '2'].map((digit) => new Map([['$objectId', digit.repeat(24)]])),
        ...[1, 2].map((ms) => new Map([['$date', ms]])),
      ]
      const writes = ids.map((id, at): Write => {
        const numbers = Float32Array.of(1, at)
        const document = new Map([['_id', id]])
        const search = { vector: { numbers, form: 'array' } } as const
        const record = { id, text: printJson(document), document, search }
        return { kind: 'insert', record }
      })
      await running.engine.write(vectors.target, writes)
      await running.eventually(async () =>
        assert.deepEqual(await idsOf(vectors, Float32Array.of(1, 0), 20), ids),
      )
    })

    test('return no document twice while documents are written, and find the new documents afterwards', async () => {
      const vectors = await create()
      await vectors.insert(500)
      const writing = { now: true }
      const writes = (async () => {
        for (let i = 0; i < 10; i++) await vectors.insert(100)
      })().finally(() => (writing.now = false))
      do {
        const found = await idsOf(vectors, vectors.vector(), 10)
        assert.equal(new Set(found).size, world.seesVectorsAtOnce ? 10 : found.length)
      } while (writing.now)
      await writes
      await running.eventually(async () => assert((await vectors.recall()) >= floor))
    })

    test("return results, or fail with the error 'gone', when the collection is dropped meanwhile", async () => {
      const vectors = await create()
      await vectors.insert(500)
      const searches = Promise.allSettled(
        Array.from({ length: 20 }, () => vectors.search(vectors.vector())),
      )
      await dropTarget(running.engine, vectors.target)
      for (const outcome of await searches)
        if (outcome.status === 'rejected') assert.equal(kindOf(outcome.reason), 'gone')
      await assertFails('gone', vectors.search(vectors.vector()))
    })

    test('find only documents of their own collection', async () => {
      const one = await create()
      const two = await create({ seed: seed + 9, dimension: 40 })
      await one.insert(150)
      await two.insert(100)
      await running.eventually(async () => {
        for (const vectors of [one, two]) assert((await vectors.recall()) >= floor)
      })
    })

    test('find the nearest documents after the engine is opened again', async () => {
      const before = await create()
      await before.insert(100)
      await running.reopen()
      const again = await VectorWorld.open(running.engine, before.target.name, seed + 5)
      for (const [id, held] of before.held) again.held.set(id, held)
      await running.eventually(async () => assert((await again.recall()) >= floor))
    })
  })
}
