import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Target } from './collections.ts'
import { people, readings, WrittenTables } from './written-tables.ts'

const collections = {
  columns: {
    id: 'int',
    list: { type: 'list', valueType: 'text' },
    set: { type: 'set', valueType: 'int' },
    map: { type: 'map', keyType: 'text', valueType: 'int' },
    pairs: { type: 'map', keyType: 'int', valueType: 'text' },
    hours: { type: 'set', valueType: 'time' },
    n: 'int',
    blobs: { type: 'list', valueType: 'blob' },
  },
  primaryKey: 'id',
}

const row1 = { id: 1 }

async function update(table: Target, changes: object, filter: object = row1) {
  const { status } = await table.run({ updateOne: { filter, update: changes } })
  assert.deepEqual(status, { matchedCount: 1, modifiedCount: 1 })
}

async function refuse(table: Target, changes: unknown, code: string) {
  const error = await table.refuse({ updateOne: { filter: row1, update: changes } }, code)
  assert.equal(error.scope, 'UPDATE')
  assert.equal(error.status, undefined)
  return error
}

async function rowOf(table: Target): Promise<unknown> {
  const { data } = await table.run({ findOne: { filter: row1 } })
  return data!.document
}

describe('updateOne on a table', () => {
  const tables = new WrittenTables()

  test('sets and clears columns of the row with the key', async () => {
    const table = await tables.create(people, [
      { id: 'a', name: 'Ann', age: 1, tags: ['x'] },
      { id: 'b', name: 'Ben', age: 2 },
    ])
    await update(
      table,
      { $set: { name: 'Anna', tags: null }, $unset: { age: { any: 1 } } },
      { id: 'a' },
    )
    assert.deepEqual(await table.all(), [
      { id: 'a', name: 'Anna' },
      { id: 'b', name: 'Ben', age: 2 },
    ])
  })

  test('always returns a count of 1, and upserts whether upsert is true or false', async () => {
    const table = await tables.create(people)
    for (const upsert of [true, false]) {
      const command = {
        filter: { id: 'a' },
        update: { $set: { age: 1 } },
        sort: {},
        options: { upsert },
      }
      const { status } = await table.run({ updateOne: command })
      assert.deepEqual(status, { matchedCount: 1, modifiedCount: 1 })
    }
    await update(table, { $unset: { age: 1 } }, { id: 'nobody' })
    assert.deepEqual(await table.all(), [{ id: 'a', age: 1 }])
  })

  test('inserts a row with a vector key only if it sets another column', async () => {
    const table = await tables.create({
      columns: { v: { type: 'vector', dimension: 2 }, t: 'text' },
      primaryKey: 'v',
    })
    await update(table, { $set: { t: null } }, { v: [0, 1] })
    assert.deepEqual(await table.all(), [])
    await update(table, { $set: { t: 'x' } }, { v: [0, 1] })
    assert.deepEqual(await table.all(), [{ v: [0, 1], t: 'x' }])
    await update(table, { $unset: { t: 1 } }, { v: [0, 1] })
    assert.deepEqual(await table.all(), [])
  })

  test('inserts a row only if it sets a value other than null', async () => {
    const table = await tables.create(collections)
    await update(table, { $set: { n: null, list: [] } })
    await update(table, { $unset: { n: '' } })
    await update(table, { $pullAll: { list: ['x'], map: ['k'] } })
    await update(table, { $push: { list: { $each: [] } } })
    assert.deepEqual(await table.all(), [])
    await update(table, { $push: { list: 'x' } })
    assert.deepEqual(await table.all(), [{ id: 1, list: ['x'] }])
  })

  test('removes a row together with its last value if an update inserted the row', async () => {
    const clearing = [
      { $unset: { list: 1 } },
      { $set: { list: null } },
      { $set: { list: [] } },
      { $pullAll: { list: ['x'] } },
    ]
    const table = await tables.create(collections)
    for (const changes of clearing) {
      await update(table, { $set: { list: ['x'] } })
      await update(table, { $set: { n: 1 } })
      await update(table, { $unset: { n: 1 } })
      assert.deepEqual(await table.all(), [{ id: 1, list: ['x'] }])
      await update(table, changes)
      assert.deepEqual(await table.all(), [])
    }
  })

  test('keeps a row without values if an insert wrote the row', async () => {
    const table = await tables.create(people)
    await table.insert({ id: 'a', name: 'Ann' })
    await update(table, { $unset: { name: 1 } }, { id: 'a' })
    await update(table, { $set: { name: 'Ben' } }, { id: 'b' })
    await table.insert({ id: 'b' })
    await update(table, { $unset: { name: 1 } }, { id: 'b' })
    await update(table, { $set: { name: 'Cid' } }, { id: 'c' })
    await tables.restart()
    await update(table, { $set: { name: null } }, { id: 'c' })
    assert.deepEqual(await table.all(), [{ id: 'a' }, { id: 'b' }])
    await table.run({ deleteOne: { filter: { id: 'a' } } })
    await update(table, { $set: { age: 1 } }, { id: 'a' })
    await update(table, { $unset: { age: 1 } }, { id: 'a' })
    assert.deepEqual(await table.all(), [{ id: 'b' }])
  })

  test('accepts typed values in its filter', async () => {
    const table = await tables.create({
      columns: { u: 'uuid', t: 'timestamp', b: 'blob', n: 'int' },
      primaryKey: { partitionBy: ['u', 'b'], partitionSort: { t: -1 } },
    })
    const u = 'f81d4fae-7dec-11d0-a765-00a0c91e6bf6'
    const t = '1970-01-01T00:00:01Z'
    const b = { $binary: 'AAEC' }
    const filters = [
      { u, t, b },
      { u: { $uuid: u.toUpperCase() }, t: { $date: 1000 }, b: { $eq: b } },
      { $and: [{ u: { $eq: { $uuid: u } } }, { t: { $eq: { $date: 1000 } } }, { b }] },
    ]
    for (const [n, filter] of filters.entries()) {
      await update(table, { $set: { n } }, filter)
      assert.deepEqual(await table.all(), [{ u, b, t, n }])
    }
  })

  test('pushes to lists, sets and maps', async () => {
    const table = await tables.create(collections, [
      { id: 1, list: ['a'], set: [5], map: { k: 1 } },
    ])
    await update(table, { $push: { list: 'b', set: 3, map: { j: 2 }, pairs: [7, 'x'] } })
    await update(table, {
      $push: {
        list: { $each: ['a', 'c'] },
        set: { $each: [9, 3] },
        map: { $each: [{ k: 9 }, ['a', 3]] },
        pairs: {
          $each: [
            [-1, 'y'],
            [7, 'z'],
          ],
        },
        hours: '23:59:00',
        blobs: { $binary: 'AAEC' },
      },
    })
    await update(table, {
      $push: { hours: { $each: ['08:00', '23:59:00'] }, map: ['b', 4] },
    })
    assert.deepEqual(await rowOf(table), {
      id: 1,
      blobs: [{ $binary: 'AAEC' }],
      list: ['a', 'b', 'a', 'c'],
      map: { a: 3, b: 4, j: 2, k: 9 },
      pairs: [
        [-1, 'y'],
        [7, 'z'],
      ],
      set: [3, 5, 9],
      hours: ['08:00', '23:59'],
    })
  })

  test('pulls elements of lists and sets, and entries of maps by key', async () => {
    const table = await tables.create(collections, [
      {
        id: 1,
        list: ['a', 'b', 'a', 'c'],
        set: [1, 2, 3],
        map: { a: 1, b: 2 },
        pairs: [
          [1, 'x'],
          [2, 'y'],
        ],
        n: 1,
      },
    ])
    await update(table, {
      $pullAll: { list: ['a', 'z'], set: [3, 1.0], map: ['b', 'z'], pairs: [2] },
    })
    const left = {
      id: 1,
      list: ['b', 'c'],
      map: { a: 1 },
      n: 1,
      pairs: [[1, 'x']],
      set: [2],
    }
    assert.deepEqual(await rowOf(table), left)
    await update(table, { $pullAll: { list: ['b', 'c'], set: [2], map: ['a'], pairs: [] } })
    assert.deepEqual(await rowOf(table), { id: 1, n: 1, pairs: [[1, 'x']] })
  })

  test('pushes and pulls user-defined values, even after a field was renamed', async () => {
    await tables.keyspace({
      createType: { name: 'person', definition: { fields: { first: 'text', age: 'int' } } },
    })
    const person = { type: 'userDefined', udtName: 'person' }
    const table = await tables.create({
      columns: {
        id: 'int',
        list: { type: 'list', valueType: person },
        map: { type: 'map', keyType: 'text', valueType: person },
      },
      primaryKey: 'id',
    })
    await update(table, {
      $push: { list: { first: 'Ann', age: 1 }, map: { a: { age: 2 } } },
    })
    await tables.keyspace({
      alterType: { name: 'person', rename: { fields: { first: 'name' } } },
    })
    await update(table, { $push: { list: { $each: [{ name: 'Ben' }, {}] } } })
    await update(table, { $pullAll: { list: [{ age: 1, name: 'Ann' }] } })
    assert.deepEqual(await rowOf(table), {
      id: 1,
      list: [{ name: 'Ben' }, {}],
      map: { a: { age: 2 } },
    })
    await refuse(table, { $set: { 'list.name': 'x' } }, 'UNKNOWN_TABLE_COLUMNS')
    await refuse(
      table,
      { $push: { map: ['a', { age: 2 }] } },
      'INVALID_PUSH_OPERATOR_USAGE',
    )
  })

  test('changes rows of tables whose columns were dropped and added again', async () => {
    const table = await tables.create(people, [{ id: 'a', name: 'Ann', age: 1 }])
    await table.run({ alterTable: { operation: { drop: { columns: ['name'] } } } })
    await update(table, { $set: { age: 2 } }, { id: 'a' })
    await table.run({ alterTable: { operation: { add: { columns: { name: 'text' } } } } })
    assert.deepEqual(await table.all(), [{ id: 'a', age: 2 }])
    await update(table, { $set: { name: 'Anna' } }, { id: 'a' })
    await table.insert({ id: 'a', tags: ['x'] })
    assert.deepEqual(await table.all(), [{ id: 'a', age: 2, name: 'Anna', tags: ['x'] }])
  })

  test('and inserts succeed while columns and indexes are added', async () => {
    const table = await tables.create(collections)
    const writes = Array.from({ length: 40 }, (_, id) => [
      table.insert({ id, n: id % 2 }),
      update(table, { $push: { list: 'x' } }, { id }),
    ])
    const changes = [
      table.run({ alterTable: { operation: { add: { columns: { more: 'text' } } } } }),
      table.run({ createIndex: { name: 'n_index', definition: { column: 'n' } } }),
      table.run({ createIndex: { name: 'list_index', definition: { column: 'list' } } }),
    ]
    await Promise.all([...writes.flat(), ...changes])
    assert.equal((await table.all({ filter: { n: 1 } })).length, 20)
    assert.equal((await table.all({ filter: { list: { $in: ['x'] } } })).length, 40)
  })

  test('applies each of fifty concurrent pushes to one list', async () => {
    const table = await tables.create(collections)
    const names = Array.from({ length: 50 }, (_, i) => `p${i}`)
    await Promise.all(names.map((name) => update(table, { $push: { list: name } })))
    const { list } = (await rowOf(table)) as { list: string[] }
    assert.deepEqual(list.toSorted(), names.toSorted())
  })

  const refusals: readonly (readonly [unknown, string])[] = [
    ['x', 'UNSUPPORTED_UPDATE_DATA_TYPE'],
    [[], 'UNSUPPORTED_UPDATE_DATA_TYPE'],
    [{ $set: 1 }, 'UNSUPPORTED_UPDATE_DATA_TYPE'],
    [{ $unset: ['n'] }, 'UNSUPPORTED_UPDATE_DATA_TYPE'],
    [{ set: { n: 1 } }, 'UNSUPPORTED_UPDATE_OPERATION'],
    [{ n: 1 }, 'UNSUPPORTED_UPDATE_OPERATION'],
    [{ $toString: { n: 1 } }, 'UNSUPPORTED_UPDATE_OPERATION'],
    [{ $inc: { n: 1 } }, 'UNSUPPORTED_UPDATE_OPERATIONS_FOR_TABLE'],
    [{ $set: { n: 1 }, $setOnInsert: { n: 1 } }, 'UNSUPPORTED_UPDATE_OPERATIONS_FOR_TABLE'],
    [{}, 'MISSING_UPDATE_OPERATIONS'],
    [{ $set: {}, $push: {} }, 'MISSING_UPDATE_OPERATIONS'],
    [{ $set: { nope: 1, id: 2 } }, 'UNKNOWN_TABLE_COLUMNS'],
    [{ $unset: { nope: 1 } }, 'UNKNOWN_TABLE_COLUMNS'],
    [{ $push: { n: 1 } }, 'UNSUPPORTED_UPDATE_OPERATOR'],
    [{ $pullAll: { n: [1] } }, 'UNSUPPORTED_UPDATE_OPERATOR'],
    [{ $set: { n: 'x' } }, 'INVALID_UPDATE_COLUMN_VALUES'],
    [{ $set: { list: 'x' } }, 'INVALID_UPDATE_COLUMN_VALUES'],
    [{ $push: { set: 'x' } }, 'INVALID_UPDATE_COLUMN_VALUES'],
    [{ $push: { list: null } }, 'INVALID_UPDATE_COLUMN_VALUES'],
    [{ $push: { list: { $each: ['x', 1] } } }, 'INVALID_UPDATE_COLUMN_VALUES'],
    [{ $push: { map: { k: 'x' } } }, 'INVALID_UPDATE_COLUMN_VALUES'],
    [{ $push: { pairs: { 1: 'x' } } }, 'INVALID_UPDATE_COLUMN_VALUES'],
    [{ $pullAll: { list: 'x' } }, 'INVALID_UPDATE_COLUMN_VALUES'],
    [{ $pullAll: { set: ['x'] } }, 'INVALID_UPDATE_COLUMN_VALUES'],
    [{ $push: { list: ['x'] } }, 'INVALID_PUSH_OPERATOR_USAGE'],
    [{ $push: { set: [] } }, 'INVALID_PUSH_OPERATOR_USAGE'],
    [{ $push: { list: { $each: 'x' } } }, 'INVALID_PUSH_OPERATOR_USAGE'],
    [{ $push: { list: { $each: ['x'], $position: 0 } } }, 'INVALID_PUSH_OPERATOR_USAGE'],
    [{ $push: { map: { a: 1, b: 2 } } }, 'INVALID_PUSH_OPERATOR_USAGE'],
    [{ $push: { map: {} } }, 'INVALID_PUSH_OPERATOR_USAGE'],
    [{ $push: { map: 'a' } }, 'INVALID_PUSH_OPERATOR_USAGE'],
    [{ $push: { map: ['a'] } }, 'INVALID_PUSH_OPERATOR_USAGE'],
    [{ $push: { map: [['a', 1]] } }, 'INVALID_PUSH_OPERATOR_USAGE'],
    [{ $push: { map: { $each: ['a', 1] } } }, 'INVALID_PUSH_OPERATOR_USAGE'],
    [{ $push: { map: { $each: { a: 1 } } } }, 'INVALID_PUSH_OPERATOR_USAGE'],
    [
      { $set: { list: ['a'] }, $push: { list: 'b' } },
      'UNSUPPORTED_OVERLAPPING_UPDATE_OPERATIONS',
    ],
    [{ $set: { n: 1 }, $unset: { n: 1 } }, 'UNSUPPORTED_OVERLAPPING_UPDATE_OPERATIONS'],
    [{ $set: { id: 2 } }, 'UNSUPPORTED_UPDATE_FOR_PRIMARY_KEY_COLUMNS'],
    [{ $unset: { id: 2 }, $set: { n: 1 } }, 'UNSUPPORTED_UPDATE_FOR_PRIMARY_KEY_COLUMNS'],
  ]

  test('rejects invalid updates and changes nothing', async () => {
    const table = await tables.create(collections, [{ id: 1, n: 1 }])
    for (const [changes, code] of refusals) await refuse(table, changes, code)
    await refuse(
      table,
      { $set: { n: 2 }, $push: { list: 1 } },
      'INVALID_UPDATE_COLUMN_VALUES',
    )
    assert.deepEqual(await table.all(), [{ id: 1, n: 1 }])
    await table.refuse({ updateOne: { filter: row1 } }, 'COMMAND_FIELD_VALUE_INVALID')
  })

  test('names all columns that have the same error', async () => {
    const table = await tables.create(collections)
    const values = await refuse(
      table,
      { $set: { n: 'x' }, $push: { list: 1 } },
      'INVALID_UPDATE_COLUMN_VALUES',
    )
    assert.match(values.message, /list\(list<text>\) .*; n\(int\) /)
    const operators = await refuse(
      table,
      { $push: { id: 1, n: 1 } },
      'UNSUPPORTED_UPDATE_OPERATOR',
    )
    assert.match(operators.message, /\$push .*id\(int\), n\(int\)/)
  })

  test('reports errors of the sort first, then of the update, then of the filter', async () => {
    const table = await tables.create(people)
    const wrong = { sort: { id: 1 }, update: {}, filter: {} }
    const sort = await table.refuse(
      { updateOne: wrong },
      'UNSUPPORTED_SORT_FOR_TABLE_UPDATE_COMMAND',
    )
    assert.equal(sort.scope, 'SORT')
    await table.refuse({ updateOne: { ...wrong, sort: {} } }, 'MISSING_UPDATE_OPERATIONS')
    const update = { $set: { age: 1 } }
    await table.refuse(
      { updateOne: { ...wrong, sort: null, update } },
      'MISSING_FILTER_FOR_UPDATE_DELETE',
    )
  })

  test('rejects filters that do not address one row by its key', async () => {
    const table = await tables.create(readings)
    const all = { place: 'Oslo', day: 1, hour: 2 }
    const cases: readonly (readonly [unknown, string])[] = [
      [undefined, 'MISSING_FILTER_FOR_UPDATE_DELETE'],
      [null, 'MISSING_FILTER_FOR_UPDATE_DELETE'],
      [{ $and: [] }, 'MISSING_FILTER_FOR_UPDATE_DELETE'],
      ['x', 'FILTER_UNSUPPORTED_DATA_TYPE'],
      [{ ...all, nope: 1 }, 'UNKNOWN_TABLE_COLUMNS'],
      [{ ...all, nope: { a: 1 } }, 'FILTER_UNSUPPORTED_DATA_TYPE'],
      [{ ...all, value: 'x' }, 'UNSUPPORTED_NON_PRIMARY_KEY_FILTER_FOR_UPDATE_DELETE'],
      [{ value: 1 }, 'UNSUPPORTED_NON_PRIMARY_KEY_FILTER_FOR_UPDATE_DELETE'],
      [{ ...all, day: { $in: [1] } }, 'UNSUPPORTED_FILTER_FOR_UPDATE_ONE_DELETE_ONE'],
      [{ place: { $gt: 'x' } }, 'UNSUPPORTED_FILTER_FOR_UPDATE_ONE_DELETE_ONE'],
      [{ $or: [all, all] }, 'UNSUPPORTED_FILTER_FOR_UPDATE_ONE_DELETE_ONE'],
      [{ $not: all }, 'UNSUPPORTED_FILTER_FOR_UPDATE_ONE_DELETE_ONE'],
      [{ ...all, $and: [{ day: 2 }] }, 'UNSUPPORTED_FILTER_FOR_UPDATE_ONE_DELETE_ONE'],
      [{ place: 'Oslo', hour: 1 }, 'MISSING_FULL_PRIMARY_KEY_FOR_UPDATE_DELETE'],
      [{ ...all, day: 'x' }, 'INVALID_FILTER_COLUMN_VALUES'],
      [{ ...all, day: null }, 'FILTER_UNSUPPORTED_DATA_TYPE'],
      [{ ...all, day: { x: 1 } }, 'FILTER_UNSUPPORTED_DATA_TYPE'],
      [{ ...all, day: [1] }, 'FILTER_INVALID_EXPRESSION'],
      [{ ...all, day: { $like: 1 } }, 'FILTER_UNSUPPORTED_OPERATOR'],
      [{ ...all, day: { $exists: true } }, 'FILTER_UNSUPPORTED_OPERATOR'],
      [{ $nor: [all] }, 'FILTER_UNSUPPORTED_OPERATOR'],
    ]
    for (const [filter, code] of cases) {
      const command = { filter, update: { $set: { value: 1 } } }
      const error = await table.refuse({ updateOne: command }, code)
      assert.equal(error.scope, 'FILTER')
      if (filter !== undefined && filter !== null)
        await table.refuse({ deleteOne: { filter } }, code)
    }
    const missing = await table.refuse(
      { updateOne: { filter: { place: 'x' }, update: { $set: { value: 1 } } } },
      'MISSING_FULL_PRIMARY_KEY_FOR_UPDATE_DELETE',
    )
    assert.match(missing.message, /Missing: day\(int\), hour\(int\)\./)
    assert.deepEqual(await table.all(), [])
  })

  test('rejects invalid keys', async () => {
    const table = await tables.create(people)
    for (const id of ['', 'x'.repeat(65_536)])
      await table.refuse(
        { updateOne: { filter: { id }, update: { $set: { age: 1 } } } },
        'INVALID_FILTER_COLUMN_VALUES',
      )
  })
})
