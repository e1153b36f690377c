/** A dropped column can be added again with any type and is then empty. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { startServer, testToken } from '../harness.ts'
import { isEmbedded, unlessOnCluster } from '../test-engine.ts'
import { runStela } from '../cli/run-stela.ts'
import { TakenBackups, withEngine } from '../engine/embedded/backup/restored.ts'
import { Schemas, times } from './schemas.ts'

type Row = Record<string, unknown>

const vector = (dimension: number) => ({ type: 'vector', dimension })
const place = { type: 'userDefined', udtName: 'place' }

/** A valid value of each column type. */
const samples: readonly (readonly [type: unknown, value: unknown])[] = [
  ['text', 'old words'],
  ['int', 7],
  ['double', 1.5],
  ['boolean', true],
  ['blob', { $binary: 'AAAA' }],
  ['duration', 'P1D'],
  [vector(2), [1, 2]],
  [vector(3), [1, 2, 3]],
  [{ type: 'list', valueType: 'text' }, ['old']],
  [{ type: 'set', valueType: 'int' }, [7]],
  [{ type: 'map', keyType: 'text', valueType: 'text' }, { old: 'words' }],
  [{ type: 'map', keyType: 'int', valueType: 'int' }, [[7, 7]]],
  [place, { city: 'old' }],
  [{ type: 'list', valueType: place }, [{ city: 'old' }]],
]

describe('names of dropped columns and renamed fields', () => {
  const schemas = new Schemas()

  const alter = (table: string, operation: object) =>
    schemas.ok(table, { alterTable: { operation } })
  const drop = (table: string, ...columns: string[]) => alter(table, { drop: { columns } })
  const add = (table: string, columns: object) => alter(table, { add: { columns } })
  const insert = async (table: string, ...documents: Row[]) => {
    const { codes, text } = await schemas.send(table, { insertMany: { documents } })
    assert.deepEqual(codes, [], text)
  }
  const find = async (table: string, clauses: object = {}) => {
    const { codes, text, body } = await schemas.send(table, { find: clauses })
    assert.deepEqual(codes, [], text)
    return body.data!.documents!
  }
  const createPlace = () =>
    schemas.ok('', {
      createType: {
        name: 'place',
        definition: { fields: { city: 'text' } },
        options: { ifNotExists: true },
      },
    })

  test(
    'can be used for new columns of any other type, which are empty',
    unlessOnCluster,
    async () => {
      await createPlace()
      for (const [position, [oldType, old]] of samples.entries()) {
        const table = await schemas.table({ a: oldType })
        await insert(table, { id: 1, a: old }, { id: 2 })
        for (const step of [1, 4, 9]) {
          const [type, value] = samples[(position + step) % samples.length]!
          const told = JSON.stringify([oldType, type])
          await drop(table, 'a')
          await add(table, { a: type })
          assert.deepEqual(await find(table), [{ id: 1 }, { id: 2 }], told)
          // A row that is written after the column was dropped has no old value.
          await insert(table, { id: 2, a: value })
          assert.deepEqual(await find(table), [{ id: 1 }, { id: 2, a: value }], told)
          await insert(table, { id: 1, a: value })
          assert.deepEqual(
            await find(table),
            times(2, (i) => ({ id: i + 1, a: value })),
          )
        }
        const { columns } = await schemas.explain(table)
        assert.deepEqual(Object.keys(columns), ['id', 'a'])
      }
    },
  )

  test(
    'can be used for new columns without old values in filters, sorts and searches, even after a restart and a restore',
    unlessOnCluster,
    async (t) => {
      const columns = {
        t: 'text',
        n: 'int',
        v: vector(2),
        l: { type: 'list', valueType: 'int' },
      }
      const table = await schemas.table(columns)
      const createIndexes = async () => {
        await schemas.ok(table, { createTextIndex: index(`${table}_t`, 't') })
        await schemas.ok(table, { createIndex: index(`${table}_n`, 'n') })
        await schemas.ok(table, { createVectorIndex: index(`${table}_v`, 'v') })
        await schemas.ok(table, { createIndex: index(`${table}_l`, 'l') })
      }
      await createIndexes()
      await insert(table, ...times(30, (id) => ({ id, t: 'old', n: 5, v: [1, 0], l: [5] })))
      for (const name of ['t', 'n', 'v', 'l'])
        await schemas.ok('', { dropIndex: { name: `${table}_${name}` } })
      await drop(table, 't', 'n', 'v', 'l')
      await add(table, {
        t: 'ascii',
        n: 'double',
        v: vector(3),
        l: { type: 'set', valueType: 'float' },
      })
      await createIndexes()
      await insert(table, { id: 100, t: 'new', n: 5, v: [1, 0, 0], l: [5] })

      const fresh = { id: 100, t: 'new', n: 5, v: [1, 0, 0], l: [5] }
      const look = async (ask: (find: object) => Promise<readonly Row[]>) => {
        assert.deepEqual(await ask({ filter: { t: { $match: 'old' } } }), [])
        assert.deepEqual(await ask({ filter: { t: 'old' } }), [])
        assert.deepEqual(await ask({ sort: { t: 'old' } }), [])
        assert.deepEqual(await ask({ sort: { t: 'new' } }), [fresh])
        assert.deepEqual(await ask({ filter: { n: 5 } }), [fresh])
        assert.deepEqual(await ask({ filter: { n: { $gte: 0 } } }), [fresh])
        assert.deepEqual(await ask({ filter: { l: { $in: [5] } } }), [fresh])
        assert.deepEqual(await ask({ sort: { v: [1, 0, 0] } }), [fresh])
        assert.deepEqual((await ask({ sort: { n: -1 } }))[0], fresh)
        const other = await ask({ filter: { id: { $lt: 100 } }, options: { limit: 20 } })
        assert.deepEqual(
          other,
          other.map(({ id }) => ({ id })),
        )
        assert.equal(other.length, 20)
      }
      const ask = (clauses: object) => find(table, clauses)
      await look(ask)
      await schemas.restart()
      await look(ask)

      const args = ['export', '--table', table, '--url', schemas.server.url]
      const exported = await runStela(args, { token: testToken })
      const lines = String(exported.out).trim().split('\n')
      assert.equal(lines.length, 31)
      for (const line of lines.slice(0, 30)) assert.match(line, /^\{"id":\d+\}$/)

      // Backups cover only stores of the embedded engine.
      if (!isEmbedded) return
      const backups = new TakenBackups(t)
      const { dataDir } = schemas.server
      await schemas.server.stop()
      const taken = await withEngine(dataDir, (engine) => backups.take(engine))
      await schemas.restart()
      const restored = await startServer({ dataDir: await backups.restore(taken) })
      t.after(() => restored.close())
      await look(async (clauses) => {
        const { body, text } = await restored.command(`/default_keyspace/${table}`, {
          find: clauses,
        })
        assert(body.data !== undefined, text)
        return body.data.documents!
      })
    },
  )

  test(
    'can be used for a new column of the same user-defined type after that type has changed',
    unlessOnCluster,
    async () => {
      const own = { type: 'userDefined', udtName: 'own' }
      const createOwn = (fields: object) =>
        schemas.ok('', { createType: { name: 'own', definition: { fields } } })
      await createOwn({ a: 'text' })
      const table = await schemas.table({ u: own })
      await insert(table, { id: 1, u: { a: 'old' } })
      await drop(table, 'u')
      await schemas.ok('', { dropType: { name: 'own' } })
      await createOwn({ a: 'int', b: 'double' })
      await add(table, { u: own })
      assert.deepEqual(await find(table), [{ id: 1 }])
      await insert(table, { id: 1, u: { a: 1, b: 2 } })
      const { text } = await schemas.send(table, { find: {} })
      assert(text.includes('{"id":1,"u":{"a":1,"b":2.0}}'), text)
    },
  )

  test('can be used for new fields of any other type', async () => {
    const moved = { type: 'userDefined', udtName: 'moved' }
    await schemas.ok('', {
      createType: { name: 'moved', definition: { fields: { at: 'text' } } },
    })
    const table = await schemas.table({ u: moved })
    await insert(table, { id: 1, u: { at: 'old' } })
    const renameAndAdd = (from: string, to: string, type: string) =>
      schemas.ok('', {
        alterType: {
          name: 'moved',
          rename: { fields: { [from]: to } },
          add: { fields: { [from]: type } },
        },
      })
    await renameAndAdd('at', 'was_at', 'int')
    await insert(table, { id: 2, u: { at: 5 } })
    await renameAndAdd('at', 'was_int', 'boolean')
    await insert(table, { id: 3, u: { at: true, was_at: 'x' } })
    assert.deepEqual(await find(table), [
      { id: 1, u: { was_at: 'old' } },
      { id: 2, u: { was_int: 5 } },
      { id: 3, u: { was_at: 'x', at: true } },
    ])
  })

  test(
    'can be used for new columns without old values in concurrent reads',
    unlessOnCluster,
    async () => {
      const table = await schemas.table({ a: 'text' })
      const types = ['text', 'int', 'boolean', 'blob'] as const
      const values = { text: 'old', int: 7, boolean: true, blob: { $binary: 'AAAA' } }
      let done = false
      const write = async (start: number) => {
        for (let id = start; !done; id += 10) {
          const a = values[types[id % types.length]!]
          // While the column changes, it is absent, or it has a type that rejects the value.
          const { codes } = await schemas.send(table, {
            insertOne: { document: { id, a } },
          })
          for (const code of codes)
            assert.match(code, /^(UNKNOWN_TABLE_COLUMNS|INVALID_COLUMN_VALUES)$/)
        }
      }
      const read = async () => {
        let rows = 0
        while (!done) {
          const { codes, text, body } = await schemas.send(table, { find: {} })
          assert.deepEqual(codes, [], text)
          const schema = body.status!['projectionSchema'] as Record<
            string,
            { type: string }
          >
          for (const { a } of body.data!.documents!)
            if (a !== undefined)
              assert.deepEqual(a, values[schema['a']!.type as keyof typeof values], text)
          rows += body.data!.documents!.length
        }
        return rows
      }
      const others = [write(0), write(1), write(2), read(), read()]
      for (let round = 1; round <= 12; round++) {
        await drop(table, 'a')
        await add(table, { a: types[round % types.length] })
      }
      done = true
      await Promise.all(others)
      await schemas.restart()
      for (const { a } of await find(table)) if (a !== undefined) assert.equal(a, 'old')
    },
  )
})

function index(name: string, column: string) {
  return { name, definition: { column } }
}
