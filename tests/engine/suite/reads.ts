/**
 * Reads of documents through the layer that completes what an engine does not serve. So the results
 * are the same whether the engine serves all of a query or nothing.
 */
import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import { ownCaller } from '../../../src/caller/caller.ts'
import { printJson } from '../../../src/json/print.ts'
import { everything, type Filter } from '../../../src/language/filters/filter.ts'
import { matches } from '../../../src/language/filters/matches.ts'
import { compareBy } from '../../../src/language/values/order.ts'
import type { PagePosition } from '../../../src/paging/read.ts'
import { among, by, exists, pathOf, Store, where } from '../store.ts'
import { assertFails } from './fails.ts'
import { documents, fill } from './many-documents.ts'
import { RunningEngine, type World } from './world.ts'

export function describeReads(name: string, world: World): void {
  describe(`${name}: reads of documents`, () => {
    const running = new RunningEngine(world)
    let made = 0
    const newStore = () => Store.create(running.engine, `store${made++}`)

    let store: Store
    const size = 700

    before(async () => {
      store = await newStore()
      await fill(store, size)
    })

    const filters: Readonly<Record<string, Filter>> = {
      'an empty filter': { kind: 'and', of: [] },
      'a filter that matches nothing': { kind: 'or', of: [] },
      'an id': where('_id', 'eq', 7),
      'a range of ids': where('_id', 'gt', size - 10),
      'a common value': where('group', 'eq', 2),
      'all values except a common one': where('group', 'ne', 2),
      'a range': where('n', 'gte', size / 2),
      'a range of dates': where('when', 'lt', { $date: 100 }),
      'one of several values': among('group', 'in', [1, 3, 'none']),
      'an element': where('list', 'eq', 3),
      'two elements': among('list', 'all', [1, 2]),
      'the element at a position': where('list.1', 'eq', 2),
      'an array': where('list', 'eq', [1, 2]),
      'an object': where('inner', 'eq', { deep: 1 }),
      'a nested field': where('inner.deep', 'eq', 1),
      'a missing field': exists('sometimes', false),
      'the size of an array': { kind: 'size', path: pathOf('list'), size: 3 },
      'both of two conditions': {
        kind: 'and',
        of: [where('group', 'eq', 1), where('n', 'lt', 100)],
      },
      'either of two conditions': {
        kind: 'or',
        of: [where('group', 'eq', 1), where('n', 'lt', 100)],
      },
    }
    const sorts = [
      by(),
      by('n'),
      by('-n'),
      by('group'),
      by('-group', 'n'),
      by('sometimes'),
      by('-_id'),
      by('list.0', '-inner'),
    ]

    for (const [name, filter] of Object.entries(filters))
      test(`find documents by ${name} in every order, page by page`, async () => {
        const expected = documents(size).filter((document) => matches(filter, document))
        assert.equal(await store.count(filter), expected.length)
        assert.equal(await store.count(filter, 5), Math.min(5, expected.length))
        for (const sort of sorts) {
          const found = (await store.find({ filter, sort }, 300)).map(({ text }) => text)
          const wanted = expected.toSorted(compareBy(sort)).map((each) => printJson(each))
          if (sort.length === 0) assert.deepEqual(found.toSorted(), wanted.toSorted())
          else assert.deepEqual(found, wanted)
          if (sort.length !== 1) continue
          const skipped = await store.find({ filter, sort, skip: 13 }, 400)
          assert.deepEqual(
            skipped.map(({ text }) => text),
            wanted.slice(13),
          )
        }
      })

    test('return the same texts with and without textsOnly', async () => {
      const store = await newStore()
      await store.insert(Array.from({ length: 25 }, (_, i) => ({ _id: i, odd: i % 2 })))
      const filters: Filter[] = [
        everything,
        where('odd', 'eq', 1),
        where('odd', 'eq', 7),
        where('odd', 'gte', 0),
        { kind: 'exists', path: pathOf('odd'), exists: false },
      ]
      const queries = filters.flatMap((filter) => [
        { filter },
        { filter, sort: by('-_id') },
        { filter, sort: by('-odd') },
        { filter, sort: by('-odd', '-_id'), withSearchFields: true },
      ])
      for (const query of queries)
        for (const pageSize of [1, 6, 12, 13, 25, 30]) {
          const texts = (await store.find(query)).map(({ text }) => text)
          const found: string[] = []
          let after: PagePosition | undefined
          do {
            const page = await store.page({ ...query, textsOnly: true }, pageSize, after)
            const { joined, records } = page
            const text = joined?.text ?? records.map((record) => record.text).join(',')
            if (text !== '') found.push(text)
            assert((joined?.count ?? records.length) <= pageSize)
            after = page.next
          } while (after !== undefined)
          assert.equal(found.join(','), texts.join(','))
        }
    })

    test('that are stable return each record once, even if it is changed between pages', async () => {
      const changing = await newStore()
      await fill(changing, 100)
      const filter = where('n', 'gte', 0)
      const seen: unknown[] = []
      let page = await changing.page({ filter, stable: true }, 7)
      for (;;) {
        for (const record of page.records) {
          seen.push(record.id)
          const n = 1000 + seen.length
          assert.equal(await changing.replace(record, { _id: record.id, n }), 'done')
        }
        if (page.next === undefined) break
        page = await changing.page({ filter, stable: true }, 7, page.next)
      }
      assert.equal(seen.length, 100)
      assert.equal(new Set(seen).size, 100)
    })

    test('find unchanged records exactly once while others are added and removed', async () => {
      const changing = await newStore()
      await fill(changing, 60)
      const filter = where('group', 'eq', 1)
      const expected = new Set(await changing.ids({ filter }))
      const seen: unknown[] = []
      let added = 1000
      let page = await changing.page({ filter, sort: by('n') }, 3)
      for (;;) {
        seen.push(...page.records.map(({ id }) => id))
        await changing.insert([{ _id: added++, group: 1, n: -1 }])
        const [other] = await changing.find({ filter: where('group', 'eq', 2) })
        if (other !== undefined) await changing.delete(other)
        if (page.next === undefined) break
        page = await changing.page({ filter, sort: by('n') }, 3, page.next)
      }
      assert.deepEqual(new Set(seen), expected)
      assert.equal(seen.length, expected.size)
    })

    test('fail when their caller is aborted', async () => {
      const large = await newStore()
      await fill(large, world.manyRecords)
      const filter = where('list.1', 'gte', 'nowhere')
      for (const sort of [by(), by('list.0')]) {
        const giveUp = new AbortController()
        const read = large.page({ filter, sort }, 10, undefined, ownCaller(giveUp.signal))
        giveUp.abort()
        await assert.rejects(read)
        await assert.rejects(
          large.page({ filter, sort }, 10, undefined, ownCaller(giveUp.signal)),
        )
      }
      const giveUp = new AbortController()
      const counted = large.count(filter, 10, ownCaller(giveUp.signal))
      giveUp.abort()
      await assert.rejects(counted)
    })

    test('compare only the indexed parts of objects and arrays', async () => {
      const name = `store${made++}`
      const some = await Store.create(running.engine, name, { deny: ['a.b'] })
      await some.insert([
        { _id: 1, a: { b: 1, c: 2 }, x: 1 },
        { _id: 2, a: { c: 2 }, x: 1 },
        { _id: 3, a: [{ b: 1, c: 2 }] },
        { _id: 4, a: { b: 1 } },
      ])
      const isTwo = where('a', 'eq', { c: 2 })
      const cases: readonly (readonly [Filter, readonly number[]])[] = [
        [isTwo, [1, 2]],
        [{ kind: 'and', of: [where('_id', 'eq', 1), isTwo] }, [1]],
        [{ kind: 'and', of: [where('x', 'eq', 1), isTwo] }, [1, 2]],
        [where('a', 'ne', { c: 2 }), [3, 4]],
        [where('a', 'eq', {}), [4]],
        [among('a', 'all', [{ c: 2 }]), [3]],
        [among('a', 'in', [{}, { c: 2 }]), [1, 2, 4]],
        [where('a.0', 'eq', { c: 2 }), [3]],
      ]
      for (const [filter, expected] of cases) {
        assert.deepEqual((await some.ids({ filter })).toSorted(), expected)
        assert.equal(await some.count(filter), expected.length)
      }
    })

    test('find nothing when no document can match', async () => {
      const long = 'p'.repeat(70_000)
      const sizeOf = (size: number): Filter => ({
        kind: 'size',
        path: pathOf('list'),
        size,
      })
      for (const filter of [
        where('_id', 'eq', long),
        where(long, 'eq', 1),
        where(long, 'eq', null),
        where(long, 'eq', [1]),
        where(long, 'gt', 1),
        among(long, 'in', [1, 2]),
        among(long, 'all', [1, 2]),
        exists(long),
        sizeOf(2 ** 31),
        sizeOf(1e30),
      ]) {
        assert.deepEqual(await store.ids({ filter }), [])
        assert.equal(await store.count(filter), 0)
      }
      assert.deepEqual(await store.ids({ filter: among('_id', 'in', [long, 7]) }), [7])
      assert.equal(await store.count(where(long, 'ne', 1)), size)
    })

    test('reject an invalid position', async () => {
      for (const position of ['x', '[]', '{}', '["n"]', '["s",1,2]', '["r","n",5,1]'])
        await assertFails('position', store.page({}, 5, { kind: 'engine', position }))
    })
  })
}
