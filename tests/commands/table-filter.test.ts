/** Filters on the rows of tables. */
import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import { Random, seed } from '../model/random.ts'
import type { Target } from './collections.ts'
import { refuseFinds, WrittenTables } from './written-tables.ts'

const tables = new WrittenTables()

/** The ids of all matching rows, concatenated. */
async function idsOf(table: Target, filter: object): Promise<string> {
  const rows = await table.all({ filter, projection: { id: 1 } })
  return rows
    .map(({ id }) => String(id))
    .toSorted()
    .join('')
}

/** Three values of each scalar type, ascending. */
const ascending: Record<string, readonly [unknown, unknown, unknown]> = {
  ascii: ['A', 'a', 'b'],
  bigint: [-9007199254740993, 1, 9007199254740993],
  blob: [{ $binary: 'AA==' }, { $binary: 'AAE=' }, { $binary: '/w==' }],
  boolean: [false, true, true],
  date: ['-0044-03-15', '1999-12-31', '2000-01-01'],
  decimal: [-0.1, 0.1, 1e30],
  double: ['-Infinity', 1.5, 'NaN'],
  duration: ['1h', '1d', '1mo'],
  float: [-1.5, 'Infinity', 'NaN'],
  inet: ['::1', '9.0.0.1', '10.0.0.1'],
  int: [-2147483648, 0, 2147483647],
  smallint: [-1, 0, 1],
  text: ['', 'Z', 'é'],
  time: ['00:00', '09:30:00.000000001', '23:59:59'],
  timestamp: [{ $date: -1 }, '1970-01-01T00:00:00Z', '2024-01-01T00:00:00.5+01:00'],
  tinyint: [-128, 0, 127],
  uuid: [
    '00000000-0000-1000-8000-000000000001',
    '00000000-0000-4000-8000-000000000001',
    'FFFFFFFF-0000-4000-8000-000000000001',
  ],
  varint: [-1, 0, 1],
}

/** Column types that can have an index. */
const indexable = Object.keys(ascending).filter((type) => {
  return type !== 'blob' && type !== 'duration'
})

/** Creates rows a, b and c with the values of `ascending`, and a row z without any. */
async function allTypes(): Promise<Target> {
  const columns = Object.fromEntries(Object.keys(ascending).map((type) => [type, type]))
  const rows = ['a', 'b', 'c'].map((id, position) => {
    const values = Object.entries(ascending).map(([type, three]) => [type, three[position]])
    return { id, ...(Object.fromEntries(values) as object) }
  })
  return tables.create({ columns: { id: 'text', ...columns }, primaryKey: 'id' }, [
    ...rows,
    { id: 'z' },
  ])
}

for (const withIndexes of [false, true])
  describe(`columns ${withIndexes ? 'with' : 'without'} an index`, () => {
    let table: Target
    before(async () => {
      table = await allTypes()
      if (withIndexes)
        for (const column of indexable)
          await table.run({
            createIndex: { name: `of_${column}`, definition: { column } },
          })
    })

    for (const [type, [low, middle, high]] of Object.entries(ascending)) {
      if (type === 'boolean') continue
      test(`support every comparison operator for ${type}, and never match rows without a value`, async () => {
        const matches = async (condition: unknown, expected: string) => {
          const filter = { [type]: condition }
          assert.equal(await idsOf(table, filter), expected, JSON.stringify(filter))
        }
        const fails = async (condition: unknown, expected: string) => {
          const filter = { $not: { [type]: condition } }
          assert.equal(await idsOf(table, filter), expected, JSON.stringify(filter))
        }
        await matches(middle, 'b')
        await matches({ $eq: middle }, 'b')
        await matches({ $eq: high }, 'c')
        await matches({ $ne: middle }, 'ac')
        await matches({ $in: [low, high] }, 'ac')
        await matches({ $in: [] }, '')
        await matches({ $nin: [low] }, 'bc')
        await matches({ $nin: [low, middle, high] }, '')
        await matches({ $nin: [] }, 'abc')
        await fails(middle, 'ac')
        await fails({ $ne: middle }, 'b')
        await fails({ $in: [low] }, 'bc')
        await fails({ $nin: [low] }, 'a')
        if (type === 'duration') return
        for (const [operand, gt, gte, lt, lte] of [
          [low, 'bc', 'abc', '', 'a'],
          [middle, 'c', 'bc', 'a', 'ab'],
          [high, '', 'c', 'ab', 'abc'],
        ] as const) {
          await matches({ $gt: operand }, gt)
          await matches({ $gte: operand }, gte)
          await matches({ $lt: operand }, lt)
          await matches({ $lte: operand }, lte)
          await fails({ $gt: operand }, lte)
          await fails({ $gte: operand }, lt)
          await fails({ $lt: operand }, gte)
          await fails({ $lte: operand }, gt)
        }
        await matches({ $gt: low, $lt: high }, 'b')
      })
    }

    test('support comparisons of booleans', async () => {
      assert.equal(await idsOf(table, { boolean: true }), 'bc')
      assert.equal(await idsOf(table, { boolean: { $ne: true } }), 'a')
      assert.equal(await idsOf(table, { boolean: { $gt: false } }), 'bc')
      assert.equal(await idsOf(table, { $not: { boolean: { $gt: false } } }), 'a')
    })

    test('support $and, $or and $not at any depth', async () => {
      for (const [filter, expected] of [
        [{}, 'abcz'],
        [{ int: 0, text: 'Z' }, 'b'],
        [{ int: 0, text: '' }, ''],
        [{ $or: [{ int: 0 }, { text: '' }] }, 'ab'],
        [{ $and: [{ int: { $gte: 0 } }, { $or: [{ text: 'é' }, { text: '' }] }] }, 'c'],
        [{ $not: { int: 0, text: 'Z' } }, 'ac'],
        [{ $not: { $or: [{ int: 0 }, { text: '' }] } }, 'c'],
        [{ $not: { $not: { int: 0 } } }, 'b'],
        [{ $or: [{ id: 'a' }, { id: 'z' }, { int: 0 }] }, 'abz'],
        [{ $and: [], $or: [] }, 'abcz'],
        [{ $and: [{}] }, 'abcz'],
        [{ $or: [{}] }, 'abcz'],
        [{ $not: {} }, ''],
      ] as const)
        assert.equal(await idsOf(table, filter), expected, JSON.stringify(filter))
    })

    test('accept typed values in their JSON form', async () => {
      for (const [filter, expected] of [
        [{ uuid: { $uuid: '00000000-0000-4000-8000-000000000001' } }, 'b'],
        [{ uuid: { $in: [{ $uuid: '00000000-0000-4000-8000-000000000001' }] } }, 'b'],
        [{ timestamp: { $date: 0 } }, 'b'],
        [{ timestamp: { $gte: { $date: 0 } } }, 'bc'],
        [{ timestamp: '1970-01-01T01:00:00+01:00' }, 'b'],
        [{ blob: { $in: [{ $binary: 'AAE=' }] } }, 'b'],
        [{ inet: '9.1' }, 'b'],
        [{ time: '23:59:59.000' }, 'c'],
        [{ smallint: 1.0 }, 'c'],
      ] as const)
        assert.equal(await idsOf(table, filter), expected, JSON.stringify(filter))
    })

    test('compare numbers without rounding them to doubles', async () => {
      const found = await table.send(
        '{"find": {"filter": {"bigint": 9007199254740993}, "projection": {"id": 1}}}',
      )
      assert.deepEqual(found.body.data!.documents, [])
    })
  })

describe('maps, sets and lists', () => {
  const definition = {
    columns: {
      id: 'text',
      list: { type: 'list', valueType: 'int' },
      set: { type: 'set', valueType: 'text' },
      map: { type: 'map', keyType: 'text', valueType: 'int' },
      days: { type: 'map', keyType: 'date', valueType: 'double' },
      homes: { type: 'list', valueType: { type: 'userDefined', udtName: 'home' } },
      named: {
        type: 'map',
        keyType: 'int',
        valueType: { type: 'userDefined', udtName: 'home' },
      },
    },
    primaryKey: 'id',
  }
  const rows = [
    {
      id: 'a',
      list: [1, 2, 2],
      set: ['x', 'y'],
      map: { k: 1, l: 2 },
      days: [['2024-01-01', 'NaN']],
      homes: [{ city: 'Oslo', number: 1 }],
      named: [[1, { city: 'Oslo' }]],
    },
    {
      id: 'b',
      list: [2, 3],
      set: ['y'],
      map: { k: 2 },
      days: [['2024-01-02', 1.5]],
      homes: [{ city: 'Oslo' }, { number: 1 }],
      named: [[2, { city: 'Oslo', number: 1 }]],
    },
    { id: 'c' },
  ]
  const cases: [filter: object, expected: string][] = [
    [{ list: { $in: [1, 3] } }, 'ab'],
    [{ list: { $in: [1] } }, 'a'],
    [{ list: { $in: [] } }, ''],
    [{ list: { $nin: [1] } }, 'bc'],
    [{ list: { $nin: [] } }, 'abc'],
    [{ list: { $all: [1, 2] } }, 'a'],
    [{ list: { $all: [2] } }, 'ab'],
    [{ $not: { list: { $all: [1, 2] } } }, 'bc'],
    [{ $not: { list: { $in: [1] } } }, 'bc'],
    [{ $not: { list: { $nin: [1] } } }, 'a'],
    [{ $not: { $not: { list: { $all: [1, 2] } } } }, 'a'],
    [{ list: { $in: [2], $nin: [3] } }, 'a'],
    [{ set: { $in: ['x'] } }, 'a'],
    [{ set: { $all: ['x', 'y'] } }, 'a'],
    [{ set: { $nin: ['x'] } }, 'bc'],
    [{ map: { $in: [['k', 1]] } }, 'a'],
    [
      {
        map: {
          $in: [
            ['k', 2],
            ['l', 2],
          ],
        },
      },
      'ab',
    ],
    [{ map: { $nin: [['k', 1]] } }, 'bc'],
    [
      {
        map: {
          $all: [
            ['k', 1],
            ['l', 2],
          ],
        },
      },
      'a',
    ],
    [{ map: { $keys: { $in: ['l'] } } }, 'a'],
    [{ map: { $keys: { $all: ['k', 'l'] } } }, 'a'],
    [{ map: { $keys: { $nin: ['l'] } } }, 'bc'],
    [{ $not: { map: { $keys: { $all: ['k', 'l'] } } } }, 'bc'],
    [{ map: { $values: { $in: [2] } } }, 'ab'],
    [{ map: { $values: { $nin: [1] } } }, 'bc'],
    [{ map: { $keys: { $in: ['k'] }, $values: { $nin: [1] } } }, 'b'],
    [{ map: { $in: [['k', 1]], $keys: { $in: ['l'] } } }, 'a'],
    [{ days: { $in: [['2024-01-01', 'NaN']] } }, 'a'],
    [{ days: { $keys: { $in: ['2024-01-02'] } } }, 'b'],
    [{ days: { $values: { $in: ['NaN', 1.5] } } }, 'ab'],
    [{ homes: { $in: [{ city: 'Oslo' }] } }, 'b'],
    [{ homes: { $in: [{ number: 1, city: 'Oslo' }] } }, 'a'],
    [{ homes: { $in: [{ number: 1, city: null }] } }, 'b'],
    [{ homes: { $all: [{ city: 'Oslo' }, { number: 1 }] } }, 'b'],
    [{ named: { $in: [[1, { city: 'Oslo' }]] } }, 'a'],
    [{ named: { $values: { $in: [{ city: 'Oslo', number: 1 }] } } }, 'b'],
    [{ named: { $keys: { $nin: [1] } } }, 'bc'],
  ]
  let plain: Target
  let indexed: Target
  before(async () => {
    const fields = { city: 'text', number: 'int' }
    await tables.keyspace({ createType: { name: 'home', definition: { fields } } })
    plain = await tables.create(definition, rows)
    indexed = await tables.create(definition, rows)
    const parts = ['list', 'set', 'map', 'days', { map: '$keys' }, { map: '$values' }]
    for (const [position, column] of parts.entries())
      await indexed.run({
        createIndex: { name: `part_${position}`, definition: { column } },
      })
  })

  for (const [filter, expected] of cases)
    test(`match ${JSON.stringify(filter)}`, async () => {
      assert.equal(await idsOf(plain, filter), expected)
      assert.equal(await idsOf(indexed, filter), expected, 'with indexes')
    })
})

describe('a filter on a column whose index has text options', () => {
  test('finds texts that are equal under these options', async () => {
    const table = await tables.create(
      {
        columns: {
          id: 'text',
          name: 'text',
          tags: { type: 'set', valueType: 'text' },
          notes: { type: 'map', keyType: 'text', valueType: 'text' },
        },
        primaryKey: 'id',
      },
      [
        { id: 'a', name: 'Zoë', tags: ['Red'], notes: { Size: 'Small' } },
        { id: 'b', name: 'zoe', tags: ['red', 'Blue'], notes: { size: 'small' } },
        { id: 'c', name: 'Max', tags: ['green'], notes: { color: 'SMALL' } },
        { id: 'd' },
      ],
    )
    assert.equal(await idsOf(table, { name: 'ZOE' }), '')
    const index = async (name: string, column: unknown, options: object) =>
      table.run({ createIndex: { name, definition: { column, options } } })
    await index('folded_name', 'name', { ascii: true, caseSensitive: false })
    await index('folded_tags', 'tags', { caseSensitive: false })
    await index('folded_keys', { notes: '$keys' }, { caseSensitive: false })
    for (const [filter, expected] of [
      [{ name: 'ZOE' }, 'ab'],
      [{ name: { $in: ['zoé', 'x'] } }, 'ab'],
      [{ name: { $ne: 'zoe' } }, 'c'],
      [{ name: { $nin: ['zoe'] } }, 'c'],
      [{ $not: { name: 'zoe' } }, 'c'],
      [{ name: { $gt: 'Max' } }, 'ab'],
      [{ tags: { $in: ['RED'] } }, 'ab'],
      [{ tags: { $all: ['RED', 'blue'] } }, 'b'],
      [{ tags: { $nin: ['RED'] } }, 'cd'],
      [{ notes: { $keys: { $in: ['SIZE'] } } }, 'ab'],
      [{ notes: { $values: { $in: ['small'] } } }, 'b'],
      [{ notes: { $in: [['size', 'small']] } }, 'b'],
    ] as const)
      assert.equal(await idsOf(table, filter), expected, JSON.stringify(filter))
    await table.insert({ id: 'e', name: 'ZÖE' })
    assert.equal(await idsOf(table, { name: 'zoe' }), 'abe')
  })
})

describe('$match', () => {
  let table: Target
  before(async () => {
    table = await tables.create(
      { columns: { id: 'text', note: 'text', code: 'ascii', n: 'int' }, primaryKey: 'id' },
      [
        { id: 'a', note: 'The red house', n: 1 },
        { id: 'b', note: 'a red, red car', n: 2 },
        { id: 'c', note: '', n: 3 },
        { id: 'd', n: 4 },
      ],
    )
    await table.run({ createTextIndex: { name: 'notes', definition: { column: 'note' } } })
  })

  test('finds rows whose text contains every term', async () => {
    for (const [filter, expected] of [
      [{ note: { $match: 'RED' } }, 'ab'],
      [{ note: { $match: 'house red' } }, 'a'],
      [{ note: { $match: 'house car' } }, ''],
      [{ note: { $match: 'red' }, n: { $gt: 1 } }, 'b'],
      [{ $or: [{ note: { $match: 'car' } }, { n: 4 }] }, 'bd'],
      [{ note: 'The red house' }, 'a'],
    ] as const)
      assert.equal(await idsOf(table, filter), expected, JSON.stringify(filter))
  })

  test('requires a text index, a string and terms, and cannot be negated', async () => {
    for (const [filter, code, message] of [
      [
        { code: { $match: 'x' } },
        'CANNOT_LEXICAL_FILTER_NON_INDEXED_COLUMNS',
        /code\(ascii\).*note\(text\)/,
      ],
      [{ n: { $match: 'x' } }, 'CANNOT_LEXICAL_FILTER_NON_INDEXED_COLUMNS', /n\(int\)/],
      [{ note: { $match: 1 } }, 'FILTER_INVALID_EXPRESSION', /1 \(Number\)/],
      [{ $not: { note: { $match: 'x' } } }, 'FILTER_INVALID_EXPRESSION', /\$not/],
      [
        { note: { $match: '!?' } },
        'FILTER_INVALID_EXPRESSION',
        /"note": the analyzer finds no terms/,
      ],
    ] as const) {
      const { message: told } = await table.refuse({ find: { filter } }, code)
      assert.match(told, message)
    }
  })
})

describe('a filter on the primary key', () => {
  interface Row {
    readonly p: number
    readonly q: string
    readonly c: number | 'NaN'
    readonly d: string
    readonly n: number
  }

  const rows: Row[] = []
  for (const p of [1, 2])
    for (const q of ['', 'x', 'xy'])
      for (const c of [-1, 0, 2.5, 'NaN'] as const)
        for (const d of ['a', 'a\u0000', 'b']) rows.push({ p, q, c, d, n: rows.length })

  /** A number that sorts like the value: NaN is the greatest number. */
  const order = (value: number | string) => (value === 'NaN' ? Infinity : value)

  const compare = (a: number | string, b: number | string) =>
    order(a) < order(b) ? -1 : order(a) > order(b) ? 1 : 0

  const sorted = rows.toSorted(
    (a, b) =>
      compare(a.p, b.p) || compare(a.q, b.q) || compare(b.c, a.c) || compare(a.d, b.d),
  )

  const values = {
    p: [1, 2, 3],
    q: ['', 'x', 'xy', 'z'],
    c: [-1, 0, 1, 2.5, 'NaN'],
    d: ['a', 'a\u0000', 'b', ''],
  }

  const operators: Record<string, (order: number) => boolean> = {
    $eq: (order) => order === 0,
    $ne: (order) => order !== 0,
    $gt: (order) => order > 0,
    $gte: (order) => order >= 0,
    $lt: (order) => order < 0,
    $lte: (order) => order <= 0,
  }

  let table: Target
  before(async () => {
    table = await tables.create(
      {
        columns: { p: 'int', q: 'text', c: 'double', d: 'text', n: 'int' },
        primaryKey: { partitionBy: ['p', 'q'], partitionSort: { c: -1, d: 1 } },
      },
      rows,
    )
  })

  /** Returns a random filter on key columns, with a predicate for the rows that it matches. */
  function randomFilter(random: Random): [object, (row: Row) => boolean] {
    const filter: Record<string, Record<string, unknown>> = {}
    const holds: ((row: Row) => boolean)[] = []
    for (const name of ['p', 'q', 'c', 'd'] as const) {
      if (random.chance(0.3)) continue
      const pick = () => values[name][random.integer(0, values[name].length - 1)]!
      const condition: Record<string, unknown> = {}
      for (let left = random.integer(1, 2); left > 0; left--) {
        if (random.chance(0.2) && !('$in' in condition)) {
          const among = [pick(), pick()]
          condition['$in'] = among
          holds.push((row) => among.some((value) => compare(row[name], value) === 0))
          continue
        }
        const names = random.chance(0.5) ? ['$eq'] : Object.keys(operators)
        const operator = names[random.integer(0, names.length - 1)]!
        if (operator in condition) continue
        const value = pick()
        condition[operator] = value
        holds.push((row) => operators[operator]!(compare(row[name], value)))
      }
      if (Object.keys(condition).length > 0) filter[name] = condition
    }
    return [filter, (row) => holds.every((hold) => hold(row))]
  }

  test(`matches conditions on key columns and returns rows in key order (seed ${seed})`, async () => {
    const random = new Random(seed)
    for (let round = 0; round < 150; round++) {
      const [filter, holds] = randomFilter(random)
      const found = await table.all({ filter })
      // Partitions are sorted here, because the engine chooses their order.
      const inPartitions = found.toSorted(
        (a, b) =>
          compare(a['p'] as number, b['p'] as number) ||
          compare(a['q'] as string, b['q'] as string),
      )
      assert.deepEqual(
        inPartitions.map(({ n }) => n),
        sorted.filter(holds).map(({ n }) => n),
        JSON.stringify(filter),
      )
    }
  })

  test('can have conditions on other columns, and $or', async () => {
    const numbers = async (filter: object) =>
      (await table.all({ filter })).map(({ n }) => n as number).toSorted((a, b) => a - b)
    assert.deepEqual(await numbers({ p: 1, q: '', n: { $lt: 3 } }), [0, 1, 2])
    assert.deepEqual(await numbers({ $and: [{ p: 1 }, { q: '', c: -1, d: 'b' }] }), [2])
    assert.deepEqual(await numbers({ $and: [{ p: 1 }, { p: 2 }] }), [])
    assert.deepEqual(
      await numbers({ $or: [{ p: 1, q: '', c: -1, d: 'a' }, { n: 71 }] }),
      [0, 71],
    )
    assert.deepEqual(await numbers({ p: { $in: [] } }), [])
  })

  test('accepts ten thousand combinations of key values', async () => {
    const many = Array.from({ length: 100 }, (_, n) => n)
    const texts = [...many.map((n) => `none ${n}`).slice(0, 98), 'x', 'xy']
    const found = await table.all({ filter: { p: { $in: many }, q: { $in: texts } } })
    assert.equal(found.length, 48)
  })
})

describe('a rejected filter', () => {
  let table: Target
  before(async () => {
    table = await tables.create({
      columns: {
        id: 'text',
        n: 'int',
        t: 'text',
        when: 'duration',
        day: 'date',
        key: 'blob',
        l: { type: 'list', valueType: 'int' },
        s: { type: 'set', valueType: 'text' },
        m: { type: 'map', keyType: 'text', valueType: 'int' },
        v: { type: 'vector', dimension: 2 },
        home: { type: 'userDefined', udtName: 'home' },
      },
      primaryKey: 'id',
    })
  })

  const hundredAndOne = Array.from({ length: 101 }, (_, n) => n)
  const cases: [filter: unknown, code: string, message: RegExp][] = [
    ['x', 'FILTER_UNSUPPORTED_DATA_TYPE', /String/],
    [[], 'FILTER_UNSUPPORTED_DATA_TYPE', /Array/],
    [{ zip: 1, city: 2 }, 'UNKNOWN_TABLE_COLUMNS', /city, zip.*id\(text\)/],
    [{ 'home.city': 'x' }, 'UNKNOWN_TABLE_COLUMNS', /home\.city/],
    [{ $or: [{ zip: 1 }] }, 'UNKNOWN_TABLE_COLUMNS', /zip/],
    [{ zip: { $keys: { $in: ['a'] } } }, 'UNKNOWN_TABLE_COLUMNS', /zip/],
    [{ zip: { $date: 1 } }, 'UNKNOWN_TABLE_COLUMNS', /zip/],
    [{ zip: { a: 1 } }, 'FILTER_UNSUPPORTED_DATA_TYPE', /"zip".*Object/],
    [{ zip: {} }, 'FILTER_UNSUPPORTED_DATA_TYPE', /"zip".*Object/],
    [{ zip: { $eq: { a: 1 } } }, 'FILTER_UNSUPPORTED_DATA_TYPE', /"zip".*Object/],
    [{ $not: { zip: { $ne: {} } } }, 'FILTER_UNSUPPORTED_DATA_TYPE', /"zip".*Object/],
    [{ city: 1, zip: { a: 1 } }, 'FILTER_UNSUPPORTED_DATA_TYPE', /"zip".*Object/],
    // Values of another type, or out of range.
    [{ n: '1' }, 'INVALID_FILTER_COLUMN_VALUES', /n\(int\).*"1".*String/],
    [{ n: 1.5 }, 'INVALID_FILTER_COLUMN_VALUES', /1\.5/],
    [{ n: 2147483648 }, 'INVALID_FILTER_COLUMN_VALUES', /2147483648/],
    [{ n: { $in: [1, true] } }, 'INVALID_FILTER_COLUMN_VALUES', /true/],
    [{ n: { $eq: [1] } }, 'INVALID_FILTER_COLUMN_VALUES', /\[1\]/],
    [{ n: { $gt: 'x' } }, 'INVALID_FILTER_COLUMN_VALUES', /"x"/],
    [{ n: { $date: 1 } }, 'INVALID_FILTER_COLUMN_VALUES', /\$date/],
    [{ t: 1 }, 'INVALID_FILTER_COLUMN_VALUES', /t\(text\)/],
    [{ day: '2023-02-29' }, 'INVALID_FILTER_COLUMN_VALUES', /2023-02-29/],
    [{ key: 'AA==' }, 'INVALID_FILTER_COLUMN_VALUES', /key\(blob\)/],
    [{ key: { $binary: 'A' } }, 'INVALID_FILTER_COLUMN_VALUES', /\$binary/],
    [{ l: { $in: ['x'] } }, 'INVALID_FILTER_COLUMN_VALUES', /l\(list<int>\)/],
    [{ l: { $in: [null] } }, 'INVALID_FILTER_COLUMN_VALUES', /null/],
    [{ m: { $in: [['k', 'x']] } }, 'INVALID_FILTER_COLUMN_VALUES', /"x"/],
    [{ m: { $in: [[1, 1]] } }, 'INVALID_FILTER_COLUMN_VALUES', /m\(map<text, int>\)/],
    [{ m: { $keys: { $in: [1] } } }, 'INVALID_FILTER_COLUMN_VALUES', /1/],
    [{ m: { $values: { $all: ['x'] } } }, 'INVALID_FILTER_COLUMN_VALUES', /"x"/],
    [{ v: { $eq: [1, 2] } }, 'INVALID_FILTER_COLUMN_VALUES', /v\(vector\)/],
    [{ v: { $in: [] } }, 'INVALID_FILTER_COLUMN_VALUES', /v\(vector\)/],
    [{ home: 'x' }, 'INVALID_FILTER_COLUMN_VALUES', /home\(home\)/],
    // Null and objects as operands.
    [{ n: null }, 'FILTER_UNSUPPORTED_DATA_TYPE', /n\(int\).*Null/],
    [{ n: { $ne: null } }, 'FILTER_UNSUPPORTED_DATA_TYPE', /Null/],
    [{ n: { $in: [null] } }, 'FILTER_UNSUPPORTED_DATA_TYPE', /Null/],
    [{ n: { a: 1 } }, 'FILTER_UNSUPPORTED_DATA_TYPE', /Object/],
    [{ n: {} }, 'FILTER_UNSUPPORTED_DATA_TYPE', /Object/],
    [{ n: { $eq: { a: 1 } } }, 'FILTER_UNSUPPORTED_DATA_TYPE', /Object/],
    [{ n: { $gt: { a: 1 } } }, 'FILTER_UNSUPPORTED_DATA_TYPE', /n\(int\).*Object/],
    [{ zip: { $lte: { a: 1 } } }, 'FILTER_UNSUPPORTED_DATA_TYPE', /"zip".*Object/],
    [{ zip: { $in: [1, { a: 1 }] } }, 'FILTER_UNSUPPORTED_DATA_TYPE', /"zip".*Object/],
    [{ zip: { $nin: [{}] } }, 'FILTER_UNSUPPORTED_DATA_TYPE', /"zip".*Object/],
    [{ home: { city: 'x' } }, 'FILTER_UNSUPPORTED_DATA_TYPE', /Object/],
    [{ home: { $eq: { city: 'x' } } }, 'FILTER_UNSUPPORTED_DATA_TYPE', /Object/],
    // Malformed conditions.
    [{ n: [1] }, 'FILTER_INVALID_EXPRESSION', /Array/],
    [{ v: [1, 2] }, 'FILTER_INVALID_EXPRESSION', /Array/],
    [{ n: { $gt: 1, a: 1 } }, 'FILTER_INVALID_EXPRESSION', /"a"/],
    [{ $and: { n: 1 } }, 'FILTER_INVALID_EXPRESSION', /\$and/],
    [{ $or: [1] }, 'FILTER_INVALID_EXPRESSION', /1 \(Number\)/],
    [{ $not: [] }, 'FILTER_INVALID_EXPRESSION', /\$not/],
    [{ n: { $not: { $eq: 1 } } }, 'FILTER_UNSUPPORTED_OPERATOR', /\$not/],
    [{ l: { $or: [] } }, 'FILTER_UNSUPPORTED_OPERATOR', /\$or/],
    [{ n: { $in: 1 } }, 'FILTER_INVALID_EXPRESSION', /\$in/],
    [{ n: { $nin: hundredAndOne } }, 'FILTER_INVALID_EXPRESSION', /101.*100/],
    [{ l: { $in: hundredAndOne } }, 'FILTER_INVALID_EXPRESSION', /101.*100/],
    [{ l: { $all: [] } }, 'FILTER_INVALID_EXPRESSION', /\$all/],
    [{ n: { $gt: null } }, 'FILTER_INVALID_EXPRESSION', /null/],
    [{ n: { $lte: [1] } }, 'FILTER_INVALID_EXPRESSION', /Array/],
    // Unsupported operators.
    [{ n: { $regex: 'x' } }, 'FILTER_UNSUPPORTED_OPERATOR', /"\$regex"/],
    [{ l: { $regex: 'x' } }, 'FILTER_UNSUPPORTED_OPERATOR', /"\$regex"/],
    [{ $nor: [] }, 'FILTER_UNSUPPORTED_OPERATOR', /"\$nor"/],
    [{ n: { $exists: true } }, 'FILTER_UNSUPPORTED_OPERATOR', /\$exists.*n\(int\)/],
    [{ n: { $size: 1 } }, 'FILTER_UNSUPPORTED_OPERATOR', /\$size/],
    [{ n: { $all: [1] } }, 'FILTER_UNSUPPORTED_OPERATOR', /\$all/],
    [{ n: { $keys: { $in: [1] } } }, 'FILTER_UNSUPPORTED_OPERATOR', /\$keys/],
    [{ when: { $gt: '1h' } }, 'UNSUPPORTED_COMPARISON_FILTER_AGAINST_DURATION', /when/],
    // Invalid conditions on maps, sets and lists.
    [{ l: 1 }, 'INVALID_MAP_SET_LIST_FILTER', /l\(list<int>\)/],
    [{ l: [1] }, 'INVALID_MAP_SET_LIST_FILTER', /Array/],
    [{ l: null }, 'INVALID_MAP_SET_LIST_FILTER', /null/],
    [{ l: {} }, 'INVALID_MAP_SET_LIST_FILTER', /Object/],
    [{ s: { $eq: 'x' } }, 'INVALID_MAP_SET_LIST_FILTER', /\$eq/],
    [{ s: { $match: 'x' } }, 'INVALID_MAP_SET_LIST_FILTER', /\$match/],
    [{ s: { $size: 1 } }, 'INVALID_MAP_SET_LIST_FILTER', /\$size/],
    [{ s: { $in: 'x' } }, 'INVALID_MAP_SET_LIST_FILTER', /"x"/],
    [{ s: { $all: 'x' } }, 'INVALID_MAP_SET_LIST_FILTER', /"x"/],
    [{ s: { $keys: { $in: ['x'] } } }, 'INVALID_MAP_SET_LIST_FILTER', /\$keys/],
    [{ m: { k: 1 } }, 'INVALID_MAP_SET_LIST_FILTER', /Object/],
    [{ m: { $in: ['k'] } }, 'INVALID_MAP_SET_LIST_FILTER', /"k".*pair/],
    [{ m: { $in: [['k']] } }, 'INVALID_MAP_SET_LIST_FILTER', /pair/],
    [{ m: { $in: [{ k: 1 }] } }, 'INVALID_MAP_SET_LIST_FILTER', /pair/],
    [{ m: { $keys: ['k'] } }, 'INVALID_MAP_SET_LIST_FILTER', /\$keys/],
    [{ m: { $values: { $gt: 1 } } }, 'INVALID_MAP_SET_LIST_FILTER', /\$gt/],
    [{ m: { $keys: { $keys: { $in: [] } } } }, 'INVALID_MAP_SET_LIST_FILTER', /\$keys/],
  ]
  for (const [filter, code, message] of cases)
    test(`is answered with ${code}: ${JSON.stringify(filter).slice(0, 60)}`, async () => {
      await refuseFinds(table, { filter }, { code, scope: 'FILTER', message })
    })

  test('reports errors of its structure first, then of its columns, then of its values', async () => {
    const refuse = (filter: object, code: string) =>
      table.refuse({ find: { filter } }, code)
    await refuse({ zip: 1, n: [1] }, 'FILTER_INVALID_EXPRESSION')
    await refuse({ n: 'x', zip: 1 }, 'UNKNOWN_TABLE_COLUMNS')
    await refuse(
      { n: 'x', t: { $match: 'x' } },
      'CANNOT_LEXICAL_FILTER_NON_INDEXED_COLUMNS',
    )
    await refuse(
      { n: 'x', when: { $lt: '1h' } },
      'UNSUPPORTED_COMPARISON_FILTER_AGAINST_DURATION',
    )
  })

  test('has more than 64 comparisons, whereas $in accepts 100 values', async () => {
    const comparisons = (count: number) => ({
      $or: Array.from({ length: count }, (_, n) => ({ n: { $ne: n } })),
    })
    await table.run({ find: { filter: comparisons(64) } })
    const { message } = await table.refuse(
      { find: { filter: comparisons(65) } },
      'FILTER_FIELDS_LIMIT_VIOLATION',
    )
    assert.match(message, /65.*64/)
    await table.run({ find: { filter: { n: { $in: hundredAndOne.slice(1) } } } })
  })
})

describe('warnings of a filter', () => {
  let table: Target
  before(async () => {
    table = await tables.create({
      columns: {
        p: 'text',
        q: 'int',
        c: 'int',
        d: 'text',
        plain: 'text',
        n: 'int',
        word: 'text',
        flag: 'boolean',
        note: 'text',
        id: 'uuid',
        list: { type: 'list', valueType: 'int' },
        bare: { type: 'set', valueType: 'int' },
        map: { type: 'map', keyType: 'text', valueType: 'int' },
        v: { type: 'vector', dimension: 2 },
      },
      primaryKey: { partitionBy: ['p', 'q'], partitionSort: { c: 1, d: -1 } },
    })
    for (const [name, column] of [
      ['on_n', 'n'],
      ['on_word', 'word'],
      ['on_flag', 'flag'],
      ['on_id', 'id'],
      ['on_q', 'q'],
      ['on_list', 'list'],
      ['on_keys', { map: '$keys' }],
    ] as const)
      await table.run({ createIndex: { name, definition: { column } } })
    await table.run({
      createTextIndex: { name: 'on_note', definition: { column: 'note' } },
    })
    await table.run({ createVectorIndex: { name: 'on_v', definition: { column: 'v' } } })
  })

  const uuid = '00000000-0000-4000-8000-000000000001'
  const cases: [clauses: object, warnings: string[]][] = [
    [{}, ['ZERO_FILTER_OPERATIONS']],
    [{ filter: {} }, ['ZERO_FILTER_OPERATIONS']],
    [{ filter: { $and: [{}] } }, ['ZERO_FILTER_OPERATIONS']],
    [{ sort: { v: [1, 1] } }, []],
    [{ sort: { note: 'x' } }, ['ZERO_FILTER_OPERATIONS']],
    // Filters on the whole key, or on a prefix of it.
    [{ filter: { p: 'a', q: 1 } }, []],
    [{ filter: { p: 'a', q: 1, c: 1 } }, []],
    [{ filter: { p: 'a', q: 1, c: 1, d: 'x' } }, []],
    [{ filter: { p: { $in: ['a', 'b'] }, q: 1, c: { $gt: 1 } } }, []],
    [{ filter: { p: 'a' } }, ['INCOMPLETE_PRIMARY_KEY_FILTER q(int)']],
    [{ filter: { c: 1 } }, ['INCOMPLETE_PRIMARY_KEY_FILTER p(text), q(int)']],
    [{ filter: { p: 'a', q: 1, d: 'x' } }, ['INCOMPLETE_PRIMARY_KEY_FILTER d(text)']],
    [{ filter: { p: 'a', d: 'x' } }, ['INCOMPLETE_PRIMARY_KEY_FILTER q(int), c(int)']],
    // When another column is filtered on, key columns are treated like other columns.
    [{ filter: { n: 1 } }, []],
    [{ filter: { p: 'a', q: 1, n: 1 } }, ['MISSING_INDEX p(text)']],
    [{ filter: { q: 1, n: 1 } }, []],
    [{ filter: { plain: 'x' } }, ['MISSING_INDEX plain(text)']],
    [{ filter: { plain: 'x', n: 1, c: 1 } }, ['MISSING_INDEX plain(text), c(int)']],
    [{ filter: { note: 'x' } }, []],
    [{ filter: { note: { $match: 'x' } } }, []],
    // Maps, sets and lists need an index on the part that the filter uses.
    [{ filter: { list: { $in: [1] } } }, []],
    [{ filter: { bare: { $in: [1] } } }, ['MISSING_INDEX bare(set<int>)']],
    [{ filter: { map: { $keys: { $in: ['x'] } } } }, []],
    [{ filter: { map: { $in: [['x', 1]] } } }, ['MISSING_INDEX map(map<text, int>)']],
    [{ filter: { map: { $values: { $in: [1] } } } }, ['MISSING_INDEX map(map<text, int>)']],
    [
      { filter: { p: 'a', bare: { $nin: [1] }, plain: 'x' } },
      ['MISSING_INDEX p(text), plain(text)', 'MISSING_INDEX bare(set<int>)'],
    ],
    // Operators that do not use an index.
    [{ filter: { word: { $ne: 'x' } } }, ['NOT_EQUALS_UNSUPPORTED_BY_INDEXING word(text)']],
    [
      { filter: { $not: { word: 'x' } } },
      ['NOT_EQUALS_UNSUPPORTED_BY_INDEXING word(text)'],
    ],
    [{ filter: { n: { $ne: 1 } } }, []],
    [{ filter: { plain: { $ne: 'x' } } }, ['MISSING_INDEX plain(text)']],
    [
      { filter: { word: { $gt: 'x' }, id: { $lte: uuid } } },
      ['COMPARISON_FILTER_UNSUPPORTED_BY_INDEXING word(text), id(uuid)'],
    ],
    [{ filter: { n: { $gt: 1 } } }, []],
    [
      { filter: { flag: { $nin: [true] } } },
      ['NOT_IN_FILTER_UNSUPPORTED_BY_INDEXING flag(boolean)'],
    ],
    [{ filter: { list: { $nin: [1] } } }, []],
    [
      {
        filter: {
          word: { $nin: ['x'], $ne: 'y', $gt: 'a' },
          plain: 'x',
          bare: { $all: [1] },
        },
      },
      [
        'MISSING_INDEX plain(text)',
        'MISSING_INDEX bare(set<int>)',
        'NOT_EQUALS_UNSUPPORTED_BY_INDEXING word(text)',
        'COMPARISON_FILTER_UNSUPPORTED_BY_INDEXING word(text)',
        'NOT_IN_FILTER_UNSUPPORTED_BY_INDEXING word(text)',
      ],
    ],
    // Warnings about the sort come first.
    [
      { filter: { plain: 'x' }, sort: { n: 1 } },
      ['IN_MEMORY_SORTING_DUE_TO_NON_PARTITION_SORTING', 'MISSING_INDEX plain(text)'],
    ],
  ]
  for (const [clauses, expected] of cases)
    test(`are ${expected.join(' and ') || 'absent'}: ${JSON.stringify(clauses)}`, async () => {
      for (const command of ['find', 'findOne']) {
        const { status } = await table.run({ [command]: clauses })
        const warnings = status!.warnings ?? []
        assert.deepEqual(
          warnings.map(({ errorCode }) => errorCode),
          expected.map((text) => text.split(' ')[0]),
        )
        for (const [position, { message, scope, family }] of warnings.entries()) {
          assert.deepEqual([family, scope], ['REQUEST', 'WARNING'])
          const named = expected[position]!.split(/ (.*)/s)[1] ?? 'default_keyspace.'
          assert(message.includes(named), `${message}\nshould name ${named}`)
        }
      }
    })
})
