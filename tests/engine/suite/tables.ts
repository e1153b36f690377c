/** Tests of tables: the order of rows, indexes, searches, and changed schemas. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { ownCaller } from '../../../src/caller/caller.ts'
import { EngineError } from '../../../src/engine/errors.ts'
import type { RowFilter, RowSortKey } from '../../../src/language/columns/row-filter.ts'
import {
  anyRow,
  both,
  column,
  compare,
  is,
  manyRows,
  onTags,
  onText,
  onVector,
  onWord,
  TableStore,
} from '../table-store.ts'
import { inPartitions, RunningEngine, type World } from './world.ts'

/** A sort in the reverse of the stored order of a partition. */
const backwards: readonly RowSortKey[] = [{ column: column('c'), direction: 1 }]

export function describeTables(name: string, world: World): void {
  describe(`${name}: tables`, () => {
    const running = new RunningEngine(world)
    let made = 0

    /** Creates a table in a new keyspace, so that index names are not taken. */
    async function create() {
      const keyspace = `tables${made++}`
      await running.engine.createKeyspace(keyspace)
      const { engine } = running
      const rows = await TableStore.create(engine, 'rows', keyspace)
      const sound = async () => running.assertSound(await rows.table())
      return { engine, keyspace, rows, sound }
    }

    describe('rows of a table', () => {
      test('are ordered by partition, and within it in the declared order', async () => {
        const { rows } = await create()
        await rows.put([
          { p: 'b', c: 1 },
          { p: 'a', c: -5 },
          { p: 'a', c: 7 },
          { p: 'ab', c: 0 },
          { p: 'b', c: 300 },
        ])
        const expected = ['a 7', 'a -5', 'ab 0', 'b 300', 'b 1']
        assert.deepEqual(await rows.find(), expected)
        assert.deepEqual(await rows.find(anyRow, { pageSize: 2 }), expected)
        assert.deepEqual(
          await rows.find(anyRow, { pageSize: 2, textsOnly: true }),
          expected,
        )
        for (const textsOnly of [true, false])
          assert.deepEqual(
            await rows.find(is('p', 'b'), { sort: backwards, pageSize: 1, textsOnly }),
            ['b 1', 'b 300'],
          )
      })

      test('are found by partition, in the declared order', async () => {
        const { rows } = await create()
        await rows.put(manyRows(200))
        const filter = is('p', 'p3')
        const expected = Array.from({ length: 40 }, (_, i) => `p3 ${39 - i}`)
        assert.deepEqual(await rows.find(filter), expected)
        assert.deepEqual(await rows.find(filter, { textsOnly: true }), expected)
        assert.equal(await rows.count(filter), 40)
        // Without a sort, the engine may return the rows in any order, but all pages must use the
        // same order.
        assert.deepEqual(new Set(await rows.find(filter, { sort: [] })), new Set(expected))
      })

      test('are found by a list of partitions, in order and each once', async () => {
        const { rows } = await create()
        await rows.put(manyRows(100))
        const partitions = ['p4', 'p1', 'p9', 'p1', 'p2'].map((p) => is('p', p))
        const filter: RowFilter = { kind: 'or', of: partitions }
        const expected = ['p1', 'p2', 'p4'].flatMap((p) =>
          Array.from({ length: 20 }, (_, i) => `${p} ${19 - i}`),
        )
        for (const textsOnly of [true, false])
          assert.deepEqual(
            inPartitions(await rows.find(filter, { textsOnly }), world),
            expected,
          )
        assert.equal(await rows.count(filter), 60)
        const some: RowFilter = { kind: 'and', of: [filter, is('word', 'cat')] }
        const cats = (await rows.find(is('word', 'cat'))).filter(
          (name) => !/^p[03] /.test(name),
        )
        assert.deepEqual(
          inPartitions(await rows.find(some), world),
          inPartitions(cats, world),
        )
        assert.deepEqual(await rows.find({ kind: 'and', of: [filter, is('p', 'p3')] }), [])
      })

      test('are identified by their keys', async () => {
        const { rows } = await create()
        await rows.put([{ p: 'a', c: 1, word: 'one' }])
        await rows.put([{ p: 'a', c: 1, word: 'two' }])
        assert.deepEqual(await rows.find(), ['a 1'])
        assert.deepEqual(await rows.find(is('word', 'one')), [])
        assert.deepEqual(await rows.find(is('word', 'two')), ['a 1'])
      })
    })

    describe('an index of a table', () => {
      test('finds the same rows as a scan, whether written before or after its creation', async () => {
        const { rows, sound } = await create()
        const all = manyRows(100)
        await rows.put(all.slice(0, 50))
        const scan = async (filter: RowFilter) => (await rows.find(filter)).toSorted()
        await rows.addIndex(onWord)
        await rows.addIndex(onTags)
        await rows.put(all.slice(50))
        await rows.put(all.slice(0, 10).map((row) => ({ ...row, word: 'new' })))
        await rows.remove(all.slice(90))
        await sound()
        const filters: RowFilter[] = [
          is('word', 'new'),
          is('word', 'cat'),
          compare('in', 'tags', 'dog'),
          compare('nin', 'tags', 'dog', 'ant'),
          compare('gt', 'word', 'bee'),
          { kind: 'and', of: [is('word', 'dog'), compare('ne', 'c', 3)] },
        ]
        const indexed = await Promise.all(filters.map(scan))
        await rows.dropIndex(onWord.name)
        await rows.dropIndex(onTags.name)
        await sound()
        assert.deepEqual(await Promise.all(filters.map(scan)), indexed)
        assert.equal(indexed[0]!.length, 10)
      })

      test('can be created again after it was dropped', async () => {
        const { rows, sound } = await create()
        await rows.put([{ p: 'a', c: 1, word: 'old' }])
        await rows.addIndex(onWord)
        await rows.dropIndex(onWord.name)
        await rows.put([{ p: 'a', c: 1, word: 'new' }])
        await rows.addIndex(onWord)
        await sound()
        assert.deepEqual(await rows.find(is('word', 'old')), [])
        assert.deepEqual(await rows.find(is('word', 'new')), ['a 1'])
      })

      test('is built while rows are written', async () => {
        const { rows, sound } = await create()
        await rows.put(manyRows(world.manyRecords))
        let writing = true
        let written = 0
        const write = async () => {
          while (writing) {
            const row = {
              p: `w${written % 7}`,
              c: written,
              word: 'late',
              text: 'late',
              v: [1, 1],
            }
            try {
              await rows.put([
                row,
                { p: 'p0', c: written % 900, word: 'late', text: 'later' },
              ])
              written++
            } catch (error) {
              assert(
                error instanceof EngineError && error.kind === 'changed',
                String(error),
              )
            }
          }
        }
        const writers = [write(), write()]
        for (const index of [onWord, onTags, onText, onVector]) await rows.addIndex(index)
        writing = false
        await Promise.all(writers)
        await sound()
        const table = await rows.table()
        assert.equal(table.definition.indexes.length, 4)
        const late = is('word', 'late')
        const byIndex = await rows.find(late, { pageSize: 1000 })
        for (const { name } of table.definition.indexes) await rows.dropIndex(name)
        assert.deepEqual(await rows.find(late, { pageSize: 1000 }), byIndex)
        await sound()
      })

      test('finds more rows than fit on a page, in order', async () => {
        const { rows } = await create()
        await rows.put(manyRows(3000))
        const expected = await rows.find(is('word', 'cat'), { pageSize: 100 })
        await rows.addIndex(onWord)
        assert.deepEqual(await rows.find(is('word', 'cat'), { pageSize: 100 }), expected)
        assert.equal(await rows.count(is('word', 'cat')), 750)
        const some = both(is('p', 'p3'), is('word', 'cat'))
        const within = await rows.find(some, { pageSize: 100 })
        assert.deepEqual(
          await rows.find(some, { sort: backwards, pageSize: 100 }),
          within.toReversed(),
        )
      })

      test('finds each row once when several values match', async () => {
        const { rows } = await create()
        // Few rows have the value 'rare', and many rows have each of the other values. So one of
        // the merged lists ends early.
        await rows.put(manyRows(400))
        await rows.put([
          { p: 'p1', c: 1000, tags: ['rare', 'ant'] },
          { p: 'p4', c: -1000, tags: ['rare'] },
        ])
        const filters: RowFilter[] = [
          compare('in', 'tags', 'rare', 'ant', 'bee'),
          {
            kind: 'or',
            of: [is('word', 'dog'), compare('in', 'tags', 'rare')],
          },
          // Each of the three partitions and the index of words is an access path.
          { kind: 'or', of: [is('word', 'dog'), compare('in', 'p', 'p1', 'p2', 'p3')] },
          {
            kind: 'and',
            of: [compare('in', 'tags', 'rare', 'cat'), compare('ne', 'c', 7)],
          },
        ]
        const found = () =>
          Promise.all(
            filters.map(async (filter) => {
              const names = await rows.find(filter, { pageSize: 9 })
              return world.ordersPartitions ? names : names.toSorted()
            }),
          )
        const counted = () => Promise.all(filters.map((filter) => rows.count(filter)))
        const [expected, counts] = [await found(), await counted()]
        await rows.addIndex(onTags)
        await rows.addIndex(onWord)
        assert.deepEqual(await found(), expected)
        assert.deepEqual(await counted(), counts)
      })
    })

    describe('searching a table', () => {
      test('by vector finds the nearest rows, also in a partition and after changes', async () => {
        const { rows, sound } = await create()
        await rows.put(manyRows(100))
        await rows.addIndex(onVector)
        const finds = (expected: readonly string[], filter = anyRow) =>
          running.eventually(async () => {
            const found = await rows.searchVector([3, 4], filter, expected.length)
            assert.deepEqual(found, expected)
          })
        await finds(['p3 8'])
        // Rows with equal scores come in stored order.
        await finds(['p2 8', 'p2 10', 'p2 6'], is('p', 'p2'))
        await rows.put([{ p: 'new', c: 0, v: [3, 4] }])
        await finds(['new 0', 'p3 8'])
        // The row is replaced without a vector, so the search no longer finds it.
        await rows.put([{ p: 'p3', c: 8, word: 'bare' }])
        await finds(['new 0'])
        await rows.remove([{ p: 'new', c: 0 }])
        await running.eventually(async () => {
          assert(!(await rows.searchVector([3, 4])).includes('new 0'))
        })
        await sound()
      })

      test('by vector returns ties in stored order', async () => {
        const { rows } = await create()
        await rows.addIndex(onVector)
        await rows.put(Array.from({ length: 60 }, (_, c) => ({ p: 'a', c, v: [1, 1] })))
        await running.eventually(async () =>
          assert.deepEqual(await rows.searchVector([1, 1], anyRow, 3), [
            ...['a 59', 'a 58', 'a 57'],
          ]),
        )
      })

      test('by vector omits zero vectors if the metric is cosine', async () => {
        const { rows } = await create()
        await rows.put([
          { p: 'zero', c: 0, v: [0, 0] },
          { p: 'one', c: 0, v: [1, 0] },
        ])
        await rows.addIndex({ ...onVector, metric: 'cosine' })
        await running.eventually(async () =>
          assert.deepEqual(await rows.searchVector([1, 1]), ['one 0']),
        )
        await rows.dropIndex(onVector.name)
        await rows.addIndex(onVector)
        await running.eventually(async () =>
          assert.deepEqual(await rows.searchVector([0, 0]), ['zero 0', 'one 0']),
        )
      })

      test('does not find rows that were deleted by key', async () => {
        const { rows, sound } = await create()
        await rows.put([{ p: 'a', c: 1, v: [1, 2] }])
        await rows.addIndex(onVector)
        await rows.remove([{ p: 'a', c: 1 }])
        await rows.put([{ p: 'b', c: 1 }])
        await running.eventually(async () =>
          assert.deepEqual(await rows.searchVector([1, 2]), []),
        )
        await sound()
      })

      test('by terms finds rows with all terms, also in a partition', async () => {
        const { rows, sound } = await create()
        await rows.put(manyRows(100))
        await rows.addIndex(onText)
        const match: RowFilter = {
          kind: 'match',
          column: column('text'),
          part: 'value',
          text: 'ant cat',
          terms: ['ant', 'cat'],
        }
        const found = await rows.find(match)
        assert.deepEqual(
          new Set(await rows.searchText('ant cat', anyRow, 100)),
          new Set(found),
        )
        assert.equal(found.length, 16)
        // Rows of a partition are in stored order.
        for (const [partition, names] of Map.groupBy(
          found,
          (name) => name.split(' ')[0]!,
        )) {
          const numbers = names.map((name) => Number(name.split(' ')[1]))
          assert.deepEqual(
            numbers,
            numbers.toSorted((a, b) => b - a),
            partition,
          )
        }
        const within = await rows.searchText('ant cat', is('p', 'p0'), 100)
        assert(within.length > 0 && within.every((name) => name.startsWith('p0 ')))
        await rows.put([{ p: 'p0', c: 4, text: 'nothing else' }])
        assert(!(await rows.searchText('ant cat', anyRow, 100)).includes('p0 4'))
        assert.deepEqual(await rows.searchText('nothing'), ['p0 4'])
        await sound()
      })

      test('by terms continues after any hit, with ties in stored order', async () => {
        const { rows } = await create()
        await rows.put(manyRows(60))
        await rows.addIndex(onText)
        for (const filter of [anyRow, is('p', 'p2')]) {
          const all = await rows.searchText('ant', filter, 100)
          // Rows with equal texts have equal scores, so those of a partition come in stored order.
          const same = await rows.find(both(filter, is('text', 'ant and bee')))
          const alike = inPartitions(same, world)
          assert.deepEqual(
            all.filter((name) => alike.includes(name)),
            alike,
          )
          for (const pageSize of [1, 2, 7])
            assert.deepEqual(await rows.searchTextPages('ant', filter, pageSize), all)
        }
      })

      test('finds nothing after the table was truncated', async () => {
        const { rows, engine, sound } = await create()
        for (const index of [onVector, onText, onWord]) await rows.addIndex(index)
        await rows.put(manyRows(50))
        await engine.truncate(await rows.table())
        await running.eventually(async () =>
          assert.deepEqual(await rows.searchVector([1, 1]), []),
        )
        assert.deepEqual(await rows.searchText('ant'), [])
        assert.deepEqual(await rows.find(is('word', 'ant')), [])
        await sound()
        await rows.put(manyRows(3))
        await running.eventually(async () =>
          assert.equal((await rows.searchVector([1, 1])).length, 3),
        )
      })
    })

    describe('a changed schema', () => {
      test("is reported by the error 'changed' to callers with the old schema", async () => {
        const { rows, engine } = await create()
        const old = await rows.table()
        await rows.addIndex(onWord)
        const tester = ownCaller()
        await assert.rejects(
          engine.countRows(old, anyRow, 1, tester),
          (error) => error instanceof EngineError && error.kind === 'changed',
        )
        await assert.rejects(engine.mergeRows(old, [], { sizeMax: 1 }), { kind: 'changed' })
      })

      test('keeps the values of other columns, and removes those of dropped columns', async () => {
        const { rows, sound } = await create()
        await rows.put([{ p: 'a', c: 1, word: 'kept', v: [1, 2] }])
        await rows.change({ kind: 'dropColumns', table: 'rows', names: ['v'] })
        await sound()
        assert.deepEqual(await rows.find(is('word', 'kept')), ['a 1'])
        // A new column takes the name of the dropped column.
        const again = { name: 'v', type: { type: 'vector', dimension: 2 } } as const
        await rows.change({ kind: 'addColumns', table: 'rows', columns: [again] })
        await rows.addIndex(onVector)
        await sound()
      })

      test('is unchanged after a restart, with all rows and indexes', async () => {
        const { rows, keyspace } = await create()
        await rows.put(manyRows(100))
        for (const index of [onWord, onText, onVector]) await rows.addIndex(index)
        await running.engine.changeSchema(keyspace, () => {
          const fields = [{ name: 'city', type: 'text' } as const]
          return { kind: 'createType', name: 'address', fields }
        })
        const schema = await running.engine.readSchema(keyspace)
        const found = await rows.find(is('word', 'bee'))
        const nearest = await rows.searchVector([5, 5])
        const best = await rows.searchText('ant cat')
        await running.reopen()
        assert.deepEqual(await running.engine.readSchema(keyspace), schema)
        const again = new TableStore(running.engine, 'rows', keyspace)
        assert.deepEqual(await again.find(is('word', 'bee')), found)
        await running.eventually(async () =>
          assert.deepEqual(await again.searchVector([5, 5]), nearest),
        )
        assert.deepEqual(await again.searchText('ant cat'), best)
        await running.assertSound(await again.table())
      })
    })
  })
}
