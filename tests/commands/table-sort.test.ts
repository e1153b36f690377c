/** Sorting rows by the values of columns. */
import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import { unlessOnCluster } from '../test-engine.ts'
import type { Target } from './collections.ts'
import { refuseFinds, WrittenTables } from './written-tables.ts'

const definition = {
  columns: { p: 'int', q: 'text', c: 'int', d: 'int', n: 'int', t: 'text' },
  primaryKey: { partitionBy: ['p', 'q'], partitionSort: { c: 1, d: -1 } },
}

describe('a sort of rows', () => {
  const tables = new WrittenTables()
  let table: Target
  before(async () => {
    const rows = [1, 2].flatMap((p) =>
      [1, 2].flatMap((c) => [1, 2].map((d) => ({ p, q: 'x', c, d, n: p * c * d }))),
    )
    table = await tables.create(definition, rows)
  })

  const fixed = { p: 1, q: 'x' }
  const skipping = 'IN_MEMORY_SORTING_DUE_SKIP_OPTIONS'
  const otherColumn = 'IN_MEMORY_SORTING_DUE_TO_NON_PARTITION_SORTING'
  const otherOrder = 'IN_MEMORY_SORTING_DUE_TO_OUT_OF_ORDER_PARTITION_SORTING'
  const manyPartitions = 'IN_MEMORY_SORTING_DUE_TO_PARTITION_KEY_NOT_RESTRICTED'
  /**
   * Filter, sort and options, the warning about a sort in memory, and the found values of c and d.
   */
  const plans: [
    filter: object,
    sort: object,
    options: object,
    warning: string,
    shown: string,
  ][] = [
    // Rows in storage order or its reverse.
    [fixed, { c: 1 }, {}, '', '12 11 22 21'],
    [fixed, { c: 1, d: -1 }, {}, '', '12 11 22 21'],
    [fixed, { c: -1 }, {}, '', '21 22 11 12'],
    [fixed, { c: -1, d: 1 }, {}, '', '21 22 11 12'],
    [{ p: { $in: [1] }, q: { $eq: 'x' } }, { c: 1 }, {}, '', '12 11 22 21'],
    [{ $and: [{ p: 1 }, { q: 'x' }] }, { c: -1 }, {}, '', '21 22 11 12'],
    [{ ...fixed, c: 2 }, { c: 1, d: -1 }, {}, '', '22 21'],
    [{ ...fixed, n: { $gt: 1 } }, { c: -1 }, { skip: 0 }, '', '21 22 12'],
    // Rows sorted in memory; the warning names the first reason that applies.
    [fixed, { c: 1 }, { skip: 1 }, skipping, '11 22 21'],
    [fixed, { n: 1 }, { skip: 1 }, skipping, '12 21 22'],
    [fixed, { n: 1 }, {}, otherColumn, '11 12 21 22'],
    [fixed, { c: -1, n: 1 }, {}, otherColumn, '21 22 11 12'],
    [fixed, { p: 1 }, {}, otherColumn, '12 11 22 21'],
    [{}, { t: 1, d: 1 }, {}, otherColumn, '11 21 11 21 12 22 12 22'],
    [fixed, { d: 1 }, {}, otherOrder, '11 21 12 22'],
    [fixed, { d: -1, c: 1 }, {}, otherOrder, '12 22 11 21'],
    [fixed, { c: 1, d: 1 }, {}, otherOrder, '11 12 21 22'],
    [fixed, { c: -1, d: -1 }, {}, otherOrder, '22 21 12 11'],
    [{ p: 1 }, { c: 1 }, {}, manyPartitions, '12 11 22 21'],
    [
      { p: { $in: [1, 2] }, q: 'x' },
      { c: -1 },
      {},
      manyPartitions,
      '22 21 22 21 12 11 12 11',
    ],
    [{ p: { $gte: 2 }, q: 'x' }, { c: 1 }, {}, manyPartitions, '12 11 22 21'],
    [{ $or: [fixed] }, { c: 1 }, {}, manyPartitions, '12 11 22 21'],
  ]
  for (const [filter, sort, options, warning, shown] of plans)
    test(`causes ${warning || 'no warning'}: ${JSON.stringify([filter, sort, options])}`, async () => {
      const { data, status } = await table.run({ find: { filter, sort, options } })
      assert.equal(data!.documents!.map(({ c, d }) => [c, d].join('')).join(' '), shown)
      const [first] = status!.warnings ?? []
      const told = first?.errorCode.startsWith('IN_MEMORY') ? first.errorCode : ''
      assert.equal(told, warning)
      if (warning !== '') assert.match(first!.message, /c\(int\), d\(int\)/)
      const { data: all } = await table.run({ find: { filter } })
      const count = warning === '' ? undefined : all!.documents!.length
      assert.equal(status!['sortedRowCount'], count)
      const one = await table.run({ findOne: { filter, sort } })
      if (warning !== skipping) {
        assert.deepEqual(one.data!.document, data!.documents![0])
        assert.equal(one.status!['sortedRowCount'], count)
      }
    })

  test('places rows without a value first, and last when descending', async () => {
    const sparse = await tables.create(definition, [
      { p: 1, q: 'x', c: 1, d: 1, n: 2, t: 'b' },
      { p: 1, q: 'x', c: 1, d: 2, t: 'a' },
      { p: 2, q: 'x', c: 1, d: 3, n: 1 },
      { p: 2, q: 'x', c: 1, d: 4, n: 2, t: 'a' },
    ])
    const order = async (sort: object) =>
      (await sparse.all({ sort })).map(({ d }) => d).join('')
    assert.equal(await order({ n: 1 }), '2314')
    assert.equal(await order({ n: -1 }), '1432')
    assert.equal(await order({ t: 1, n: -1 }), '3421')
    assert.equal(await order({ t: -1, n: 1 }), '1243')
    assert.equal(await order({ n: 1, t: 1 }), '2341')
    assert.equal(await order({ n: -1, t: -1 }), '1432')
  })

  test('orders values as their type defines', async () => {
    const ascending: Record<string, readonly unknown[]> = {
      ascii: ['', 'A', 'a'],
      blob: [{ $binary: '' }, { $binary: 'AA==' }, { $binary: '/w==' }],
      boolean: [false, true, true],
      date: ['-0044-03-15', '0999-01-01', '2000-01-01'],
      decimal: [-1e30, 0.1, 2],
      double: ['-Infinity', 1, 'NaN'],
      inet: ['::1', '9.0.0.1', '10.0.0.1'],
      time: ['00:00', '09:00', '10:00'],
      timestamp: [
        '1969-12-31T23:59:59Z',
        '2000-01-01T00:00:00+02:00',
        '2000-01-01T00:00:00Z',
      ],
      uuid: [
        'ffffffff-0000-1000-8000-000000000001',
        '00000000-0000-4000-8000-000000000001',
        'ffffffff-0000-4000-8000-000000000001',
      ],
      varint: [-10, 9, 10],
    }
    const types = Object.keys(ascending)
    const columns = Object.fromEntries(types.map((type) => [type, type]))
    const rows = [2, 0, 1].map((id) => ({
      id,
      ...Object.fromEntries(types.map((type) => [type, ascending[type]![id]])),
    }))
    const all = await tables.create(
      { columns: { id: 'int', ...columns }, primaryKey: 'id' },
      rows,
    )
    for (const type of types) {
      const ids = async (sort: object) => (await all.all({ sort })).map(({ id }) => id)
      assert.deepEqual(await ids({ [type]: 1 }), [0, 1, 2], type)
      assert.deepEqual(
        await ids({ [type]: -1 }),
        type === 'boolean' ? [1, 2, 0] : [2, 1, 0],
        type,
      )
    }
  })

  describe('in memory', () => {
    const order = Array.from({ length: 50 }, (_, n) => n)
    let many: Target
    before(async () => {
      many = await tables.create(
        { columns: { id: 'int', n: 'int', same: 'int' }, primaryKey: 'id' },
        order.map((id) => ({ id, n: 49 - id, same: 7 })),
      )
    })
    const numbers = async (sort: object, options: object) =>
      (await many.pages({ sort }, options)).map((page) => page.map(({ n }) => n))

    for (const [options, from, to] of [
      [{}, 0, 50],
      [{ limit: 5 }, 0, 5],
      [{ limit: 20 }, 0, 20],
      [{ limit: 21 }, 0, 21],
      [{ limit: 45 }, 0, 45],
      [{ limit: 1000 }, 0, 50],
      [{ skip: 10 }, 10, 50],
      [{ skip: 7, limit: 30 }, 7, 37],
      [{ skip: 45, limit: 10 }, 45, 50],
      [{ skip: 50 }, 50, 50],
    ] as const)
      test(`returns pages up to the limit, after the skipped rows: ${JSON.stringify(options)}`, async () => {
        const wanted = order.slice(from, to)
        assert.deepEqual(await numbers({ n: 1 }, options), inPages(wanted))
        assert.deepEqual(
          await numbers({ n: -1 }, options),
          inPages(order.toReversed().slice(from, to)),
        )
        // Ids decide the order when values are equal or absent.
        const byId = order.toReversed().slice(from, to)
        assert.deepEqual(await numbers({ same: 1 }, options), inPages(byId))
      })

    for (const indexed of [false, true])
      test(`continues after a page that ends with an infinite number or NaN${indexed ? ', with an index' : ''}`, async () => {
        const values = ['-Infinity', -1.5, 0, 'Infinity', 'NaN']
        const numbers = await tables.create(
          { columns: { id: 'int', d: 'double', f: 'float' }, primaryKey: 'id' },
          Array.from({ length: 150 }, (_, id) => {
            const value = values[Math.floor(id / 30)]
            return { id: (id * 7) % 150, d: value, f: value }
          }),
        )
        if (indexed)
          for (const column of ['d', 'f'])
            await numbers.run({
              createIndex: { name: `of_${column}`, definition: { column } },
            })
        for (const column of ['d', 'f'])
          for (const [direction, order] of [
            [1, values],
            [-1, values.toReversed()],
          ] as const) {
            const found = await numbers.all({ sort: { [column]: direction } })
            assert.equal(new Set(found.map(({ id }) => id)).size, 150)
            assert.deepEqual(
              found.map((row) => row[column]),
              order.flatMap((value) => Array.from({ length: 30 }, () => value)),
            )
          }
      })

    test('warns on every page, and reports the number of sorted rows on the first page only', async () => {
      const first = await many.run({ find: { sort: { n: 1 } } })
      assert.equal(first.status!['sortedRowCount'], 50)
      const pageState = first.data!.nextPageState
      const second = await many.run({ find: { sort: { n: 1 }, options: { pageState } } })
      assert.equal(second.status!['sortedRowCount'], undefined)
      for (const { status } of [first, second])
        assert.equal(status!.warnings![0]!.errorCode, otherColumn)
    })

    test('rejects a damaged page state and page states of other queries', async () => {
      const { data } = await many.run({ find: { sort: { n: 1 } } })
      const options = { pageState: data!.nextPageState }
      for (const find of [
        { sort: { n: -1 }, options },
        { sort: { n: 1, same: 1 }, options },
        { sort: { n: 1 }, filter: { same: 7 }, options },
        { options },
        { sort: { n: 1 }, options: { pageState: 'abc' } },
      ]) {
        const { message } = await many.refuse({ find }, 'COMMAND_FIELD_VALUE_INVALID')
        assert.match(message, /pageState/)
      }
      await many.run({ find: { sort: { n: 1 }, options: { pageState: '' } } })
    })
  })

  test(
    'continues after a page that ends with the longest values, of any characters',
    unlessOnCluster,
    async () => {
      const long = (text: string, count: number) => ({ s: `t${text.repeat(count)}` })
      const binary = Buffer.alloc(1_000_000, 0xfe).toString('base64')
      const cases: [column: string, last: object][] = [
        ['s', long('x', 830_000)],
        ['s', long('\u0001', 125_000)],
        ['s', long('"', 210_000)],
        ['s', long('€', 280_000)],
        ['b', { b: { $binary: binary } }],
        ['q', { q: '\u0001'.repeat(65_000), r: '\u0001'.repeat(65_000), s: 't' }],
      ]
      for (const [nth, [column, last]] of cases.entries()) {
        const values = Array.from({ length: 22 }, (_, n) =>
          n === 19 ? last : { s: n < 19 ? 's' : 'u', b: { $binary: n < 19 ? '' : '/w==' } },
        )
        const rows = values.map((row, n) => ({ p: '\u0001', q: String(n), r: '', ...row }))
        const sort = { [column === 'q' ? 's' : column]: 1 }
        const columns = { p: 'text', q: 'text', r: 'text', s: 'text', b: 'blob' }
        const primaryKey = { partitionBy: ['p'], partitionSort: { q: 1, r: 1 } }
        const found = await tables.create({ columns, primaryKey }, rows)
        const pages = await found.pages({ sort, projection: { q: 1 } })
        assert.deepEqual(
          pages.map(({ length }) => length),
          [20, 2],
          `case ${nth}`,
        )
      }
    },
  )

  test('returns rows in the same order with and without a skip', async () => {
    for (const sort of [{ c: 1 }, { c: -1 }, { d: 1 }, { n: -1 }]) {
      const all = await table.all({ filter: fixed, sort })
      for (const [skip, row] of all.entries()) {
        const find = { filter: fixed, sort, options: { skip, limit: 1 } }
        assert.deepEqual((await table.run({ find })).data!.documents, [row])
      }
      // A page state is valid whether or not the next request repeats the skip.
      assert.deepEqual(
        (await table.pages({ filter: fixed, sort }, { skip: 1 })).flat(),
        all.slice(1),
      )
    }
  })
})

function inPages<T>(items: readonly T[]): T[][] {
  const pages: T[][] = []
  for (let at = 0; at < items.length; at += 20) pages.push(items.slice(at, at + 20))
  return pages.length === 0 ? [[]] : pages
}

describe('a sort in memory', () => {
  const tables = new WrittenTables({
    tableSortRowsMax: 30,
    sortedDocumentsMax: 10,
    bodySizeMax: 6_000,
    documentLengthMax: 6_000,
  })

  test('is rejected when its values are too long for a page state, unless one page suffices', async () => {
    const rows = Array.from({ length: 22 }, (_, id) => ({ id, s: id < 19 ? 's' : 'u' }))
    const columns = { id: 'int', s: 'text' }
    const found = await tables.create({ columns, primaryKey: 'id' }, rows)
    await found.insert({ id: 19, s: `t${'x'.repeat(3_800)}` })
    const find = { sort: { s: 1 }, projection: { id: 1 } }
    const code = 'UNSUPPORTED_PAGINATION_WITH_LONG_VALUES'
    const { message, scope } = await found.refuse({ find }, code)
    assert.match(
      message,
      /values of "s".*maximum is 5000.*options\.limit to no more than.* 20,/,
    )
    assert.equal(scope, 'SORT')
    assert.deepEqual((await found.pages(find, { limit: 20 }))[0]!.length, 20)
    assert.equal((await found.all({ ...find, sort: { id: 1 } })).length, 22)
  })

  test('has a maximum number of rows, which does not apply to other reads', async () => {
    const columns = { p: 'int', c: 'int', n: 'int' }
    const primaryKey = { partitionBy: ['p'], partitionSort: { c: 1 } }
    const table = await tables.create(
      { columns, primaryKey },
      Array.from({ length: 31 }, (_, c) => ({ p: 1, c, n: -c })),
    )
    const { message } = await table.refuse(
      { find: { sort: { n: 1 } } },
      'OVERLOADED_SORT_ROW_LIMIT',
    )
    assert.match(message, /the maximum is 30/)
    await table.refuse({ findOne: { sort: { n: 1 } } }, 'OVERLOADED_SORT_ROW_LIMIT')
    const { status } = await table.run({
      find: { filter: { c: { $gt: 0 } }, sort: { n: 1 } },
    })
    assert.equal(status!['sortedRowCount'], 30)
    assert.equal((await table.all()).length, 31)
    assert.equal((await table.all({ filter: { p: 1 }, sort: { c: -1 } })).length, 31)
  })
})

describe('a rejected sort of rows', () => {
  const tables = new WrittenTables()
  let table: Target
  before(async () => {
    table = await tables.create({
      columns: {
        id: 'text',
        n: 'int',
        when: 'duration',
        list: { type: 'list', valueType: 'int' },
        set: { type: 'set', valueType: 'int' },
        map: { type: 'map', keyType: 'text', valueType: 'int' },
        v: { type: 'vector', dimension: 2 },
        w: { type: 'vector', dimension: 2 },
        note: 'text',
      },
      primaryKey: 'id',
    })
    await table.run({ createTextIndex: { name: 'notes', definition: { column: 'note' } } })
    await table.run({ createVectorIndex: { name: 'vectors', definition: { column: 'v' } } })
  })

  for (const [sort, code, message] of [
    ['n', 'SORT_CLAUSE_INVALID', /String/],
    [[], 'SORT_CLAUSE_INVALID', /Array/],
    [{ zip: 1, n: 'x', age: 1 }, 'CANNOT_SORT_UNKNOWN_COLUMNS', /age, zip.*n\(int\)/],
    [{ n: 2 }, 'INVALID_REGULAR_SORT_EXPRESSION', /n\(int\).*2 \(Number\)/],
    [{ n: 0 }, 'INVALID_REGULAR_SORT_EXPRESSION', /0/],
    [{ n: true }, 'INVALID_REGULAR_SORT_EXPRESSION', /Boolean/],
    [{ n: null }, 'INVALID_REGULAR_SORT_EXPRESSION', /Null/],
    [{ n: { $binary: 'AAAA' } }, 'INVALID_REGULAR_SORT_EXPRESSION', /Object/],
    [{ note: 42 }, 'INVALID_REGULAR_SORT_EXPRESSION', /42/],
    [{ when: 1 }, 'INVALID_REGULAR_SORT_EXPRESSION', /when\(duration\)/],
    [{ list: 1 }, 'INVALID_REGULAR_SORT_EXPRESSION', /list/],
    [{ set: -1 }, 'INVALID_REGULAR_SORT_EXPRESSION', /set/],
    [{ map: 1 }, 'INVALID_REGULAR_SORT_EXPRESSION', /map/],
    [{ v: 1 }, 'INVALID_VECTOR_SORT_EXPRESSION', /v\(vector\).*1 \(Number\)/],
    [{ v: true }, 'INVALID_VECTOR_SORT_EXPRESSION', /Boolean/],
    [{ v: null }, 'INVALID_VECTOR_SORT_EXPRESSION', /Null/],
    [{ v: { a: 1 } }, 'SORT_CLAUSE_VALUE_INVALID', /"v"/],
    [{ v: { $binary: 'AA==' } }, 'SORT_CLAUSE_VALUE_INVALID', /4/],
    [{ v: ' ' }, 'SORT_CLAUSE_VALUE_INVALID', /blank/],
    [{ n: [1, 2] }, 'CANNOT_VECTOR_SORT_NON_VECTOR_COLUMNS', /n\(int\).*v\(vector\)/],
    [{ note: [1, 2] }, 'CANNOT_VECTOR_SORT_NON_VECTOR_COLUMNS', /note/],
    [{ n: 'x' }, 'CANNOT_VECTORIZE_SORT_NON_VECTOR_COLUMN', /n\(int\)/],
    [{ v: [1, 2], n: 1 }, 'CANNOT_SORT_ON_SPECIAL_WITH_OTHERS', /v\(vector\).*n\(int\)/],
    [{ v: [1, 2], w: [1, 2] }, 'CANNOT_SORT_ON_SPECIAL_WITH_OTHERS', /v.*w/],
    [{ n: 1, note: 'x' }, 'CANNOT_SORT_ON_SPECIAL_WITH_OTHERS', /note\(text\).*n\(int\)/],
    [{ v: 'x', note: 'x' }, 'CANNOT_SORT_ON_SPECIAL_WITH_OTHERS', /note.*v/],
  ] as const)
    test(`is answered with ${code}: ${JSON.stringify(sort)}`, async () => {
      await refuseFinds(table, { sort }, { code, scope: 'SORT', message })
    })
})
