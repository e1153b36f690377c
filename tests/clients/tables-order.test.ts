/** The order of values, which keys, sorts and ranges share. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  BigNumber,
  blob,
  date,
  inet,
  time,
  uuid,
  type DataAPIBlob,
  type SomeRow,
} from '@datastax/astra-db-ts'
import { Service } from './client.ts'
import { plain } from './tables.ts'

const service = await Service.start()
const db = service.connect()

function bytes(...values: number[]): DataAPIBlob {
  return blob(Buffer.from(values))
}

/** Ascending values of each ordered type. */
const ascending: Record<string, readonly unknown[]> = {
  ascii: ['', '\u0000', '\u0000a', '10', '9', 'A', 'a', 'aa', '~'],
  bigint: [-(2n ** 63n), -1n, 0n, 9n, 10n, 2n ** 53n, 2n ** 53n + 1n, 2n ** 63n - 1n],
  blob: [bytes(), bytes(0), bytes(0, 0), bytes(1), bytes(127), bytes(128), bytes(255, 0)],
  boolean: [false, true],
  date: ['-5877641-06-23', '-0044-03-15', '0000-01-01', '1969-12-31', '1970-01-01']
    .concat(['9999-12-31', '+10000-01-01', '+5881580-07-11'])
    .map((text) => date(text)),
  decimal: [
    '-1e30',
    '-1.5',
    '-1',
    '-1e-30',
    '0',
    '1e-30',
    '0.1',
    '0.11',
    '9',
    '10',
    '1e30',
  ].map((text) => BigNumber(text)),
  double: [-Infinity, -1.7e308, -1, -5e-324, 0, 5e-324, 0.1, 9, 10, 1.7e308, Infinity, NaN],
  float: [-Infinity, -1.5, 0, 0.1, 9, 10, 3e38, Infinity, NaN],
  inet: ['0.0.0.0', '0:0:0:0:0:0:0:1', '9.0.0.1', '10.0.0.1', '127.0.0.1'].map((text) =>
    inet(text),
  ),
  int: [-2147483648, -1, 0, 9, 10, 2147483647],
  smallint: [-32768, -1, 0, 9, 10, 32767],
  text: ['', '\u0000', '10', '9', 'Z', 'a', 'a\u0000', 'ab', 'z', 'é', '日'],
  time: ['00:00:00', '01:02:03.05', '01:02:03.5', '12:30:00.000000001', '23:59:59'].map(
    (text) => time(text),
  ),
  timestamp: [-8.64e15, -1, 0, 1, 999, 1000, 1_700_000_000_123, 8.64e15].map(
    (millis) => new Date(millis),
  ),
  tinyint: [-128, -1, 0, 9, 10, 127],
  uuid: [
    '00000000-0000-0000-0000-000000000000',
    // Version 1 UUIDs are ordered by time and precede other versions.
    'ffffffff-0000-11ee-8000-000000000000',
    '00000000-0001-11ee-8000-000000000000',
    '0f1e2d3c-4b5a-4978-8695-a4b3c2d1e0ff',
    '80000000-0000-4000-8000-000000000000',
    '018f3a5e-7c00-7b3a-9f00-0123456789ab',
  ].map((text) => uuid(text)),
  varint: [
    -(10n ** 40n),
    -256n,
    -255n,
    0n,
    255n,
    256n,
    2n ** 64n,
    10n ** 40n,
    10n ** 40n + 1n,
  ],
}

async function create(type: string, direction: 1 | -1) {
  const name = `${type}_${direction === 1 ? 'up' : 'down'}`
  const table = await db.createTable<SomeRow>(name, {
    definition: {
      columns: { place: 'int', at: type, plain: type, indexed: type },
      primaryKey: { partitionBy: ['place'], partitionSort: { at: direction } },
    },
  })
  const rows = ascending[type]!.map((at) => ({ place: 1, at, plain: at, indexed: at }))
  await table.insertMany(rows.toReversed())
  return async (filter: object, sort: Record<string, 1 | -1> = {}) => {
    const found = await table.find({ place: 1, ...filter }, { sort }).toArray()
    return found.map(({ at }) => plain(at))
  }
}

for (const [type, values] of Object.entries(ascending)) {
  const up = values.map(plain)
  const middle = Math.floor(values.length / 2)

  test(`${type} has the same order in keys, sorts and ranges`, async () => {
    const find = await create(type, 1)
    if (type !== 'blob') await db.table(`${type}_up`).createIndex(`of_${type}`, 'indexed')
    assert.deepEqual(await find({}), up)
    for (const column of ['at', 'plain']) {
      assert.deepEqual(await find({}, { [column]: 1 }), up)
      assert.deepEqual(await find({}, { [column]: -1 }), up.toReversed())
    }
    for (const column of ['at', 'plain', 'indexed'])
      for (const [condition, from, to] of [
        [{ $lt: values[middle] }, 0, middle],
        [{ $lte: values[middle] }, 0, middle + 1],
        [{ $gt: values[middle] }, middle + 1, values.length],
        [{ $gte: values[middle] }, middle, values.length],
        [{ $gt: values[0], $lt: values.at(-1) }, 1, -1],
      ] as const)
        assert.deepEqual(await find({ [column]: condition }), up.slice(from, to))
  })

  test(`${type} descends in a descending clustering column`, async () => {
    const find = await create(type, -1)
    assert.deepEqual(await find({}), up.toReversed())
    assert.deepEqual(await find({}, { at: 1 }), up)
    const above = await find({ at: { $gt: values[middle] } })
    assert.deepEqual(above, up.slice(middle + 1).toReversed())
  })
}
