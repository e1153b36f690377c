/** Regression tests of the embedded engine, each with a minimal reproduction. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { checkStore } from '../../../src/engine/embedded/backup/check.ts'
import { keyOf } from '../../../src/language/values/key.ts'
import { rangeOf } from '../../../src/engine/embedded/read/bounds.ts'
import { openEmbedded } from './embedded-store.ts'
import { among, by, exists, tester, pathOf, Store, where } from '../store.ts'
import { everything } from '../../../src/language/filters/filter.ts'
import { documentView } from '../../../src/engine/record-view.ts'

describe('the embedded engine', () => {
  test('finds a scalar in an array that is itself an element', async (context) => {
    const { engine } = await openEmbedded(context)
    const store = await Store.create(engine, 'nested')
    await store.insert([
      { _id: 1, a: [[1, 2]] },
      { _id: 2, a: [[0, [5]]] },
    ])
    assert.deepEqual(await store.ids({ filter: where('a.0', 'eq', 1) }), [1])
    assert.deepEqual(await store.ids({ filter: among('a.0', 'all', [1, 2]) }), [1])
    assert.deepEqual(await store.ids({ filter: where('a.0.1', 'eq', 5) }), [2])
    assert.deepEqual(await store.ids({ filter: where('a.0', 'eq', [1, 2]) }), [1])
  })

  test('reads a document whose sort value is unique', async (context) => {
    const { engine } = await openEmbedded(context)
    const store = await Store.create(engine, 'alone')
    await store.insert([
      { _id: 1, n: 1 },
      { _id: 2, n: 2, gone: true },
      { _id: 3, n: 3 },
    ])
    const wanted = { filter: exists('gone', false), sort: by('n') }
    assert.deepEqual(await store.ids(wanted), [1, 3])
  })

  test('ends a sorted page at its maximum size when some documents lack the value of the sort', async (context) => {
    const { engine } = await openEmbedded(context)
    const store = await Store.create(engine, 'sizes')
    const text = 'x'.repeat(100)
    await store.insert(
      Array.from({ length: 60 }, (_, _id) => ({ _id, text, ...(_id < 3 && { n: _id }) })),
    )
    const query = {
      ...{ filter: everything, sort: by('-n'), skip: 0, limit: 50, after: undefined },
      ...{ stable: false, withSearchFields: false, textsOnly: true, sizeMax: 1_000 },
    } as const
    const { records, next } = await engine.read(store.target, query, tester)
    assert.deepEqual(
      records.map(({ id }) => id),
      [2, 1, 0, 3, 4, 5, 6, 7, 8],
    )
    assert(next !== undefined)
  })

  test('applies skip to the first page only', async (context) => {
    const { engine } = await openEmbedded(context)
    const store = await Store.create(engine, 'skip')
    await store.insert([1, 2, 3, 4, 5, 6].map((_id) => ({ _id })))
    const query = {
      filter: everything,
      sort: by('_id'),
      skip: 1,
      limit: 2,
      stable: false,
      withSearchFields: false,
    }
    const first = await engine.read(store.target, { ...query, after: undefined }, tester)
    const second = await engine.read(store.target, { ...query, after: first.next }, tester)
    assert.deepEqual(
      second.records.map(({ id }) => id),
      [4, 5],
    )
  })

  test('sorts when (skip + limit) × documents is not a square number', async (context) => {
    const { engine } = await openEmbedded(context)
    const store = await Store.create(engine, 'large')
    await store.insert(Array.from({ length: 1500 }, (_, i) => ({ _id: i, n: i, all: 1 })))
    const wanted = { filter: where('all', 'eq', 1), sort: by('-n'), skip: 5 }
    assert.deepEqual((await store.ids(wanted, 1000)).slice(0, 2), [1494, 1493])
  })

  test('distinguishes names and values that contain NUL in the index', async (context) => {
    const { engine, fileOf } = await openEmbedded(context)
    const store = await Store.create(engine, 'nul')
    // The fields "a" and "a\u00000b" would have index entries with the same bytes if path and key
    // were concatenated.
    const both = { _id: 1, a: 'b\0\u0010', 'a\u00000b': null }
    await store.insert([both])
    await store.replace(await store.one(1), { ...both, list: [1] })
    await store.replace(await store.one(1), { _id: 1 })
    assert.deepEqual(checkStore(fileOf('nul'), documentView({})), [])
    assert.equal(await store.count(where('a', 'gte', '')), 0)
  })

  test('does not truncate a huge $size to a small one', async (context) => {
    const { engine } = await openEmbedded(context)
    const store = await Store.create(engine, 'size')
    await store.insert([
      { _id: 1, a: [] },
      { _id: 2, a: [1] },
    ])
    for (const size of [2 ** 32, 2 ** 32 + 1, 2 ** 40, Number.MAX_SAFE_INTEGER, 1e300])
      assert.equal(await store.count({ kind: 'size', path: pathOf('a'), size }), 0)
  })

  test('accepts filters with thousands of values', async (context) => {
    const { engine } = await openEmbedded(context)
    const store = await Store.create(engine, 'many')
    const numbers = Array.from({ length: 3000 }, (_, i) => i)
    await store.insert([
      { _id: 1, a: numbers, b: [[numbers]] },
      { _id: 2, a: [1] },
    ])
    assert.deepEqual(await store.ids({ filter: among('a', 'all', numbers) }), [1])
    assert.deepEqual(await store.ids({ filter: among('a', 'notAll', numbers) }), [2])
    assert.deepEqual(await store.ids({ filter: among('b.0.0', 'all', numbers) }), [1])
    const hundred = numbers.slice(0, 100)
    const of = Array.from({ length: 64 }, () => among('b.0.0.0.0', 'nin', hundred))
    assert.deepEqual(
      await store.ids({ filter: { kind: 'and', of }, sort: by('a') }),
      [1, 2],
    )
    const some = Array.from({ length: 64 }, () => among('b.0.0.0.0', 'in', hundred))
    assert.deepEqual(
      await store.ids({ filter: { kind: 'or', of: some }, sort: by('a') }),
      [],
    )
    assert.equal(await store.count({ kind: 'or', of: [...some, exists('a')] }), 2)
  })

  test('charges every value of a filter to the budget of a read', async (context) => {
    const { engine } = await openEmbedded(context)
    const store = await Store.create(engine, 'costly')
    await store.insert(Array.from({ length: 900 }, (_, i) => ({ _id: i, n: i % 100 })))
    const values = Array.from({ length: 97 }, (_, i) => i)
    const moved = async () => (await engine.operations!.statistics()).movedReads
    // Comparing each value with each document would take 87 300 lookups, which exceeds the
    // budget of the request thread.
    assert.equal(await store.count(among('n', 'nin', values)), 27)
    assert.equal(await moved(), 1)
    assert.equal(await store.count(among('n', 'nin', values.slice(0, 1))), 891)
    assert.equal(await moved(), 1)
  })

  test('finds nothing after the position of a document that was found by its _id', async (context) => {
    const { engine } = await openEmbedded(context)
    const store = await Store.create(engine, 'by-id')
    await store.insert([{ _id: 1 }])
    const query = {
      filter: where('_id', 'eq', 1),
      sort: by('n'),
      skip: 0,
      limit: 1,
      after: undefined,
      stable: false,
      withSearchFields: false,
    }
    const page = await engine.read(store.target, query, tester)
    const after = page.positionAfter(page.records[0]!)
    const next = await engine.read(store.target, { ...query, after }, tester)
    assert.deepEqual(next.records, [])
  })

  test('finds search fields when only listed paths are indexed', async (context) => {
    const { engine } = await openEmbedded(context)
    const store = await Store.create(engine, 'listed', { allow: ['a'] })
    await store.insert([{ _id: 1, a: 1 }])
    await store.replace(await store.one(1), { _id: 1, a: 1 }, { vector: null })
    // The index does not decide the first condition, so the engine parses the document.
    const of = [exists('a.0', false), exists('$vector')]
    assert.equal(await store.count({ kind: 'and', of }), 1)
  })

  test('does not modify the value of a comparison when it computes bounds', () => {
    const [low, high] = rangeOf({ kind: 'lte', value: 5 })
    assert(Buffer.from(low.key).equals(keyOf(5).subarray(0, 1)))
    assert(Buffer.from(high.key).equals(keyOf(5)))
  })
})
