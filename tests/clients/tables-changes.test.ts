/** Updates and deletions of rows. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { refusal, Service } from './client.ts'
import { everyRow, nothingKnown, NewTables } from './tables.ts'

const service = await Service.start()
const db = service.connect()

const tables = new NewTables(db)

describe('updateOne', () => {
  test('sets and unsets columns', async () => {
    const table = await tables.people()
    await table.insertOne({ id: 'a', name: 'Ann', age: 30, days: [1] })
    await table.updateOne(
      { id: 'a' },
      { $set: { name: 'Anne', tags: new Set(['x']) }, $unset: { age: '', days: '' } },
    )
    const changed = { ...nothingKnown, id: 'a', name: 'Anne', tags: new Set(['x']) }
    assert.deepEqual(await table.findOne({ id: 'a' }), changed)
    await table.updateOne({ id: 'a' }, { $set: { name: null, tags: new Set() } })
    assert.deepEqual(await table.findOne({ id: 'a' }), { ...nothingKnown, id: 'a' })
  })

  test('creates a missing row, unless the update only unsets columns', async () => {
    const table = await tables.people()
    await table.updateOne({ id: 'a' }, { $set: { age: 1 } })
    await table.updateOne({ id: 'b' }, { $unset: { age: '' } })
    await table.updateOne({ id: 'c' }, { $set: { age: null } })
    assert.deepEqual(await everyRow(table, 'id'), [{ ...nothingKnown, id: 'a', age: 1 }])
  })

  test('deletes a row that an update created when its last value is unset', async () => {
    const table = await tables.people()
    await table.insertOne({ id: 'inserted', age: 1 })
    await table.updateOne({ id: 'updated' }, { $set: { age: 1 } })
    for (const id of ['inserted', 'updated'])
      await table.updateOne({ id }, { $unset: { age: '' } })
    assert.deepEqual(await everyRow(table, 'id'), [{ ...nothingKnown, id: 'inserted' }])
  })

  test('adds to lists, sets and maps, and removes from them', async () => {
    const table = await tables.people()
    const a = { id: 'a' }
    await table.updateOne(a, {
      $push: { days: 1, tags: 'x', notes: { k: 'v' } },
    })
    await table.updateOne(a, {
      $push: {
        days: { $each: [2, 1, 3] },
        tags: { $each: ['z', 'x', 'y'] },
        notes: { $each: [{ l: 'w' }, ['k', 'new']] },
      },
    })
    assert.deepEqual(await table.findOne(a), {
      ...nothingKnown,
      ...a,
      days: [1, 2, 1, 3],
      tags: new Set(['x', 'y', 'z']),
      notes: new Map([
        ['k', 'new'],
        ['l', 'w'],
      ]),
    })
    await table.updateOne(a, {
      $pullAll: { days: [1, 7] as never, tags: ['x', 'y'], notes: ['k', 'absent'] },
    })
    assert.deepEqual(await table.findOne(a), {
      ...nothingKnown,
      ...a,
      days: [2, 3],
      tags: new Set(['z']),
      notes: new Map([['l', 'w']]),
    })
  })

  test('changes only the row with the given composite key', async () => {
    const table = await tables.readings()
    const rows = [1, 2, 3].map((hour) => ({ place: 'a', day: 1, hour, value: hour }))
    await table.insertMany(rows)
    await table.updateOne({ place: 'a', day: 1, hour: 2 }, { $set: { value: 20 } })
    const values = await table
      .find({ place: 'a' })
      .map(({ value }) => value)
      .toArray()
    assert.deepEqual(values, [3, 20, 1])
  })

  for (const [why, filter, update, code] of [
    ['without a filter', {}, { $set: { value: 1 } }, 'MISSING_FILTER_FOR_UPDATE_DELETE'],
    [
      'with a filter on part of the key',
      { place: 'a' },
      { $set: { value: 1 } },
      'MISSING_FULL_PRIMARY_KEY_FOR_UPDATE_DELETE',
    ],
    [
      'with a filter on a column outside the key',
      { value: 1 },
      { $set: { value: 2 } },
      'UNSUPPORTED_NON_PRIMARY_KEY_FILTER_FOR_UPDATE_DELETE',
    ],
    [
      'with a filter on a range of the key',
      { place: 'a', day: 1, hour: { $gt: 1 } },
      { $set: { value: 1 } },
      'UNSUPPORTED_FILTER_FOR_UPDATE_ONE_DELETE_ONE',
    ],
    [
      'of a key column',
      { place: 'a', day: 1, hour: 1 },
      { $set: { hour: 2 } },
      'UNSUPPORTED_UPDATE_FOR_PRIMARY_KEY_COLUMNS',
    ],
    [
      'with $inc',
      { place: 'a', day: 1, hour: 1 },
      { $inc: { value: 2 } },
      'UNSUPPORTED_UPDATE_OPERATIONS_FOR_TABLE',
    ],
    ['without operators', { place: 'a', day: 1, hour: 1 }, {}, 'MISSING_UPDATE_OPERATIONS'],
    [
      'with a value of another type',
      { place: 'a', day: 1, hour: 1 },
      { $set: { value: 'x' } },
      'INVALID_UPDATE_COLUMN_VALUES',
    ],
    [
      'with $push to a number',
      { place: 'a', day: 1, hour: 1 },
      { $push: { value: 1 } },
      'UNSUPPORTED_UPDATE_OPERATOR',
    ],
  ] as const)
    test(`rejects an update ${why}`, async () => {
      const table = await tables.readings()
      const error = await refusal(table.updateOne(filter, update as object))
      assert.equal(error.errorCode, code)
      assert.equal(await table.findOne({}), null)
    })

  test('applies all concurrent pushes', async () => {
    const table = await tables.people()
    const pushes = Array.from({ length: 30 }, (_, n) =>
      table.updateOne({ id: 'a' }, { $push: { days: n } }),
    )
    await Promise.all(pushes)
    const { days } = (await table.findOne({ id: 'a' }))!
    assert.deepEqual(
      days.toSorted((a, b) => a - b),
      Array.from({ length: 30 }, (_, n) => n),
    )
  })
})

describe('deleteOne', () => {
  test('deletes the row with the given key, if it exists', async () => {
    const table = await tables.people()
    await table.insertMany([{ id: 'a' }, { id: 'b' }])
    await table.deleteOne({ id: 'a' })
    await table.deleteOne({ id: 'absent' })
    assert.deepEqual(await everyRow(table, 'id'), [{ ...nothingKnown, id: 'b' }])
  })

  test('requires a filter with one value for every key column', async () => {
    const table = await tables.readings()
    for (const [filter, code] of [
      [{}, 'MISSING_FILTER_FOR_UPDATE_DELETE'],
      [{ place: 'a', day: 1 }, 'MISSING_FULL_PRIMARY_KEY_FOR_UPDATE_DELETE'],
      [{ absent: 1 }, 'UNKNOWN_TABLE_COLUMNS'],
      [{ place: { $in: ['a'] } }, 'UNSUPPORTED_FILTER_FOR_UPDATE_ONE_DELETE_ONE'],
    ] as [object, string][])
      assert.equal((await refusal(table.deleteOne(filter))).errorCode, code)
  })
})

describe('deleteMany', () => {
  const rows = ['a', 'b'].flatMap((place) =>
    [1, 2, 3].flatMap((day) => [1, 2].map((hour) => ({ place, day, hour, value: 0 }))),
  )

  for (const [name, filter, left] of [
    ['all rows of a partition', { place: 'a' }, 6],
    ['the rows with a prefix of the key', { place: 'a', day: 2 }, 10],
    ['one row', { place: 'a', day: 2, hour: 1 }, 11],
    ['a range of a partition', { place: 'a', day: { $lt: 3 } }, 8],
    [
      'a range of the rows with a prefix of the key',
      { place: 'b', day: 1, hour: { $gte: 2 } },
      11,
    ],
    ['several partitions', { place: { $in: ['a', 'b', 'c'] } }, 0],
    ['all rows', {}, 0],
    ['no row when nothing matches', { place: 'c' }, 12],
  ] as const)
    test(`deletes ${name}`, async () => {
      const table = await tables.readings()
      await table.insertMany(rows)
      await table.deleteMany(filter as object)
      assert.equal((await table.find({}).toArray()).length, left)
      assert.equal((await table.find(filter as object).toArray()).length, 0)
    })

  test('rejects filters other than a prefix of the key', async () => {
    const table = await tables.readings()
    for (const [filter, code] of [
      [{ day: 1 }, 'INVALID_PRIMARY_KEY_FILTER'],
      [{ place: 'a', hour: 1 }, 'INVALID_PRIMARY_KEY_FILTER'],
      [{ value: 0 }, 'UNSUPPORTED_NON_PRIMARY_KEY_FILTER_FOR_UPDATE_DELETE'],
    ] as const)
      assert.equal((await refusal(table.deleteMany(filter as object))).errorCode, code)
  })
})

test('tables reject operations that only collections support', async () => {
  const table = await tables.people()
  for (const command of [
    { countDocuments: {} },
    { estimatedDocumentCount: {} },
    { updateMany: { update: { $set: { age: 1 } } } },
    { findOneAndUpdate: { update: { $set: { age: 1 } } } },
    { findOneAndReplace: { replacement: {} } },
    { findOneAndDelete: {} },
  ]) {
    const error = await refusal(db.command(command, { table: table.name }))
    assert.equal(error.errorCode, 'UNSUPPORTED_TABLE_COMMAND')
  }
})
