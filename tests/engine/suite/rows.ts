/** Rows: the effect of merges and deletes, and the order of reads. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { ownCaller } from '../../../src/caller/caller.ts'
import type { Row, Table } from '../../../src/engine/contract.ts'
import type { Column } from '../../../src/language/columns/column.ts'
import type { KeyCondition } from '../../../src/language/columns/key-conditions.ts'
import type { RowFilter, RowSortKey } from '../../../src/language/columns/row-filter.ts'
import { fromPlain } from '../../../src/json/plain.ts'
import { anyOrder, read, type PagePosition } from '../../../src/paging/read.ts'
import { search } from '../../../src/paging/search.ts'
import { showOne } from '../../../src/paging/show-all.ts'
import { rowSource } from '../../../src/tables/read/row-source.ts'
import { showRow } from '../../../src/tables/read/show-row.ts'
import { rowStoreOf } from '../../../src/tables/row-store.ts'
import { insertRows } from '../../../src/tables/write/insert-rows.ts'
import { dropTarget } from '../store.ts'
import { testServices } from '../test-models.ts'
import {
  anyRow,
  column,
  columns,
  compare,
  is,
  manyRows,
  nameOf,
  onText,
  onVector,
  onWord,
  TableStore,
} from '../table-store.ts'
import { assertFails } from './fails.ts'
import { inPartitions, RunningEngine, type World } from './world.ts'

const tester = ownCaller()
const key = { p: 'a', c: 1 }

export function describeRows(name: string, world: World): void {
  describe(`${name}: rows`, () => {
    const running = new RunningEngine(world)
    let made = 0

    const create = async () => {
      const keyspace = `rows${made++}`
      await running.engine.createKeyspace(keyspace)
      return TableStore.create(running.engine, 'rows', keyspace)
    }

    test('provide the columns that a filter or sort needs, even if their texts omit them', async () => {
      const rows = await create()
      await rows.put([{ ...key, word: 'one', text: 'more', v: [1, 2] }])
      const table = await rows.table()
      const first = { ...anyOrder, filter: anyRow, limit: 5 }
      const needed = [column('v'), column('text')]
      const query = { ...first, columns: [column('word')], needed }
      const { records } = await running.engine.readRows(table, query, tester)
      const [row] = records
      assert.equal(row!.get(column('text')), 'more')
      assert.deepEqual(row!.get(column('v')), Float32Array.of(1, 2))
      const shown = await showOne(showRow(row!, query.columns, { table }), tester)
      assert.deepEqual(JSON.parse(shown), { word: 'one' })
    })

    test('are found by a search on a column that is not requested', async () => {
      const rows = await create()
      await rows.addIndex(onVector)
      await rows.addIndex(onText)
      await rows.put(manyRows(40))
      const source = await rows.source()
      const near = { kind: 'vector', numbers: Float32Array.of(3, 0) } as const
      const words = { kind: 'lexical', terms: ['ant'], text: 'ant', having: 'all' } as const
      const searches = [
        { by: { ...near, column: column('v') }, filter: compare('ne', 'word', 'ant') },
        { by: { ...near, column: column('v') }, filter: anyRow },
        { by: { ...words, column: column('text') }, filter: compare('ne', 'word', 'ant') },
      ]
      for (const wanted of searches) {
        const names = async (shown: readonly Column[]) => {
          const asked = { ...wanted, limit: 4, columns: shown }
          const hits = await search(source, asked, tester)
          return hits.map(({ record }) => nameOf(record))
        }
        const expected = await names(columns)
        assert.equal(expected.length, 4)
        assert.deepEqual(await names([column('c')]), expected)
      }
    })

    test('provide the columns that the caller of a search needs, even if their texts omit them', async () => {
      const rows = await create()
      await rows.addIndex(onVector)
      await rows.put([{ ...key, word: 'one', text: 'more', v: [1, 2] }])
      const table = await rows.table()
      const numbers = Float32Array.of(3, 0)
      const by = { kind: 'vector', numbers, column: column('v') } as const
      const wanted = { by, filter: anyRow, limit: 4, columns: [column('word')] }
      const needed = [column('v'), column('text')]
      const hits = await search(await rows.source(), { ...wanted, needed }, tester)
      const { record } = hits[0]!
      assert.deepEqual(record.get(column('v')), Float32Array.of(1, 2))
      assert.equal(record.get(column('text')), 'more')
      const shown = await showOne(showRow(record, wanted.columns, { table }), tester)
      assert.deepEqual(JSON.parse(shown), { word: 'one' })
    })

    describe('merges', () => {
      test('set the given columns and keep others', async () => {
        const rows = await create()
        const vector = [0.5, -2]
        await rows.merge('insert', { ...key, word: 'one', v: vector, notes: { x: 'y' } })
        await rows.merge('update', { ...key, text: 'more' })
        await rows.merge('insert', { ...key, word: 'two' })
        assert.deepEqual(await rows.rows(), [
          { ...key, word: 'two', notes: { x: 'y' }, text: 'more', v: vector },
        ])
        await rows.merge('update', { ...key, word: undefined, v: undefined })
        assert.deepEqual(await rows.rows(), [{ ...key, notes: { x: 'y' }, text: 'more' }])
        await running.assertSound(await rows.table())
      })

      test('keep an inserted row when its last value is cleared', async () => {
        const rows = await create()
        await rows.merge('insert', { ...key, word: 'one' })
        await rows.merge('update', { ...key, word: undefined })
        assert.deepEqual(await rows.rows(), [key])
        await rows.merge('insert', { p: 'b', c: 1 })
        assert.deepEqual(await rows.rows(), [key, { p: 'b', c: 1 }])
      })

      test('delete a row created by updates when its last value is cleared', async () => {
        const rows = await create()
        for (const last of [{ word: 'one' }, { v: [1, 2] }, { tags: ['x'] }]) {
          await rows.merge('update', { ...key, ...last })
          assert.deepEqual(await rows.rows(), [{ ...key, ...last }])
          const [name] = Object.keys(last)
          await rows.merge('update', { ...key, [name!]: undefined })
          assert.deepEqual(await rows.rows(), [])
        }
        assert.equal(await running.engine.estimateCount(await rows.table()), 0)
        await running.assertSound(await rows.table())
      })

      test('keep a row created by updates once it was also inserted', async () => {
        const rows = await create()
        await rows.merge('update', { ...key, word: 'one' })
        await rows.merge('insert', key)
        await rows.merge('update', { ...key, word: undefined })
        assert.deepEqual(await rows.rows(), [key])
      })

      test('create no row by an update without values', async () => {
        const rows = await create()
        assert.equal(await rows.merge('update', { ...key, word: undefined }), 'done')
        const elements = { tags: { kind: 'remove', elements: ['x'] } } as const
        assert.equal(await rows.merge('update', key, elements), 'done')
        assert.deepEqual(await rows.rows(), [])
      })

      test('add elements to lists, sets and maps, and create missing collections', async () => {
        const rows = await create()
        const add = (elements: Record<string, readonly (string | number | string[])[]>) =>
          rows.merge('update', key, changesOf('add', elements))
        await add({ tags: ['b', 'a'], numbers: [3, 1, 3], notes: [['k', 'v']] })
        const first = { tags: ['b', 'a'], numbers: [1, 3], notes: { k: 'v' } }
        assert.deepEqual(await rows.rows(), [{ ...key, ...first }])
        await add({
          tags: ['a', 'c'],
          numbers: [2, 1],
          notes: [
            ['k', 'w'],
            ['a', 'b'],
          ],
        })
        assert.deepEqual(await rows.rows(), [
          {
            ...key,
            tags: ['b', 'a', 'a', 'c'],
            numbers: [1, 2, 3],
            notes: { a: 'b', k: 'w' },
          },
        ])
      })

      test('remove elements, and collections that become empty', async () => {
        const rows = await create()
        const remove = (elements: Record<string, readonly (string | number)[]>) =>
          rows.merge('update', key, changesOf('remove', elements))
        const full = { tags: ['x', 'y', 'x'], numbers: [1, 2], notes: { k: 'v', l: 'w' } }
        await rows.merge('update', { ...key, ...full })
        await remove({ tags: ['x', 'none'], numbers: [2], notes: ['k', 'none'] })
        const left = { tags: ['y'], numbers: [1], notes: { l: 'w' } }
        assert.deepEqual(await rows.rows(), [{ ...key, ...left }])
        await remove({ tags: ['y'] })
        assert.deepEqual(await rows.rows(), [{ ...key, numbers: [1], notes: { l: 'w' } }])
        await remove({ numbers: [1], notes: ['l'] })
        assert.deepEqual(await rows.rows(), [])
      })

      test('that run concurrently are all applied', async () => {
        const rows = await create()
        const outcomes = await Promise.all([
          ...Array.from({ length: 30 }, (_, i) =>
            rows.merge('update', key, changesOf('add', { numbers: [i], tags: [`${i}`] })),
          ),
          rows.merge('update', { ...key, word: 'one' }),
          rows.merge('insert', { ...key, text: 'two' }),
        ])
        assert(outcomes.every((outcome) => outcome === 'done'))
        const [row] = (await rows.rows()) as { numbers: number[]; tags: string[] }[]
        assert.deepEqual(
          row!.numbers,
          Array.from({ length: 30 }, (_, i) => i),
        )
        assert.equal(new Set(row!.tags).size, 30)
        assert.deepEqual(
          { ...row, numbers: 0, tags: 0 },
          {
            ...{ ...key, word: 'one', text: 'two' },
            ...{ numbers: 0, tags: 0 },
          },
        )
      })

      test('in one call run in order, each on the result of the previous merges', async () => {
        const rows = await create()
        const merges = [
          await rows.mergeOf('update', { ...key, word: 'one' }),
          await rows.mergeOf('update', key, changesOf('add', { tags: ['x'] })),
          await rows.mergeOf('update', { ...key, word: undefined }),
          await rows.mergeOf('update', key, changesOf('add', { tags: ['y'] })),
        ]
        const { engine } = running
        const outcomes = await engine.mergeRows(await rows.table(), merges, {
          sizeMax: 1000,
        })
        assert.deepEqual(outcomes, ['done', 'done', 'done', 'done'])
        assert.deepEqual(await rows.rows(), [{ ...key, tags: ['x', 'y'] }])
        assert.deepEqual(await engine.mergeRows(await rows.table(), [], { sizeMax: 1 }), [])
      })

      if (world.refusesLargeRows)
        test('reject rows that would be too large, whether ordered or not', async () => {
          const rows = await create()
          await rows.merge('insert', { ...key, word: 'small', text: 'x'.repeat(50) })
          const merges = [
            await rows.mergeOf('insert', { p: 'b', c: 1 }),
            await rows.mergeOf('update', { ...key, word: 'x'.repeat(60) }),
            await rows.mergeOf('insert', { p: 'c', c: 1 }),
          ]
          const table = await rows.table()
          const merge = (ordered: boolean) =>
            running.engine.mergeRows(table, merges, { sizeMax: 100, ordered })
          const before = await rows.rows()
          const [one, two, three] = await merge(true)
          assert.deepEqual([one, three], ['done', 'skipped'])
          assert(typeof two === 'object' && 'tooLarge' in two)
          assert(two.tooLarge > 110 && two.tooLarge < 200)
          assert.deepEqual(await rows.rows(), [...before, { p: 'b', c: 1 }])
          assert.deepEqual(await merge(false), ['done', two, 'done'])
          assert.equal((await rows.rows()).length, 3)
        })
    })

    describe('deletes', () => {
      const partition = (...values: string[]): [string, KeyCondition] => [
        'p',
        { eq: values },
      ]
      const left = async (...conditions: readonly (readonly [string, KeyCondition])[]) => {
        const rows = await create()
        await rows.put(manyRows(25))
        const { engine } = running
        await engine.deleteRows(await rows.table(), new Map(conditions), tester)
        await running.assertSound(await rows.table())
        return inPartitions(await rows.find(), world)
      }
      const all = ['p0', 'p1', 'p2', 'p3', 'p4'].flatMap((p) =>
        [4, 3, 2, 1, 0].map((c) => `${p} ${c}`),
      )
      const without = (isGone: (p: string, c: number) => boolean) =>
        all.filter((row) => !isGone(row.slice(0, 2), Number(row.slice(3))))

      test('remove one row by its whole key, or nothing if no row has this key', async () => {
        assert.deepEqual(
          await left(partition('p1'), ['c', { eq: [3] }]),
          without((p, c) => p === 'p1' && c === 3),
        )
        assert.deepEqual(await left(partition('p1'), ['c', { eq: [7] }]), all)
      })

      test('remove rows by several keys', async () => {
        assert.deepEqual(
          await left(partition('p1', 'p3', 'none'), ['c', { eq: [3, 0] }]),
          without((p, c) => (p === 'p1' || p === 'p3') && (c === 3 || c === 0)),
        )
      })

      test('remove one or several partitions', async () => {
        assert.deepEqual(
          await left(partition('p2')),
          without((p) => p === 'p2'),
        )
        assert.deepEqual(
          await left(partition('p2', 'p4')),
          without((p) => p === 'p2' || p === 'p4'),
        )
      })

      test('remove ranges of a partition', async () => {
        const bound = (value: number, inclusive: boolean) => ({ value, inclusive })
        const cases: readonly (readonly [KeyCondition, (c: number) => boolean])[] = [
          [{ low: bound(2, true) }, (c) => c >= 2],
          [{ low: bound(2, false) }, (c) => c > 2],
          [{ high: bound(2, true) }, (c) => c <= 2],
          [{ high: bound(2, false) }, (c) => c < 2],
          [{ low: bound(1, false), high: bound(3, true) }, (c) => c > 1 && c <= 3],
          [{ low: bound(3, true), high: bound(1, true) }, () => false],
        ]
        for (const [range, isGone] of cases)
          assert.deepEqual(
            await left(partition('p1'), ['c', range]),
            without((p, c) => p === 'p1' && isGone(c)),
          )
      })

      test('remove all values of a row, so that none reappears when the row is written again', async () => {
        const rows = await create()
        await rows.merge('insert', { ...key, word: 'one', v: [1, 2], tags: ['x'] })
        await rows.remove([key])
        assert.deepEqual(await rows.rows(), [])
        await rows.merge('update', { ...key, text: 'new' })
        assert.deepEqual(await rows.rows(), [{ ...key, text: 'new' }])
        await rows.merge('update', { ...key, text: undefined })
        assert.deepEqual(await rows.rows(), [])
      })
    })

    describe('reads', () => {
      const sortBy = (name: string, direction: 1 | -1): RowSortKey => {
        return { column: column(name), direction }
      }

      test('sort by any columns, page by page, with ties in stored order', async () => {
        const rows = await create()
        const some = manyRows(60)
        await rows.put(some)
        const stored = inPartitions(await rows.find(), world)
        const byName = new Map(some.map((row) => [`${row.p} ${row.c}`, row]))
        const sorts: readonly (readonly RowSortKey[])[] = [
          [sortBy('word', 1)],
          [sortBy('word', -1)],
          [sortBy('word', 1), sortBy('c', 1)],
          [sortBy('c', -1)],
          [sortBy('c', 1), sortBy('p', -1)],
        ]
        for (const sort of sorts) {
          const expected = stored.toSorted((a, b) => {
            for (const { column: by, direction } of sort) {
              const of = (name: string) => byName.get(name)![by.name as 'word' | 'c']!
              if (of(a) !== of(b)) return (of(a) < of(b) ? -1 : 1) * direction
            }
            return 0
          })
          for (const pageSize of [7, 100]) {
            assert.deepEqual(await rows.find(anyRow, { sort, pageSize }), expected)
            const skipped = await rows.find(anyRow, { sort, pageSize, skip: 9 })
            assert.deepEqual(skipped, expected.slice(9))
          }
        }
      })

      test('reverse the order of ties when one partition is read backwards', async () => {
        const keyspace = `rows${made++}`
        const { engine } = running
        await engine.createKeyspace(keyspace)
        const int = { type: 'int' } as const
        await engine.changeSchema(keyspace, () => ({
          kind: 'createTable',
          name: 'rows',
          columns: ['p', 'c', 'd'].map((name) => ({ name, type: int })),
          partitionBy: ['p'],
          partitionSort: [
            { column: 'c', direction: 1 },
            { column: 'd', direction: -1 },
          ],
        }))
        const table = (await engine.findTarget(keyspace, 'rows')) as Table
        const services = { engine, ...testServices }
        const store = rowStoreOf(services, table, {})
        const some = [11, 12, 21, 22].flatMap((n) => [
          { p: 1, c: Math.floor(n / 10), d: n % 10 },
          { p: 2, c: Math.floor(n / 10), d: n % 10 },
        ])
        await insertRows(store, some.map(fromPlain), true, tester)
        const p = store.columns.get('p')!
        const found = async (filter: RowFilter, names: Record<string, 1 | -1>) => {
          const sort = Object.entries(names).map(([name, direction]) => {
            return { column: store.columns.get(name)!, direction }
          })
          const shown: string[] = []
          for (let after: PagePosition | undefined, isMore = true; isMore;) {
            const query = { filter, sort, after, limit: 3, columns: store.shownColumns }
            const wanted = { ...anyOrder, ...query, lookAhead: true }
            const page = await read(rowSource(store), wanted, tester)
            const digit = (row: Row, name: string) =>
              row.get(store.columns.get(name)!) as number
            shown.push(...page.records.map((row) => `${digit(row, 'c')}${digit(row, 'd')}`))
            after = page.next
            isMore = after !== undefined
          }
          return shown.join(' ')
        }
        const one: RowFilter = { kind: 'eq', column: p, part: 'value', operands: [1] }
        assert.equal(await found(one, {}), '12 11 22 21')
        assert.equal(await found(one, { c: 1 }), '12 11 22 21')
        assert.equal(await found(one, { c: -1 }), '21 22 11 12')
        assert.equal(await found(one, { c: -1, d: 1 }), '21 22 11 12')
        assert.equal(await found(one, { c: -1, d: -1 }), '22 21 12 11')
        assert.equal(await found(anyRow, { c: -1 }), '22 21 22 21 12 11 12 11')
      })

      test('return rows without a value first in an ascending sort', async () => {
        const rows = await create()
        await rows.put([
          { p: 'a', c: 1, word: 'x' },
          { p: 'b', c: 1 },
        ])
        const sort = [sortBy('word', 1)]
        assert.deepEqual(await rows.find(anyRow, { sort }), ['b 1', 'a 1'])
      })

      test('find unchanged rows exactly once while others are added and removed', async () => {
        const rows = await create()
        await rows.put(manyRows(40))
        const { engine } = running
        const table = await rows.table()
        const seen: string[] = []
        let after: string | undefined
        for (let step = 0; ; step++) {
          const query = { filter: anyRow, sort: [], skip: 0, limit: 3, after, columns }
          const page = await engine.readRows(table, query, tester)
          seen.push(...page.records.map(nameOf))
          // Step 2 removes the last row of the page, after which the next page starts.
          if (step === 2) await rows.remove([nameParts(seen.at(-1)!)])
          await rows.put([
            { p: 'a', c: step },
            { p: 'p3', c: 1000 + step },
          ])
          if (page.next === undefined) break
          after = page.next
        }
        const stayed = seen.filter((row) => /^p\d \d$/.test(row))
        assert.equal(new Set(seen).size, seen.length)
        assert.equal(stayed.length, 40)
      })

      test('count up to a maximum number, with and without a filter', async () => {
        const rows = await create()
        await rows.put(manyRows(30))
        assert.equal(await rows.count(anyRow), 30)
        assert.equal(await rows.count(is('word', 'cat')), 7)
        assert.equal(await rows.count(compare('gt', 'c', 3)), 10)
        assert.equal(await rows.count(anyRow, 5), 5)
        assert.equal(await rows.count(is('word', 'cat'), 5), 5)
      })

      test('reject an invalid position', async () => {
        const rows = await create()
        const table = await rows.table()
        for (const after of ['x', '{}', '["n"]', '[]']) {
          const query = { filter: anyRow, sort: [], skip: 0, limit: 3, after, columns }
          await assertFails('position', running.engine.readRows(table, query, tester))
        }
      })
    })

    describe('calls', () => {
      /** One call of each engine method that takes a table. */
      const calls = async (rows: TableStore) => {
        const { engine } = running
        const table = await rows.table()
        const query = { filter: anyRow, sort: [], skip: 0, limit: 3, columns }
        const by = {
          kind: 'vector',
          column: column('v'),
          numbers: Float32Array.of(1, 2),
        } as const
        const merge = await rows.mergeOf('insert', key)
        return {
          table,
          asked: [
            () => engine.readRows(table, { ...query, after: undefined }, tester),
            () => engine.countRows(table, anyRow, 5, tester),
            () =>
              engine.searchRows(table, { by, filter: anyRow, limit: 3, columns }, tester),
            () => engine.mergeRows(table, [merge], { sizeMax: 1000 }),
            () => engine.deleteRows(table, new Map([['p', { eq: ['a'] }]]), tester),
            () => engine.truncate(table),
            () => engine.estimateCount(table),
          ],
        }
      }

      test("fail with the error 'changed' when the schema of the table has changed", async () => {
        const rows = await create()
        await rows.addIndex(onVector)
        await rows.put([key])
        const old = await calls(rows)
        await Promise.all(old.asked.slice(0, 3).map((ask) => ask()))
        await rows.addIndex(onWord)
        for (const ask of old.asked) await assertFails('changed', ask())
        assert.deepEqual(await rows.find(), ['a 1'])
        assert.equal((await rows.table()).uid, old.table.uid)
      })

      test("fail with the error 'gone' when the table was dropped, even if a new table has its name", async () => {
        const rows = await create()
        await rows.addIndex(onVector)
        const old = await calls(rows)
        assert(await dropTarget(running.engine, old.table))
        for (const ask of old.asked) await assertFails('gone', ask())
        const { keyspace } = old.table
        const again = await TableStore.create(running.engine, 'rows', keyspace)
        await again.put([key])
        for (const ask of old.asked) await assertFails('gone', ask())
        assert.deepEqual(await again.find(), ['a 1'])
        assert.notEqual((await again.table()).uid, old.table.uid)
      })
    })
  })
}

function changesOf(
  kind: 'add' | 'remove',
  elements: Readonly<Record<string, readonly (string | number | string[])[]>>,
) {
  return Object.fromEntries(
    Object.entries(elements).map(([name, changed]) => [name, { kind, elements: changed }]),
  )
}

function nameParts(name: string): { p: string; c: number } {
  const [p, c] = name.split(' ')
  return { p: p!, c: Number(c) }
}
