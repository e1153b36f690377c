/** find on tables: filters, sorts and projections. */
import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import {
  DataAPIClient,
  date,
  Table,
  uuid,
  type CommandWarningsEvent,
  type InferTableSchema,
} from '@datastax/astra-db-ts'
import { testToken } from '../harness.ts'
import { keyspace, refusal, Service } from './client.ts'
import { plain } from './tables.ts'

const service = await Service.start()
const db = service.connect()

const people = Table.schema({
  columns: {
    id: 'text',
    name: 'text',
    age: 'int',
    big: 'bigint',
    born: 'date',
    seen: 'timestamp',
    key: 'uuid',
    long: 'duration',
    active: 'boolean',
    tags: { type: 'set', valueType: 'text' },
    days: { type: 'list', valueType: 'date' },
    notes: { type: 'map', keyType: 'text', valueType: 'int' },
    numbered: { type: 'map', keyType: 'int', valueType: 'text' },
  },
  primaryKey: 'id',
})

type Person = InferTableSchema<typeof people>

const someKey = uuid('0f1e2d3c-4b5a-4978-8695-a4b3c2d1e0ff')

const rows: Person[] = [
  {
    id: 'a',
    name: 'Ann',
    age: 30,
    big: 9007199254740993n,
    born: date('1994-05-01'),
    seen: new Date(1000),
    key: someKey,
    active: true,
    tags: new Set(['x', 'y']),
    days: [date('2020-01-01')],
    notes: new Map([['k', 1]]),
  },
  {
    id: 'b',
    name: 'Bob',
    age: 40,
    big: 9007199254740992n,
    born: date('1984-05-01'),
    seen: new Date(2000),
    active: false,
    tags: new Set(['y']),
    days: [date('2020-01-01'), date('2021-01-01')],
    notes: new Map([
      ['k', 2],
      ['l', 1],
    ]),
    numbered: new Map([
      [1, 'one'],
      [2, 'two'],
    ]),
  },
  { id: 'c', name: 'Cid', age: 50, numbered: new Map([[1, 'uno']]) },
  { id: 'd' },
]

let table: Awaited<ReturnType<typeof createPeople>>

function createPeople(name: string) {
  return db.createTable(name, { definition: people })
}

before(async () => {
  table = await createPeople('people')
  await table.insertMany(rows)
})

/**
 * The sorted ids of the matching rows, as one text. The filter is a plain object, because the types
 * of the client have no filters on elements of lists, sets and maps.
 */
async function idsOf(filter: object, from = table): Promise<string> {
  const found = await from.find(filter, { projection: { id: 1 } }).toArray()
  return found
    .map(({ id }) => id)
    .toSorted()
    .join('')
}

const filters: readonly (readonly [object, string])[] = [
  [{}, 'abcd'],
  [{ id: 'c' }, 'c'],
  [{ id: { $in: ['a', 'd', 'e'] } }, 'ad'],
  [{ name: 'Bob' }, 'b'],
  [{ name: { $eq: 'Bob' } }, 'b'],
  [{ name: { $ne: 'Bob' } }, 'ac'],
  [{ name: { $in: ['Ann', 'Cid', 'Dee'] } }, 'ac'],
  [{ name: { $nin: ['Ann', 'Cid'] } }, 'b'],
  [{ age: { $gt: 30 } }, 'bc'],
  [{ age: { $gte: 30, $lt: 50 } }, 'ab'],
  [{ age: { $lte: 40 }, name: { $gt: 'Ann' } }, 'b'],
  [{ big: 9007199254740993n }, 'a'],
  [{ big: { $lt: 9007199254740993n } }, 'b'],
  [{ born: date('1994-05-01') }, 'a'],
  [{ born: { $lt: date('1990-01-01') } }, 'b'],
  [{ seen: { $gte: new Date(1000) } }, 'ab'],
  [{ seen: new Date(2000) }, 'b'],
  [{ key: someKey }, 'a'],
  [{ active: false }, 'b'],
  [{ tags: { $in: ['x', 'z'] } }, 'a'],
  [{ tags: { $all: ['y', 'x'] } }, 'a'],
  [{ tags: { $nin: ['x'] } }, 'bcd'],
  [{ days: { $in: [date('2021-01-01')] } }, 'b'],
  [{ days: { $all: [date('2020-01-01')] } }, 'ab'],
  [{ notes: { $in: [['k', 1]] } }, 'a'],
  [{ notes: { $nin: [['k', 1]] } }, 'bcd'],
  [
    {
      notes: {
        $all: [
          ['k', 2],
          ['l', 1],
        ],
      },
    },
    'b',
  ],
  [{ notes: { $keys: { $in: ['l'] } } }, 'b'],
  [{ notes: { $values: { $in: [1] } } }, 'ab'],
  [{ notes: { $values: { $all: [1, 2] } } }, 'b'],
  [{ numbered: { $in: [[1, 'uno']] } }, 'c'],
  [{ numbered: { $keys: { $all: [1, 2] } } }, 'b'],
  [{ $or: [{ age: 30 }, { name: 'Cid' }] }, 'ac'],
  [{ $and: [{ age: { $gt: 30 } }, { active: false }] }, 'b'],
  [{ $and: [{ $or: [{ age: 30 }, { age: 50 }] }, { name: { $ne: 'Ann' } }] }, 'c'],
  [{ $not: { age: { $gt: 30 } } }, 'a'],
  [{ $not: { $or: [{ age: 30 }, { name: 'Cid' }] } }, 'b'],
  [{ $not: { tags: { $in: ['x'] } } }, 'bcd'],
]

describe('filters', () => {
  for (const [filter, ids] of filters)
    test(`match rows by ${shown(filter)}`, async () => {
      assert.equal(await idsOf(filter), ids)
    })

  test('return the same rows when columns have indexes', async () => {
    const indexed = await createPeople('indexed')
    for (const column of ['name', 'age', 'big', 'born', 'seen', 'key', 'tags'] as const)
      await indexed.createIndex(`of_${column}`, column)
    await indexed.createIndex('of_days', { days: '$values' })
    await indexed.createIndex('of_notes', 'notes')
    await indexed.createIndex('of_keys', { notes: '$keys' })
    await indexed.createIndex('of_values', { notes: '$values' })
    await indexed.insertMany(rows)
    for (const [filter, ids] of filters)
      assert.equal(await idsOf(filter, indexed), ids, shown(filter))
  })

  for (const [why, filter, code] of [
    ['an unknown column', { nick: 'A' }, 'UNKNOWN_TABLE_COLUMNS'],
    ['a value of another type', { age: 'old' }, 'INVALID_FILTER_COLUMN_VALUES'],
    ['an unknown operator', { age: { $near: 1 } }, 'FILTER_UNSUPPORTED_OPERATOR'],
    ['a list for a set', { tags: ['x'] }, 'INVALID_MAP_SET_LIST_FILTER'],
    [
      'a range of durations',
      { long: { $gt: '1h' } },
      'UNSUPPORTED_COMPARISON_FILTER_AGAINST_DURATION',
    ],
    [
      '$match without a text index',
      { name: { $match: 'ann' } },
      'CANNOT_LEXICAL_FILTER_NON_INDEXED_COLUMNS',
    ],
    ['$exists', { age: { $exists: true } }, 'FILTER_UNSUPPORTED_OPERATOR'],
    ['null', { age: null }, 'FILTER_UNSUPPORTED_DATA_TYPE'],
  ] as const)
    test(`are rejected with ${why}`, async () => {
      const cursor = table.find(filter as object)
      assert.equal((await refusal(cursor.toArray())).errorCode, code)
      assert.equal(cursor.state, 'closed')
      const one = table.findOne(filter as object)
      assert.equal((await refusal(one)).errorCode, code)
    })
})

function shown(filter: object): string {
  return JSON.stringify(plain(filter), (_, value: unknown) =>
    typeof value === 'bigint' ? `${value}n` : value,
  )
}

describe('findOne', () => {
  test('returns a row with every column', async () => {
    const sparse = { key: null, long: null }
    assert.deepEqual(
      plain(await table.findOne({ id: 'b' })),
      plain({ ...sparse, ...rows[1] }),
    )
    assert.equal(await table.findOne({ id: 'absent' }), null)
  })

  test('returns the first row in sort order', async () => {
    const { id } = (await table.findOne({ age: { $gt: 0 } }, { sort: { age: -1 } }))!
    assert.equal(id, 'c')
  })
})

describe('projections', () => {
  for (const [projection, expected] of [
    [{ name: 1 }, { name: 'Cid' }],
    [
      { name: true, id: true },
      { id: 'c', name: 'Cid' },
    ],
    [{ name: 1, nick: 1 }, { name: 'Cid' }],
  ] as const)
    test(`select the returned columns: ${JSON.stringify(projection)}`, async () => {
      assert.deepEqual(await table.findOne({ id: 'c' }, { projection }), expected)
      const found = await table.find({ id: 'c' }).project(projection).toArray()
      assert.deepEqual(found, [expected])
    })

  test('exclude columns', async () => {
    const projection = { name: 0, age: false } as const
    const found = (await table.findOne({ id: 'c' }, { projection }))!
    const columns = Object.keys(people.columns)
    assert.deepEqual(
      Object.keys(found).toSorted(),
      columns.filter((name) => !(name in projection)).toSorted(),
    )
  })

  test('select all columns with the name *', async () => {
    const all = await table.findOne({ id: 'a' })
    assert.deepEqual(await table.findOne({ id: 'a' }, { projection: { '*': 1 } }), all)
  })

  for (const [projection, code] of [
    [{ name: 1, age: 0 }, 'UNSUPPORTED_PROJECTION_PARAM'],
    [{ name: { $slice: 1 } }, 'UNSUPPORTED_PROJECTION_PARAM'],
    [{ nick: 1 }, 'UNKNOWN_TABLE_COLUMNS'],
  ] as const)
    test(`are rejected with ${JSON.stringify(projection)}`, async () => {
      const error = await refusal(table.findOne({}, { projection: projection }))
      assert.equal(error.errorCode, code)
      assert.equal(error.scope, 'PROJECTION')
    })
})

describe('sorts', () => {
  const sorted = async (sort: Record<string, 1 | -1>, skip = 0) => {
    const cursor = table.find({}).sort(sort).project({ id: 1 })
    const found = await (skip === 0 ? cursor : cursor.skip(skip)).toArray()
    return found.map(({ id }) => id).join('')
  }

  test('order rows without a value first when ascending, and last when descending', async () => {
    assert.equal(await sorted({ age: 1 }), 'dabc')
    assert.equal(await sorted({ age: -1 }), 'cbad')
    assert.equal(await sorted({ big: 1, id: -1 }), 'dcba')
    assert.equal(await sorted({ born: -1, age: 1 }), 'abdc')
  })

  test('can be combined with skip', async () => {
    assert.equal(await sorted({ age: 1 }, 1), 'abc')
    assert.equal(await sorted({ age: 1 }, 9), '')
  })

  test('are required for skip', async () => {
    const error = await refusal(table.find({}).skip(1).toArray())
    assert.equal(error.errorCode, 'COMMAND_FIELD_VALUE_INVALID')
  })

  test('are rejected for unknown columns', async () => {
    const error = await refusal(table.find({}, { sort: { nick: 1 } }).toArray())
    assert.equal(error.errorCode, 'CANNOT_SORT_UNKNOWN_COLUMNS')
  })
})

test('warnings name the cause of slow reads', async () => {
  const client = new DataAPIClient(testToken, {
    environment: 'hcd',
    logging: [{ events: 'commandWarnings', emits: 'event' }],
  })
  let codes: string[] = []
  client.on('commandWarnings', (event: CommandWarningsEvent) =>
    codes.push(...event.warnings.map(({ errorCode }) => errorCode)),
  )
  const warned = client.db(service.url, { keyspace }).table<Person>('people')
  for (const [filter, options, expected] of [
    [{ id: 'a' }, {}, []],
    [{}, {}, ['ZERO_FILTER_OPERATIONS']],
    [{ name: 'Ann' }, {}, ['MISSING_INDEX']],
    [
      { name: 'Ann' },
      { sort: { age: 1 } },
      ['IN_MEMORY_SORTING_DUE_TO_NON_PARTITION_SORTING', 'MISSING_INDEX'],
    ],
  ] as const) {
    codes = []
    await warned.find(filter, options).toArray()
    assert.deepEqual(codes, expected)
  }
  await client.close()
})
