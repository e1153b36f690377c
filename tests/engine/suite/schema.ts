/** Schema changes that every engine must support. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Column, EmbeddingService, Table } from '../../../src/engine/schema.ts'
import type { SchemaChange } from '../../../src/engine/schema-change.ts'
import { fromPlain } from '../../../src/json/plain.ts'
import { anyOrder, read } from '../../../src/paging/read.ts'
import { showOne } from '../../../src/paging/show-all.ts'
import { rowSource } from '../../../src/tables/read/row-source.ts'
import { showRow } from '../../../src/tables/read/show-row.ts'
import { rowStoreOf } from '../../../src/tables/row-store.ts'
import { insertRows } from '../../../src/tables/write/insert-rows.ts'
import { createCollection, plainOptions, Store, tester } from '../store.ts'
import { anyRow } from '../table-store.ts'
import { testServices } from '../test-models.ts'
import { assertFails } from './fails.ts'
import { RunningEngine, type World } from './world.ts'

const keyspace = 'default_keyspace'

export function describeSchema(name: string, world: World): void {
  describe(`${name}: a change of schema`, () => {
    const running = new RunningEngine(world)
    const change = (wanted: SchemaChange, where = keyspace) =>
      running.engine.changeSchema(where, () => wanted)

    const createTable = async (name: string, ...columns: Column[]): Promise<string> => {
      const id = { name: 'id', type: { type: 'int' } } as const
      const key = { partitionBy: ['id'], partitionSort: [] }
      assert(await change({ kind: 'createTable', name, columns: [id, ...columns], ...key }))
      return name
    }

    const tableNamed = async (name: string): Promise<Table> => {
      const target = await running.engine.findTarget(keyspace, name)
      assert(target?.kind === 'table', `${name} should be a table`)
      return target
    }

    /** Columns and indexes of a table, without the internal members that the engine adds. */
    const seen = async (name: string) => {
      const { columns, indexes } = (await tableNamed(name)).definition
      return {
        columns: columns
          .toSorted((a, b) => (a.name < b.name ? -1 : 1))
          .map((column) => [column.name, column.type] as const),
        indexes: indexes.map((index) => [index.name, index.kind, index.column].join(' ')),
      }
    }

    test('creates a table and alters it step by step', async () => {
      const vector = { type: 'vector', dimension: 2 } as const
      const service: EmbeddingService = { provider: 'p', modelName: 'm' }
      const text = { type: 'text' } as const
      const id = ['id', { type: 'int' }] as const
      const table = await createTable('stepwise', { name: 'v', type: vector })
      const before = await tableNamed(table)

      const columns = [{ name: 'a', type: text }]
      await change({ kind: 'addColumns', table, columns })
      const index = {
        kind: 'regular',
        name: 'stepwise_a',
        column: 'a',
        part: 'value',
      } as const
      await change({ kind: 'createIndex', table, index })
      await change({ kind: 'putServices', table, services: new Map([['v', service]]) })
      const expected = {
        columns: [['a', text], id, ['v', { ...vector, service }]],
        indexes: ['stepwise_a regular a'],
      }
      assert.deepEqual(await seen(table), expected)
      await running.reopen()
      assert.deepEqual(await seen(table), expected)

      await change({ kind: 'putServices', table, services: new Map([['v', null]]) })
      await change({ kind: 'dropIndex', table, name: 'stepwise_a' })
      await change({ kind: 'dropColumns', table, names: ['a'] })
      assert.deepEqual(await seen(table), { columns: [id, ['v', vector]], indexes: [] })
      // The table keeps its uid through all changes.
      assert.equal((await tableNamed(table)).uid, before.uid)
    })

    test('creates types, renames their fields and then adds others', async () => {
      const fieldsNow = async () => {
        const { types } = (await running.engine.readSchema(keyspace))!
        return types
          .find(({ name }) => name === 'place')
          ?.fields.map(({ name, type }) => `${name} ${type}`)
      }
      const fields = [
        { name: 'a', type: 'int' },
        { name: 'b', type: 'text' },
      ] as const
      await change({ kind: 'createType', name: 'place', fields })
      await change({
        kind: 'alterType',
        name: 'place',
        renamed: [
          ['a', 'c'],
          ['b', 'a'],
          ['c', 'd'],
        ],
        added: [{ name: 'b', type: 'uuid' }],
      })
      assert.deepEqual(await fieldsNow(), ['d int', 'a text', 'b uuid'])
      await running.reopen()
      assert.deepEqual(await fieldsNow(), ['d int', 'a text', 'b uuid'])
      await change({ kind: 'dropType', name: 'place' })
      assert.equal(await fieldsNow(), undefined)
    })

    test('is not made when the plan returns nothing or throws', async () => {
      const engine = running.engine
      const before = await engine.readSchema(keyspace)
      assert.equal(await engine.changeSchema(keyspace, () => undefined), false)
      const refusal = new Error('not like that')
      const refused = engine.changeSchema(keyspace, () => {
        throw refusal
      })
      await assert.rejects(refused, (error) => error === refusal)
      assert.deepEqual(await engine.readSchema(keyspace), before)
    })

    test('is rejected when the keyspace does not exist', async () => {
      await assertFails('gone', change({ kind: 'dropTarget', name: 'any' }, 'nowhere'))
    })

    test('is planned with the numbers of collections and tables in all keyspaces', async () => {
      const engine = running.engine
      const counted = async () => {
        const counts = new Map<string, string>()
        await engine.changeSchema(keyspace, (_, given) => {
          for (const { keyspace: name, collections, tables } of given)
            counts.set(name, `${collections} ${tables}`)
          return undefined
        })
        return counts
      }
      await engine.createKeyspace('counted')
      assert.equal((await counted()).get('counted'), '0 0')
      await createCollection(engine, 'a', plainOptions, 'counted')
      await createCollection(engine, 'b', plainOptions, 'counted')
      const columns = [{ name: 'id', type: { type: 'int' } }] as const
      const table = { name: 'c', columns, partitionBy: ['id'], partitionSort: [] }
      await change({ kind: 'createTable', ...table }, 'counted')
      assert.equal((await counted()).get('counted'), '2 1')
      await change({ kind: 'dropTarget', name: 'a' }, 'counted')
      assert.equal((await counted()).get('counted'), '1 1')
      assert.deepEqual(
        [...(await counted()).keys()].toSorted(),
        (await engine.listKeyspaces()).toSorted(),
      )
      await engine.dropKeyspace('counted')
      assert.equal((await counted()).has('counted'), false)
    })

    test('is made on the state that its plan saw, even if several are planned concurrently', async () => {
      const engine = running.engine
      const places = ['crowded_1', 'crowded_2']
      for (const place of places) await engine.createKeyspace(place)
      const made = await Promise.all(
        Array.from({ length: 12 }, (_, i) =>
          engine.changeSchema(places[i % 2]!, (_, counts) => {
            const crowded = counts.filter((count) => places.includes(count.keyspace))
            const count = crowded.reduce((sum, { collections }) => sum + collections, 0)
            if (count >= 5) return undefined
            return { kind: 'createCollection', name: `c${i}`, options: plainOptions }
          }),
        ),
      )
      assert.equal(made.filter((yes) => yes).length, 5)
      const held = await Promise.all(places.map((place) => engine.listTargets(place)))
      assert.equal(held.flat().length, 5)
      for (const place of places) await engine.dropKeyspace(place)
    })

    test('is planned again when another change came first', async () => {
      const engines = await running.two()
      await running.engine.createKeyspace('overtaken')
      const seen: number[][] = engines.map(() => [])
      const made = await Promise.all(
        engines.map((engine, i) =>
          engine.changeSchema('overtaken', ({ targets }) => {
            seen[i]!.push(targets.length)
            return {
              kind: 'createCollection',
              name: `c${targets.length}`,
              options: plainOptions,
            }
          }),
        ),
      )
      assert.deepEqual(made, [true, true])
      const last = seen.map((counts) => counts.at(-1))
      assert.deepEqual(last.toSorted(), [0, 1])
      const targets = await running.engine.listTargets('overtaken')
      assert.deepEqual(targets!.map(({ name }) => name).toSorted(), ['c0', 'c1'])
    })

    test('affects only its own table', async () => {
      const one = await tableNamed(await createTable('untouched'))
      const other = await createTable('touched')
      const columns = [{ name: 'a', type: { type: 'text' } }] as const
      await change({ kind: 'addColumns', table: other, columns })
      assert.equal(await running.engine.estimateCount(one), 0)
    })

    test('also changes the tables that use a changed type, and keeps their values', async () => {
      const home = [
        { name: 'street', type: 'text' },
        { name: 'number', type: 'int' },
      ] as const
      await change({ kind: 'createType', name: 'home', fields: home })
      const type = { type: 'userDefined', udtName: 'home' } as const
      const table = await createTable(
        'people',
        { name: 'home', type },
        { name: 'homes', type: { type: 'list', valueType: type } },
        { name: 'named', type: { type: 'map', keyType: 'text', valueType: type } },
      )
      const storeNow = async () => {
        const found = await tableNamed(table)
        return rowStoreOf({ engine: running.engine, ...testServices }, found, {})
      }
      const row = {
        id: 1,
        home: { street: 'A', number: 1 },
        homes: [{ street: 'B' }],
        named: { x: { number: 2 } },
      }
      await insertRows(await storeNow(), [fromPlain(row)], true, tester)
      const before = await tableNamed(table)
      await change({
        kind: 'alterType',
        name: 'home',
        renamed: [['street', 'road']],
        added: [{ name: 'street', type: 'int' }],
      })
      await assertFails('changed', running.engine.countRows(before, anyRow, 1, tester))
      assert.equal((await tableNamed(table)).uid, before.uid)
      const shown = async () => {
        const store = await storeNow()
        const columns = store.shownColumns
        const wanted = { ...anyOrder, filter: anyRow, limit: 5, columns }
        const { records } = await read(rowSource(store), wanted, tester)
        return Promise.all(
          records.map(
            async (one) =>
              JSON.parse(await showOne(showRow(one, columns, store), tester)) as unknown,
          ),
        )
      }
      const expected = [
        {
          id: 1,
          home: { road: 'A', number: 1 },
          homes: [{ road: 'B' }],
          named: { x: { number: 2 } },
        },
      ]
      assert.deepEqual(await shown(), expected)
      await running.reopen()
      assert.deepEqual(await shown(), expected)
    })

    test('waits for holders of the schema lock, who see no change', async () => {
      const { engine } = running
      const table = await createTable('locked')
      const documents = await Store.create(engine, 'beside_locked')
      const { promise: gate, resolve: open } = Promise.withResolvers<undefined>()
      const { promise: locked, resolve: isLocked } = Promise.withResolvers<undefined>()
      const act = async () => {
        const found = await tableNamed(table)
        isLocked(undefined)
        await gate
        return engine.countRows(found, anyRow, 5, tester)
      }
      const counted = engine.lockSchema(keyspace, act, tester)
      await locked
      const columns = [{ name: 'a', type: { type: 'text' } }] as const
      let isChanged = false
      const changed = change({ kind: 'addColumns', table, columns }).then(() => {
        isChanged = true
      })
      // Writes and reads do not wait for the lock.
      for (let _id = 0; _id < 20; _id++) {
        assert.deepEqual(await documents.insert([{ _id }]), ['done'])
        assert.equal((await seen(table)).columns.length, 1)
      }
      assert.equal(isChanged, false)
      open(undefined)
      assert.equal((await counted) ?? 0, 0)
      await changed
      assert.equal((await seen(table)).columns.length, 2)
    })

    test('is possible after the holder of a lock failed', async () => {
      const failed = running.engine.lockSchema(
        keyspace,
        () => Promise.reject(new RangeError('no')),
        tester,
      )
      await assert.rejects(failed, RangeError)
      await createTable('after_failure')
    })
  })
}
