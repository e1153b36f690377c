/** Values of every type, written and read back. */
import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import {
  BigNumber,
  blob,
  DataAPIBlob,
  DataAPIDate,
  DataAPIDuration,
  DataAPIInet,
  DataAPITime,
  DataAPIVector,
  date,
  duration,
  inet,
  time,
  UUID,
  uuid,
  vector,
  type SomeRow,
  type Table,
} from '@datastax/astra-db-ts'
import { refusal, Service } from './client.ts'
import { unlessOnCluster } from '../test-engine.ts'
import { plain } from './tables.ts'

const service = await Service.start()
const db = service.connect()

const someUuid = uuid('0f1e2d3c-4b5a-4978-8695-a4b3c2d1e0ff')
const otherUuid = uuid('018f3a5e-7c00-7b3a-9f00-0123456789ab')

/** Values of each type that are returned as sent, as objects of the same class. */
const values: Record<string, readonly unknown[]> = {
  ascii: ['', 'plain', '\u0000 \t~'],
  bigint: [0n, 9223372036854775807n, -9223372036854775808n, 9007199254740993n],
  blob: [
    blob(Buffer.from([0, 255, 1])),
    blob({ $binary: 'AA==' }),
    blob(new ArrayBuffer(5)),
  ],
  boolean: [true, false],
  date: [date('2024-02-29'), date(1, 1, 1), date('-0044-03-15'), date('+12024-12-31')],
  decimal: [
    BigNumber('0'),
    BigNumber('-12345678901234567890.12345678901234567890'),
    BigNumber('1e-30'),
    BigNumber('0.1'),
    BigNumber('99999999999999999999'),
  ],
  double: [1, -3, 1e21, 0.1, -1.7976931348623157e308, 5e-324, NaN, Infinity, -Infinity],
  duration: [
    duration('1y2mo3d4h5m6s7ms8us9ns'),
    duration('-8h10m'),
    duration('P1Y3M10D'),
    duration(0, 0, 0),
    duration(0, 1, 86_400_000_000_000n),
    duration(2147483647, 2147483647, 9223372036854775807n),
  ],
  float: [1, 16777216, 1e20, 0.5, -1.25, NaN, Infinity, -Infinity, 0.1],
  inet: [inet('127.0.0.1'), inet('0:0:0:0:0:0:0:1'), inet('2001:db8:0:0:0:0:0:ff')],
  int: [0, 2147483647, -2147483648],
  smallint: [32767, -32768],
  text: ['', 'é😀', ' spaces ', 'line\nfeed', '"quoted"', 'x'.repeat(10_000)],
  time: [time('23:59:59.999999999'), time('00:00:00'), time(12, 30), time('01:02:03.5')],
  timestamp: [new Date(0), new Date(-1), new Date(1_700_000_000_123), new Date(8.64e15)],
  tinyint: [127, -128],
  uuid: [someUuid, otherUuid, uuid('00000000-0000-0000-0000-000000000000'), UUID.v1()],
  varint: [0n, 123456789012345678901234567890123456789n, -1n, 10n ** 30n],
}

const classes: Record<string, abstract new (...args: never[]) => unknown> = {
  blob: DataAPIBlob,
  date: DataAPIDate,
  duration: DataAPIDuration,
  inet: DataAPIInet,
  time: DataAPITime,
  timestamp: Date,
  uuid: UUID,
}

/** Creates a table with a column of this definition and a key. */
async function tableOf(name: string, column: object | string) {
  return db.createTable<SomeRow>(name, {
    definition: { columns: { id: 'int', v: column as string }, primaryKey: 'id' },
  })
}

describe('a column', () => {
  let table: Table<SomeRow>
  before(async () => {
    const columns = Object.fromEntries(Object.keys(values).map((type) => [type, type]))
    table = await db.createTable<SomeRow>('columns', {
      definition: { columns: { id: 'text', ...columns }, primaryKey: 'id' },
    })
  })

  for (const [type, some] of Object.entries(values))
    test(`with type ${type} returns the stored values and finds rows by them`, async () => {
      const projection = { id: 1, [type]: 1 } as const
      const rows = some.map((value, n) => ({ id: `${type} ${n}`, [type]: value }))
      await table.insertMany(rows)
      for (const [n, value] of some.entries()) {
        const { id } = rows[n]!
        const found = (await table.findOne({ id }, { projection }))!
        assert.deepEqual(plain(found), plain(rows[n]))
        if (type in classes) assert(found[type] instanceof classes[type]!)
        if (type === 'decimal') assert(BigNumber.isBigNumber(found[type]))
        for (const condition of [value, { $eq: value }, { $in: [value] }]) {
          const matching = await table.find({ [type]: condition }, { projection }).toArray()
          assert.deepEqual(plain(matching), [plain(rows[n])])
        }
      }
      const others = await table.find({ [type]: { $ne: some[0] } }).toArray()
      assert.equal(others.length, some.length - 1)
      const changed = { id: `${type} 1`, [type]: some[0] }
      await table.updateOne({ id: changed.id }, { $set: { [type]: some[0] } })
      const found = await table.findOne({ id: changed.id }, { projection })
      assert.deepEqual(plain(found), plain(changed))
    })

  for (const [type, some] of Object.entries(values)) {
    if (type === 'duration') continue
    test(`with type ${type} can be in the primary key, which inserts return completely`, async () => {
      const table = await db.createTable<SomeRow>(`key_${type}`, {
        definition: {
          columns: { p: type, c: type, n: 'int' },
          primaryKey: { partitionBy: ['p'], partitionSort: { c: 1 } },
        },
      })
      // A partition key cannot be an empty text; a clustering column can.
      const fitting = some.filter((value) => value !== '')
      const keys = fitting.map((p) => ({ p, c: some[0] }))
      const { insertedIds } = await table.insertMany(keys, { ordered: true })
      assert.deepEqual(plain(insertedIds), plain(keys))
      const { insertedId } = await table.insertOne({ ...keys[0], n: 7 })
      assert.deepEqual(plain(insertedId), plain(keys[0]))
      assert.deepEqual(plain(await table.findOne(keys[0]!)), plain({ ...keys[0], n: 7 }))
      await table.deleteOne(insertedId)
      assert.equal(await table.findOne(insertedId), null)
      assert.equal((await table.find({}).toArray()).length, fitting.length - 1)
    })
  }
})

describe('a list, set or map', () => {
  // Durations are unordered, so they cannot be keys, or elements of a set on a cluster.
  const keyTypeOf = (type: string) => (type === 'duration' ? 'int' : type)
  const setTypeOf = (type: string) => (unlessOnCluster.skip ? keyTypeOf(type) : type)

  let table: Table<SomeRow>
  before(async () => {
    const columns = Object.keys(values).flatMap((type) => [
      [`list_${type}`, { type: 'list', valueType: type }],
      [`set_${type}`, { type: 'set', valueType: setTypeOf(type) }],
      [`map_${type}`, { type: 'map', keyType: keyTypeOf(type), valueType: type }],
    ])
    table = await db.createTable<SomeRow>('collections', {
      definition: {
        columns: {
          id: 'text',
          // The client parses long numbers without loss only if the table has a column of such a
          // type.
          number: 'varint',
          ...(Object.fromEntries(columns) as Record<string, string>),
        },
        primaryKey: 'id',
      },
    })
  })

  for (const [type, some] of Object.entries(values))
    test(`with elements of type ${type} returns the stored values`, async () => {
      const keys = type === 'duration' ? some.map((_, key) => key) : some
      const row = {
        [`list_${type}`]: [...some, ...some],
        [`set_${type}`]: new Set(setTypeOf(type) === type ? some : keys),
        [`map_${type}`]: new Map(some.map((value, n) => [keys[n], value])),
      }
      await table.insertOne({ id: type, ...row })
      const found = (await table.findOne({ id: type }))!
      for (const [column, value] of Object.entries(row))
        assert.deepEqual(plain(found[column]), plain(value))
    })
})

test('sets and maps are ordered by their elements and keys', async () => {
  const table = await db.createTable<SomeRow>('in_order', {
    definition: {
      columns: {
        id: 'int',
        set: { type: 'set', valueType: 'int' },
        map: { type: 'map', keyType: 'int', valueType: 'text' },
      },
      primaryKey: 'id',
    },
  })
  const map = new Map([
    [10, 'ten'],
    [9, 'nine'],
    [-1, 'less'],
  ])
  await table.insertOne({ id: 1, set: new Set([1, 2, -42, 10]), map })
  const found = (await table.findOne({ id: 1 }))!
  assert.deepEqual([...(found['set'] as Set<number>)], [-42, 1, 2, 10])
  assert.deepEqual([...(found['map'] as typeof map).keys()], [-1, 9, 10])
})

describe('a vector', () => {
  const numbers = [0.25, -1, 3]

  for (const [name, given] of [
    ['a DataAPIVector', vector(numbers)],
    ['a list', numbers],
    ['base64', { $binary: vector(numbers).asBase64() }],
  ] as const)
    test(`is stored when given as ${name}`, async () => {
      const table = await tableOf('vectors', { type: 'vector', dimension: 3 })
      await table.insertOne({ id: 1, v: given })
      await table.updateOne({ id: 2 }, { $set: { v: given } })
      for (const id of [1, 2]) {
        const { v } = (await table.findOne({ id }))!
        assert(v instanceof DataAPIVector)
        assert.deepEqual(v.asArray(), numbers)
      }
      await table.updateOne({ id: 1 }, { $unset: { v: '' } })
      assert.deepEqual(await table.findOne({ id: 1 }), { id: 1, v: null })
      await table.drop()
    })

  test('must have the length of its column', async () => {
    const table = await tableOf('lengths', { type: 'vector', dimension: 3 })
    const error = await refusal(table.insertOne({ id: 1, v: vector([1, 2]) }))
    assert.equal(error.errorCode, 'INVALID_COLUMN_VALUES')
    assert(error.message.includes('v(vector'), error.message)
  })

  test('cannot be a text without an embedding service', async () => {
    const table = await tableOf('texts', { type: 'vector', dimension: 3 })
    const error = await refusal(table.insertOne({ id: 1, v: 'text' }))
    assert.equal(error.errorCode, 'UNSUPPORTED_VECTORIZE_WHEN_MISSING_VECTORIZE_DEFINITION')
  })
})

describe('numbers', () => {
  test('are accepted as instances of other number classes when they are integers', async () => {
    const table = await db.createTable<SomeRow>('whole', {
      definition: {
        columns: {
          id: 'int',
          small: 'int',
          big: 'bigint',
          any: 'varint',
          exact: 'decimal',
        },
        primaryKey: 'id',
      },
    })
    await table.insertOne({
      id: 1n,
      small: BigNumber('7'),
      big: 7,
      any: BigNumber('1e25'),
      exact: 12n,
    })
    assert.deepEqual(plain(await table.findOne({ id: 1 })), {
      id: 1,
      small: 7,
      big: 7n,
      any: 10n ** 25n,
      exact: 'decimal 12',
    })
    for (const wrong of [
      { small: 0.5 },
      { small: '7' },
      { big: 2n ** 63n },
      { exact: NaN },
    ]) {
      const error = await refusal(table.insertOne({ id: 1, ...wrong }))
      assert.equal(error.errorCode, 'INVALID_COLUMN_VALUES')
    }
  })

  test('are rounded to 32 bits in a float column', async () => {
    const table = await tableOf('rounded', 'float')
    await table.insertMany([
      { id: 1, v: 0.1 },
      { id: 2, v: 1e39 },
    ])
    const found = (await table.findOne({ id: 1 }))!
    assert.equal(Math.fround(found['v'] as number), Math.fround(0.1))
    assert.equal((await table.findOne({ id: 2 }))!['v'], Infinity)
  })
})

test('dates, times, UUIDs, durations and addresses can be inserted as texts', async () => {
  const table = await db.createTable<SomeRow>('as_texts', {
    definition: {
      columns: {
        id: 'int',
        day: 'date',
        at: 'timestamp',
        clock: 'time',
        key: 'uuid',
        long: 'duration',
        from: 'inet',
      },
      primaryKey: 'id',
    },
  })
  await table.insertOne({
    id: 1,
    day: '2024-02-29',
    at: '2024-02-29T12:00:00.5+02:00',
    clock: '12:30',
    key: someUuid.toString().toUpperCase(),
    long: '2h45m',
    from: '::1',
  })
  assert.deepEqual(plain(await table.findOne({ id: 1 })), {
    id: 1,
    day: 'date 2024-02-29',
    at: new Date('2024-02-29T10:00:00.500Z'),
    clock: 'time 12:30:00.000000000',
    key: `uuid ${someUuid.toString()}`,
    long: `duration ${duration('2h45m').toString()}`,
    from: 'inet 0:0:0:0:0:0:0:1',
  })
})
