/**
 * The fields of user-defined types: their names in the contract, and their unchanging keys in the
 * store.
 */
import assert from 'node:assert/strict'
import { DatabaseSync } from 'node:sqlite'
import { describe, test, type TestContext } from 'node:test'
import { ownCaller } from '../../../../src/caller/caller.ts'
import { checkStore } from '../../../../src/engine/embedded/backup/check.ts'
import { FieldKeys } from '../../../../src/engine/embedded/schema/field-keys.ts'
import type { ElementChange } from '../../../../src/engine/contract.ts'
import type { Column, Table } from '../../../../src/engine/schema.ts'
import type { SchemaChange } from '../../../../src/engine/schema-change.ts'
import { fromPlain } from '../../../../src/json/plain.ts'
import type { Value } from '../../../../src/json/value.ts'
import type { ColumnPart } from '../../../../src/language/columns/column.ts'
import type { RowFilter } from '../../../../src/language/columns/row-filter.ts'
import { openEmbedded, storedViewOf } from '../embedded-store.ts'

const place = { type: 'userDefined', udtName: 'place' } as const
const columns: readonly Column[] = [
  { name: 'id', type: { type: 'int' } },
  { name: 'one', type: place },
  { name: 'list', type: { type: 'list', valueType: place } },
  { name: 'set', type: { type: 'set', valueType: place } },
  { name: 'byText', type: { type: 'map', keyType: 'text', valueType: place } },
  { name: 'byInt', type: { type: 'map', keyType: 'int', valueType: place } },
]
const column = (name: string) => columns.find((other) => other.name === name)!

/** A table with an index on each collection column, and helpers for its rows. */
async function create(context: TestContext) {
  const { engine, dataDir, fileOf } = await openEmbedded(context)
  const change = async (made: SchemaChange) =>
    assert(await engine.changeSchema('default_keyspace', () => made))
  const table = async () => (await engine.findTarget('default_keyspace', 'rows')) as Table
  await change({
    kind: 'createType',
    name: 'place',
    fields: [
      { name: 'city', type: 'text' },
      { name: 'size', type: 'double' },
    ],
  })
  const key = { partitionBy: ['id'], partitionSort: [] }
  await change({ kind: 'createTable', name: 'rows', columns, ...key })
  for (const name of ['list', 'set', 'byText', 'byInt']) {
    const index = { kind: 'regular', name: `on_${name}`, column: name } as const
    await change({ kind: 'createIndex', table: 'rows', index: { ...index, part: 'value' } })
  }
  const merge = async (
    id: number,
    values: Readonly<Record<string, unknown>>,
    elements: Readonly<Record<string, ElementChange>> = {},
  ) => {
    const given = Object.entries({ id, ...values }).map(
      ([name, value]) => [column(name), fromPlain(value)] as const,
    )
    const changed = Object.entries(elements).map(
      ([name, one]) => [column(name), one] as const,
    )
    const made = {
      kind: 'insert',
      values: new Map(given),
      elements: new Map(changed),
    } as const
    assert.deepEqual(
      await engine.mergeRows(await table(), [made], { sizeMax: 1_000_000 }),
      ['done'],
    )
  }
  const read = async (filter: RowFilter = { kind: 'and', of: [] }) => {
    const query = { filter, sort: [], skip: 0, limit: 100, after: undefined, columns }
    const { records } = await engine.readRows(await table(), query, ownCaller())
    return records
  }
  /** Ids of the rows that have the operand in the given part of a column. */
  const having = async (name: string, operand: unknown, part: ColumnPart = 'value') => {
    const operands = [fromPlain(operand)]
    const found = await read({ kind: 'in', column: column(name), part, operands })
    return found.map((row) => row.get(column('id'))).sort()
  }
  const texts = () => {
    const database = new DatabaseSync(fileOf('rows'), { readOnly: true })
    try {
      const rows = database.prepare('SELECT text FROM doc ORDER BY seq').all()
      return rows.map(({ text }) => String(text))
    } finally {
      database.close()
    }
  }
  const sound = () =>
    assert.deepEqual(checkStore(fileOf('rows'), storedViewOf(dataDir, 'rows')), [])
  return { engine, change, table, merge, read, having, texts, sound }
}

const rename: SchemaChange = {
  kind: 'alterType',
  name: 'place',
  renamed: [['city', 'town']],
  // The new field takes the original name of the renamed field.
  added: [{ name: 'city', type: 'text' }],
}

const named = (name: string) => ({
  one: { [name]: 'a', size: 1 },
  list: [{ [name]: 'a' }, { [name]: 'b' }],
  set: [{ [name]: 'a' }, { [name]: 'b', size: 2 }],
  byText: { k: { [name]: 'a' } },
  byInt: [[7, { [name]: 'a' }]],
})

describe('the schema that the engine returns', () => {
  test('has names and types of columns, indexes and fields, and no internal keys', async (context) => {
    const { engine, change, table } = await create(context)
    await change({ kind: 'dropColumns', table: 'rows', names: ['one'] })
    await change({ kind: 'addColumns', table: 'rows', columns: [column('one')] })
    await change(rename)
    const fields = [
      { name: 'town', type: 'text' },
      { name: 'size', type: 'double' },
      { name: 'city', type: 'text' },
    ]
    const { definition, types } = await table()
    assert.deepEqual(types, [{ name: 'place', fields }])
    assert.deepEqual((await engine.readSchema('default_keyspace'))!.types, types)
    assert.deepEqual(Object.keys(definition), [
      ...['columns', 'partitionBy', 'partitionSort', 'indexes'],
    ])
    assert.deepEqual(definition.columns, [
      ...columns.filter(({ name }) => name !== 'one'),
      column('one'),
    ])
    assert.deepEqual(definition.indexes[0], {
      ...{ kind: 'regular', name: 'on_list', column: 'list', part: 'value' },
    })
  })
})

describe('fields that were renamed', () => {
  test('have their new names in all rows, whether written before or after', async (context) => {
    const { change, merge, read, texts, sound } = await create(context)
    await merge(1, named('city'))
    await change(rename)
    await merge(2, named('town'))
    for (const row of await read())
      for (const [name, value] of Object.entries(named('town')))
        assert.deepEqual(row.get(column(name)), fromPlain(value), name)
    const [before, after] = texts()
    assert.equal(after, before!.replace('"id":1', '"id":2'), 'rows keep the first names')
    sound()
  })

  test('are found by their new names', async (context) => {
    const { change, merge, having } = await create(context)
    await merge(1, named('city'))
    await change(rename)
    await merge(2, named('town'))
    await merge(3, named('city'))
    const a = { town: 'a' }
    assert.deepEqual(await having('list', a), [1, 2])
    assert.deepEqual(await having('set', { town: 'b', size: 2 }), [1, 2])
    assert.deepEqual(await having('byText', ['k', a]), [1, 2])
    assert.deepEqual(await having('byText', a, 'values'), [1, 2])
    assert.deepEqual(await having('byText', 'k', 'keys'), [1, 2, 3])
    assert.deepEqual(await having('byInt', [7, a]), [1, 2])
    assert.deepEqual(await having('byInt', a, 'values'), [1, 2])
    assert.deepEqual(await having('list', { city: 'a' }), [3])
  })

  test('have their new names in added and removed elements', async (context) => {
    const { change, merge, read, sound } = await create(context)
    await merge(1, named('city'))
    await change(rename)
    const value = (plain: unknown) => fromPlain(plain)
    const add = (...elements: Value[]): ElementChange => ({ kind: 'add', elements })
    const remove = (...elements: Value[]): ElementChange => ({ kind: 'remove', elements })
    await merge(
      1,
      {},
      {
        list: remove(value({ town: 'a' })),
        set: add(value({ town: 'a' }), value({ town: 'c' })),
        byText: add(['l', value({ town: 'b', city: 'x' })]),
        byInt: remove(7),
      },
    )
    const [row] = await read()
    const expect = (name: string, plain: unknown) =>
      assert.deepEqual(row!.get(column(name)), plain && value(plain), name)
    expect('list', [{ town: 'b' }])
    expect('set', [{ town: 'a' }, { town: 'b', size: 2 }, { town: 'c' }])
    expect('byText', { k: { town: 'a' }, l: { town: 'b', city: 'x' } })
    expect('byInt', undefined)
    sound()
  })
})

test('values of types without renamed fields are stored unchanged', () => {
  const fields = [{ name: 'city', type: 'text', key: 'city' }] as const
  const keys = new FieldKeys([{ name: 'place', fields }])
  const value = fromPlain({ city: 'a' })
  assert(keys.areNames(place))
  assert.equal(keys.stored(place, value), value)
  assert.equal(keys.named(place, value), value)
})
