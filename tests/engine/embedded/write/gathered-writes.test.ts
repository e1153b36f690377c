/** Small writes of one turn of the event loop, which are sent to the writer thread together. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { EngineError } from '../../../../src/engine/errors.ts'
import { openEmbedded } from '../embedded-store.ts'
import { dropTarget, Store, where } from '../../store.ts'

describe('small writes in one turn of the event loop', () => {
  test('share commits, and each write has its own outcome', async (context) => {
    const { engine } = await openEmbedded(context)
    const store = await Store.create(engine, 'shared')
    await store.insert([{ _id: 'old', n: 0 }])
    const old = await store.one('old')
    const before = await engine.operations!.statistics()
    const ids = Array.from({ length: 32 }, (_, i) => i)
    const inserting = ids.map((_id) => store.insert([{ _id }]))
    const others = [
      store.insert([{ _id: 7 }]).then(([outcome]) => outcome),
      store.replace(old, { _id: 'old', n: 1 }),
      store.replace(old, { _id: 'old', n: 2 }),
      store.delete(old),
    ]
    assert.deepEqual(
      (await Promise.all(inserting)).flat(),
      ids.map(() => 'done'),
    )
    const outcomes = await Promise.all(others)
    assert.deepEqual(outcomes, ['exists', 'done', 'conflict', 'conflict'])
    const after = await engine.operations!.statistics()
    assert(after.commits - before.commits <= 36 / 8 + 1)
    assert.equal(await store.count(), 33)
    assert.deepEqual(await store.ids({ filter: where('n', 'eq', 1) }), ['old'])
  })

  test('to several collections reach each of them', async (context) => {
    const { engine } = await openEmbedded(context)
    const stores = [await Store.create(engine, 'one'), await Store.create(engine, 'two')]
    const writes = Array.from({ length: 20 }, (_, _id) =>
      stores.map((store) => store.insert([{ _id }])),
    )
    assert((await Promise.all(writes.flat())).flat().every((outcome) => outcome === 'done'))
    for (const store of stores) assert.equal(await store.count(), 20)
  })

  test('take effect before reads that follow them', async (context) => {
    const { engine } = await openEmbedded(context)
    const store = await Store.create(engine, 'ordered')
    const inserted = store.insert([{ _id: 1 }])
    const emptied = engine.truncate(store.target)
    const late = store.insert([{ _id: 1, late: true }])
    const many = store.insert([{ _id: 2 }, { _id: 1 }])
    await emptied
    assert.deepEqual(await inserted, ['done'])
    assert.deepEqual(await late, ['done'])
    assert.deepEqual(await many, ['done', 'exists'])
    assert.deepEqual(await store.ids({ filter: where('late', 'eq', true) }), [1])
  })

  test('keep their order while the store is being opened', async (context) => {
    const { engine } = await openEmbedded(context)
    for (let round = 0; round < 20; round++) {
      const store = await Store.create(engine, `order${round}`)
      const writes = Array.from({ length: 8 }, (_, n) => store.insert([{ _id: 1, n }]))
      const [first, ...others] = (await Promise.all(writes)).flat()
      assert.equal(first, 'done')
      assert(others.every((outcome) => outcome === 'exists'))
    }
  })

  test("are executed, or fail with the error 'gone', when the collection is dropped", async (context) => {
    const { engine } = await openEmbedded(context)
    for (let round = 0; round < 5; round++) {
      const store = await Store.create(engine, 'dropped')
      await store.insert([{ _id: 'first' }])
      const early = store.insert([{ _id: 'early' }])
      const dropped = dropTarget(engine, store.target)
      const late = store.insert([{ _id: 'late' }])
      const answers = Promise.allSettled([early, late])
      assert(await dropped)
      for (const answer of await answers)
        if (answer.status === 'fulfilled') assert.deepEqual(answer.value, ['done'])
        else assert(answer.reason instanceof EngineError && answer.reason.kind === 'gone')
    }
  })

  test('are executed before the engine closes', async (context) => {
    const { engine } = await openEmbedded(context)
    const store = await Store.create(engine, 'closed')
    await store.insert([{ _id: 1 }])
    const inserted = store.insert([{ _id: 2 }])
    const closed = engine.close()
    assert.deepEqual(await inserted, ['done'])
    await closed
  })

  test('add, keep or remove the search fields of a document', async (context) => {
    const { engine } = await openEmbedded(context)
    const store = await Store.create(engine, 'beside')
    const vector = { numbers: Float32Array.of(1, 2), form: 'array' } as const
    const search = { vectorize: 'a text', vector }
    await store.insert([{ _id: 1, n: 0 }])
    assert.equal(await store.replace(await store.one(1), { _id: 1, n: 1 }, search), 'done')
    const given = await store.one(1)
    assert.equal(await store.replace(given, { _id: 1, n: 2 }, given.search), 'done')
    const kept = await store.one(1)
    assert.deepEqual(kept.search, search)
    assert.equal(await store.replace(kept, { _id: 1, n: 3 }, {}), 'done')
    assert.deepEqual((await store.one(1)).search, {})
    // A record that was read without its search fields does not show whether the document has any.
    assert.equal(await store.replace(await store.one(1), { _id: 1, n: 4 }, search), 'done')
    const [unread] = await store.find({ filter: where('_id', 'eq', 1) })
    assert.equal(unread!.search, undefined)
    assert.equal(await store.replace(unread!, { _id: 1, n: 5 }, {}), 'done')
    assert.deepEqual((await store.one(1)).search, {})
  })
})
