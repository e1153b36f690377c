import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Target } from './collections.ts'
import { people, readings, WrittenTables } from './written-tables.ts'

const places = ['Bergen', 'Oslo']
const numbers = [1, 2, 3]

/** Rows for two places, with three days per place and three hours per day. */
const all = places.flatMap((place) =>
  numbers.flatMap((day) => numbers.map((hour) => ({ place, day, hour, value: 1 }))),
)

type Reading = (typeof all)[number]

const tables = new WrittenTables()

async function deleteMany(table: Target, filter?: unknown) {
  const { status } = await table.run({ deleteMany: { filter } })
  assert.deepEqual(status, { deletedCount: -1 })
}

describe('deleteOne on a table', () => {
  test('deletes the row with the key and does not reveal whether the row existed', async () => {
    const table = await tables.create(people, [{ id: 'a' }, { id: 'b' }])
    for (const id of ['a', 'a', 'nobody', '']) {
      const { status } = await table.run({ deleteOne: { filter: { id } } })
      assert.deepEqual(status, { deletedCount: -1 })
    }
    assert.deepEqual(await table.all(), [{ id: 'b' }])
  })

  test('requires a filter, and rejects a sort and options', async () => {
    const table = await tables.create(people, [{ id: 'a' }])
    const filter = { id: 'a' }
    const cases: readonly (readonly [object, string])[] = [
      [{}, 'COMMAND_FIELD_VALUE_INVALID'],
      [{ filter: {} }, 'MISSING_FILTER_FOR_UPDATE_DELETE'],
      [{ filter, sort: { id: 1 } }, 'UNSUPPORTED_SORT_FOR_TABLE_DELETE_COMMAND'],
      [{ filter, options: { x: 1 } }, 'COMMAND_ACCEPTS_NO_OPTIONS'],
    ]
    for (const [command, code] of cases) await table.refuse({ deleteOne: command }, code)
    assert.deepEqual(await table.all(), [{ id: 'a' }])
    await table.run({ deleteOne: { filter, sort: {}, options: {} } })
    assert.deepEqual(await table.all(), [])
  })
})

describe('deleteMany on a table', () => {
  for (const filter of [undefined, null, {}])
    test(`deletes all rows when the filter is ${JSON.stringify(filter)}`, async () => {
      const table = await tables.create(readings, all)
      await deleteMany(table, filter)
      assert.deepEqual(await table.all(), [])
      await table.insert({ place: 'Oslo', day: 1, hour: 1 })
      assert.equal((await table.all()).length, 1)
    })

  const inOslo = (test: (reading: Reading) => boolean) => (reading: Reading) =>
    reading.place === 'Oslo' && test(reading)

  /** Filters, each with a predicate for the rows that it deletes. */
  const filters: readonly (readonly [object, (reading: Reading) => boolean])[] = [
    [{ place: 'Oslo' }, inOslo(() => true)],
    [{ place: { $eq: 'Oslo' }, day: 2 }, inOslo(({ day }) => day === 2)],
    [
      { place: 'Oslo', day: 2, hour: 1 },
      inOslo(({ day, hour }) => day === 2 && hour === 1),
    ],
    [{ place: 'Nowhere' }, () => false],
    [{ place: { $in: [] } }, () => false],
    [{ place: { $in: ['Oslo', 'Bergen', 'Oslo'] }, day: 1 }, ({ day }) => day === 1],
    [{ place: 'Oslo', day: { $in: [1, 3] } }, inOslo(({ day }) => day !== 2)],
    [
      { place: { $in: places }, day: { $in: [1, 3] }, hour: { $in: [1, 2] } },
      ({ day, hour }) => day !== 2 && hour !== 3,
    ],
    [{ place: 'Oslo', day: { $gt: 1 } }, inOslo(({ day }) => day > 1)],
    [{ place: 'Oslo', day: { $gte: 2 } }, inOslo(({ day }) => day >= 2)],
    [{ place: 'Oslo', day: { $lt: 2 } }, inOslo(({ day }) => day < 2)],
    [{ place: 'Oslo', day: { $lte: 2, $gt: 1 } }, inOslo(({ day }) => day === 2)],
    [{ place: 'Oslo', day: { $gt: 2, $lt: 2 } }, () => false],
    // A range of the last key column, whose order is descending.
    [
      { place: 'Oslo', day: 2, hour: { $gt: 1 } },
      inOslo(({ day, hour }) => day === 2 && hour > 1),
    ],
    [
      { place: 'Oslo', day: 2, hour: { $gte: 2 } },
      inOslo(({ day, hour }) => day === 2 && hour >= 2),
    ],
    [
      { place: 'Oslo', day: 2, hour: { $lt: 2 } },
      inOslo(({ day, hour }) => day === 2 && hour < 2),
    ],
    [
      { place: 'Oslo', day: { $in: [1, 2] }, hour: { $lte: 2, $gte: 2 } },
      inOslo(({ day, hour }) => day < 3 && hour === 2),
    ],
    [
      { $and: [{ place: 'Oslo' }, { day: { $gt: 1 } }, { day: { $lt: 3 } }] },
      inOslo(({ day }) => day === 2),
    ],
    [{ $and: [{ place: 'Oslo' }, { place: 'Bergen' }] }, () => false],
    [{ $or: [{ place: 'Oslo', day: 1 }] }, inOslo(({ day }) => day === 1)],
    [
      { $not: { $or: [{ place: { $ne: 'Oslo' } }, { day: { $gt: 1 } }] } },
      inOslo(({ day }) => day <= 1),
    ],
  ]

  for (const [filter, isDeleted] of filters)
    test(`deletes all rows that match ${JSON.stringify(filter)}`, async () => {
      const table = await tables.create(readings, all)
      await deleteMany(table, filter)
      const left = all.filter((reading) => !isDeleted(reading))
      const byHour = left.toSorted((a, b) =>
        a.place < b.place ? -1 : a.place > b.place ? 1 : a.day - b.day || b.hour - a.hour,
      )
      // Rows are compared by place, because the engine chooses the order of partitions.
      const found = (await table.all()) as typeof all
      assert.deepEqual(
        found.toSorted((a, b) => (a.place < b.place ? -1 : Number(a.place > b.place))),
        byHour,
      )
    })

  test('rejects filters other than conditions on leading key columns, and deletes nothing', async () => {
    const table = await tables.create(readings, all)
    const cases: readonly (readonly [unknown, string])[] = [
      ['x', 'FILTER_UNSUPPORTED_DATA_TYPE'],
      [{ nope: 1 }, 'UNKNOWN_TABLE_COLUMNS'],
      [{ nope: { a: 1 } }, 'FILTER_UNSUPPORTED_DATA_TYPE'],
      [{ place: 'Oslo', value: 1 }, 'UNSUPPORTED_NON_PRIMARY_KEY_FILTER_FOR_UPDATE_DELETE'],
      [{ day: 1 }, 'INVALID_PRIMARY_KEY_FILTER'],
      [{ place: 'Oslo', hour: 1 }, 'INVALID_PRIMARY_KEY_FILTER'],
      [{ place: { $gt: 'A' } }, 'FILTER_INVALID_EXPRESSION'],
      [{ place: 'Oslo', day: { $gt: 1 }, hour: 1 }, 'FILTER_INVALID_EXPRESSION'],
      [{ place: { $ne: 'Oslo' } }, 'FILTER_INVALID_EXPRESSION'],
      [{ place: 'Oslo', day: { $nin: [1] } }, 'FILTER_INVALID_EXPRESSION'],
      [{ $or: [{ place: 'Oslo' }, { place: 'Bergen' }] }, 'FILTER_INVALID_EXPRESSION'],
      [{ $not: {} }, 'INVALID_PRIMARY_KEY_FILTER'],
      [{ place: 5 }, 'INVALID_FILTER_COLUMN_VALUES'],
      [{ place: { $in: ['Oslo', 5] } }, 'INVALID_FILTER_COLUMN_VALUES'],
      [{ place: { $in: 'Oslo' } }, 'FILTER_INVALID_EXPRESSION'],
      [{ place: { $in: Array(101).fill('x') } }, 'FILTER_INVALID_EXPRESSION'],
      [{ place: ['Oslo'] }, 'FILTER_INVALID_EXPRESSION'],
      [{ place: null }, 'FILTER_UNSUPPORTED_DATA_TYPE'],
      [{ place: { $size: 1 } }, 'FILTER_UNSUPPORTED_OPERATOR'],
      [{ $and: Array(65).fill({ place: 'Oslo' }) }, 'FILTER_FIELDS_LIMIT_VIOLATION'],
    ]
    for (const [filter, code] of cases) await table.refuse({ deleteMany: { filter } }, code)
    const skipped = await table.refuse(
      { deleteMany: { filter: { hour: 1 } } },
      'INVALID_PRIMARY_KEY_FILTER',
    )
    assert.match(skipped.message, /columns: place\(text\)\. .*hour\(int\)/)
    await table.refuse({ deleteMany: { options: { x: 1 } } }, 'COMMAND_ACCEPTS_NO_OPTIONS')
    assert.equal((await table.all()).length, all.length)
  })

  test('deletes partitions of any size in one command', async () => {
    const table = await tables.create(readings)
    const rows = (place: string) =>
      Array.from({ length: 1300 }, (_, day) => ({ place, day, hour: 0 }))
    for (const place of places)
      for (let at = 0; at < 1300; at += 100)
        await table.insert(...rows(place).slice(at, at + 100))
    await deleteMany(table, { place: 'Oslo' })
    await deleteMany(table, { place: 'Bergen', day: { $gte: 5 } })
    assert.deepEqual(
      (await table.all()).map(({ day }) => day),
      [0, 1, 2, 3, 4],
    )
  })

  test('accepts hundreds of thousands of combinations of key values', async () => {
    const table = await tables.create(readings, all)
    const many = [...'Oslo,Rome,Lima'.split(','), ...Array.from({ length: 90 }, String)]
    const days = Array.from({ length: 99 }, (_, i) => i + 2)
    await deleteMany(table, {
      place: { $in: many },
      day: { $in: days },
      hour: { $in: [...days, 1] },
    })
    const left = all.filter(({ place, day }) => place !== 'Oslo' || day === 1)
    assert.equal((await table.all()).length, left.length)
  })

  test('accepts ten thousand combinations of key values within a partition', async () => {
    const table = await tables.create(readings, all)
    const many = Array.from({ length: 100 }, (_, i) => i + 2)
    await deleteMany(table, { place: 'Oslo', day: { $in: many }, hour: { $in: many } })
    const left = all.filter(
      ({ place, day, hour }) => place !== 'Oslo' || day < 2 || hour < 2,
    )
    assert.equal((await table.all()).length, left.length)
  })

  test('and concurrent inserts leave each row complete or absent', async () => {
    const table = await tables.create(readings)
    const day = 1
    await Promise.all(
      Array.from({ length: 20 }, (_, hour) => [
        table.insert({ place: 'Oslo', day, hour, value: hour }),
        deleteMany(table, { place: 'Oslo' }),
        table.run({
          updateOne: {
            filter: { place: 'Oslo', day, hour },
            update: { $set: { value: -hour } },
          },
        }),
      ]).flat(),
    )
    for (const { hour, value } of await table.all())
      assert(
        value === hour || value === -(hour as number),
        `${String(hour)}: ${String(value)}`,
      )
    await deleteMany(table, { place: 'Oslo' })
    assert.deepEqual(await table.all(), [])
  })
})
