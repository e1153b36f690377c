/** find and findOne on tables: matching rows, order and pages. */
import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import type { Target } from './collections.ts'
import { people, readings, WrittenTables } from './written-tables.ts'

const tables = new WrittenTables()

const peopleSchema = {
  id: { type: 'text' },
  age: { type: 'int' },
  name: { type: 'text' },
  tags: { type: 'set', valueType: 'text' },
}

async function refuse(table: Target, find: object, code: string, message?: RegExp) {
  const told = await table.refuse({ find }, code)
  if (message !== undefined) assert.match(told.message, message)
}

describe('find on a table', () => {
  test('returns the schema of the columns even when no row matches', async () => {
    const table = await tables.create(people)
    const { data, status } = await table.run({ find: { filter: { id: 'x' } } })
    assert.deepEqual(data, { documents: [], nextPageState: null })
    assert.deepEqual(status, { projectionSchema: peopleSchema })
  })

  test('finds rows by their key without warnings', async () => {
    const table = await tables.create(people, [
      { id: 'a', age: 1, tags: ['x', 'y'] },
      { id: 'b' },
    ])
    const { text } = await table.send({ find: { filter: { id: 'a' } } })
    assert.equal(
      text,
      '{"data":{"documents":[{"id":"a","age":1,"tags":["x","y"]}],"nextPageState":null},' +
        `"status":{"projectionSchema":${JSON.stringify(peopleSchema)}}}`,
    )
  })

  test('returns partitions in a stable order, and rows of a partition in clustering order', async () => {
    const rows = ['b', 'a', 'c'].flatMap((place) =>
      [2, 1].flatMap((day) => [1, 3, 2].map((hour) => ({ place, day, hour }))),
    )
    const table = await tables.create(readings, rows)
    const found = await table.all()
    assert.equal(found.length, rows.length)
    const places = found.map(({ place }) => place)
    assert.equal(places.filter((place, i) => place !== places[i - 1]).length, 3)
    const ofOne = found.filter(({ place }) => place === 'a')
    assert.deepEqual(
      ofOne.map(({ day, hour }) => [day, hour]),
      [
        [1, 3],
        [1, 2],
        [1, 1],
        [2, 3],
        [2, 2],
        [2, 1],
      ],
    )
    assert.deepEqual(await table.all(), found)
  })

  test('returns a row that an update created, even when the projection omits its key', async () => {
    const table = await tables.create(people, [{ id: 'a', age: 1 }])
    const update = { $set: { age: 2 } }
    await table.run({ updateOne: { filter: { id: 'b' }, update } })
    assert.deepEqual(await table.all(), [
      { id: 'a', age: 1 },
      { id: 'b', age: 2 },
    ])
    assert.deepEqual(await table.all({ projection: { age: 1 } }), [{ age: 1 }, { age: 2 }])
  })

  test('returns current columns: dropped ones are absent, and added ones are empty', async () => {
    const table = await tables.create(people, [{ id: 'a', age: 1, name: 'Ada' }])
    const alter = (operation: object) => table.run({ alterTable: { operation } })
    await alter({ drop: { columns: ['age'] } })
    assert.deepEqual(await table.all(), [{ id: 'a', name: 'Ada' }])
    await alter({ add: { columns: { age: 'int' } } })
    assert.deepEqual(await table.all(), [{ id: 'a', name: 'Ada' }])
    assert.deepEqual(await table.all({ filter: { age: 1 } }), [])
    await table.insert({ id: 'a', age: 2 })
    assert.deepEqual(await table.all({ filter: { age: 2 } }), [
      { id: 'a', age: 2, name: 'Ada' },
    ])
    const { text } = await table.send({ find: {} })
    assert(text.includes('[{"id":"a","age":2,"name":"Ada"}]'), text)
  })

  test('returns fields of user-defined types under their current names', async () => {
    const fields = { street: 'text', number: 'int' }
    await tables.keyspace({ createType: { name: 'address', definition: { fields } } })
    const type = { type: 'userDefined', udtName: 'address' }
    const table = await tables.create(
      {
        columns: { id: 'int', home: type, others: { type: 'list', valueType: type } },
        primaryKey: 'id',
      },
      [{ id: 1, home: { street: 'A', number: 1 }, others: [{ street: 'B' }] }],
    )
    await tables.keyspace({
      alterType: { name: 'address', rename: { fields: { street: 'road' } } },
    })
    assert.deepEqual(await table.all(), [
      { id: 1, home: { road: 'A', number: 1 }, others: [{ road: 'B' }] },
    ])
    assert.deepEqual(
      (await table.all({ filter: { others: { $in: [{ road: 'B' }] } } })).length,
      1,
    )
    const { status } = await table.run({ find: {} })
    const shown = { fields: { road: { type: 'text' }, number: { type: 'int' } } }
    const { home, others } = status!['projectionSchema'] as Record<string, object>
    assert.deepEqual((home as { definition: unknown }).definition, shown)
    assert.deepEqual((others as { valueType: unknown }).valueType, {
      ...type,
      definition: shown,
    })
  })

  test('treats absent, null and empty clauses alike', async () => {
    const table = await tables.create(people, [{ id: 'a' }])
    for (const clauses of [
      {},
      { filter: null, sort: null, projection: null, options: null },
      { filter: {}, sort: {}, projection: {}, options: {} },
    ])
      assert.deepEqual(await table.all(clauses), [{ id: 'a' }])
  })
})

describe('pages of a table', () => {
  let table: Target
  before(async () => {
    table = await tables.create(
      {
        columns: { p: 'int', n: 'int', even: 'boolean' },
        primaryKey: { partitionBy: ['p'], partitionSort: { n: 1 } },
      },
      Array.from({ length: 45 }, (_, n) => ({ p: 1, n, even: n % 2 === 0 })),
    )
  })

  const sizes = (pages: readonly unknown[][]) => pages.map((page) => page.length)

  test('have 20 rows, and no page state after the last page', async () => {
    assert.deepEqual(sizes(await table.pages()), [20, 20, 5])
    assert.deepEqual(sizes(await table.pages({ filter: { even: true } })), [20, 3])
    assert.deepEqual(sizes(await table.pages({ filter: { n: { $lt: 20 } } })), [20])
    assert.deepEqual(
      sizes(await table.pages({ filter: { p: 1 }, sort: { n: -1 } })),
      [20, 20, 5],
    )
  })

  test('continue after the previous page', async () => {
    for (const [clauses, expected] of [
      [{}, 1],
      [{ filter: { p: 1 }, sort: { n: 1 } }, 1],
      [{ filter: { p: 1 }, sort: { n: -1 } }, -1],
      [{ filter: { p: { $in: [1] } }, sort: { n: -1 }, projection: { n: 1 } }, -1],
    ] as const) {
      const numbers = (await table.all(clauses)).map(({ n }) => n)
      const ascending = Array.from({ length: 45 }, (_, n) => n)
      assert.deepEqual(numbers, expected === 1 ? ascending : ascending.reverse())
    }
  })

  test('apply the limit to all pages together', async () => {
    for (const [limit, expected] of [
      [1, [1]],
      [20, [20]],
      [21, [20, 1]],
      [40, [20, 20]],
      [44, [20, 20, 4]],
      [100, [20, 20, 5]],
    ] as const)
      assert.deepEqual(sizes(await table.pages({}, { limit })), expected)
  })

  test('accept pagingState as an alias, and null as the first page', async () => {
    const first = (await table.run({ find: {} })).data!
    for (const pageState of ['', null]) {
      const { data } = await table.run({ find: { options: { pageState } } })
      assert.deepEqual(data!.documents, first.documents)
    }
    const pagingState = first.nextPageState
    const { data } = await table.run({ find: { options: { pagingState } } })
    assert.equal(data!.documents![0]!['n'], 20)
  })

  test('reject a damaged page state and page states of other queries', async () => {
    const { nextPageState: pageState } = (await table.run({ find: {} })).data!
    const code = 'COMMAND_FIELD_VALUE_INVALID'
    await refuse(table, { options: { pageState: 'x' } }, code, /pageState/)
    await refuse(table, { options: { pageState: '😀' } }, code, /pageState/)
    await refuse(table, { filter: { p: 1 }, options: { pageState } }, code, /another/)
    await refuse(
      table,
      { options: { pageState: 1 } },
      'REQUEST_STRUCTURE_MISMATCH',
      /pageState/,
    )
  })

  test('return each of 1000 rows once while other rows are inserted and deleted', async () => {
    const busy = await tables.create(
      { columns: { k: 'text', n: 'int' }, primaryKey: 'k' },
      Array.from({ length: 1000 }, (_, n) => ({ k: `row ${n}`, n })),
    )
    let running = true
    const churn = async () => {
      for (let round = 0; running; round++) {
        await busy.insert(
          ...Array.from({ length: 20 }, (_, i) => ({ k: `new ${round} ${i}`, n: -1 })),
        )
        if (round > 2)
          await busy.run({ deleteOne: { filter: { k: `new ${round - 2} 7` } } })
      }
    }
    const churning = churn()
    const found = await busy.all()
    running = false
    await churning
    const numbers = found.map(({ n }) => n as number).filter((n) => n >= 0)
    assert.equal(numbers.length, 1000)
    assert.equal(new Set(numbers).size, 1000)
    assert.equal(new Set(found.map(({ k }) => k)).size, found.length)
  })
})

describe('findOne on a table', () => {
  test('returns the first row, or null when nothing matches', async () => {
    const table = await tables.create(readings, [
      { place: 'a', day: 1, hour: 1, value: 0.1 },
      { place: 'a', day: 1, hour: 2, value: 0.2 },
    ])
    const find = async (clauses: object) =>
      (await table.run({ findOne: clauses })).data!.document
    assert.deepEqual(await find({}), { place: 'a', day: 1, hour: 2, value: 0.2 })
    assert.deepEqual(await find({ filter: { place: 'a' }, sort: { day: -1, hour: 1 } }), {
      place: 'a',
      day: 1,
      hour: 1,
      value: 0.1,
    })
    assert.deepEqual(await find({ filter: { value: 0.1 }, projection: { hour: 1 } }), {
      hour: 1,
    })
    const { text } = await table.send({ findOne: { filter: { place: 'b' } } })
    assert.equal(
      text,
      '{"data":{"document":null},"status":{"projectionSchema":{"place":{"type":"text"},' +
        '"day":{"type":"int"},"hour":{"type":"int"},"value":{"type":"double"}}}}',
    )
  })

  test('accepts no paging options', async () => {
    const table = await tables.create(people)
    for (const option of ['limit', 'skip', 'pageState'])
      await table.refuse({ findOne: { options: { [option]: 1 } } }, 'COMMAND_FIELD_UNKNOWN')
    const options = { includeSimilarity: true, includeSortVector: true }
    const { status } = await table.run({ findOne: { filter: { id: 'a' }, options } })
    assert.deepEqual(Object.keys(status!), ['projectionSchema'])
  })
})

describe('find on a table with invalid options or clauses', () => {
  let table: Target
  before(async () => {
    table = await tables.create(people)
  })

  test('rejects options out of range', async () => {
    const code = 'COMMAND_FIELD_VALUE_INVALID'
    await refuse(table, { options: { limit: 0 } }, code, /limit/)
    await refuse(table, { sort: { age: 1 }, options: { skip: -1 } }, code, /skip/)
    await refuse(table, { options: { skip: 0 } }, code, /skip/)
    await refuse(table, { options: { skip: 3 } }, code, /skip/)
    await refuse(table, { options: { limit: 1.5 } }, 'REQUEST_STRUCTURE_MISMATCH')
    await refuse(table, { options: { top: 1 } }, 'COMMAND_FIELD_UNKNOWN')
    await refuse(table, { where: {} }, 'COMMAND_FIELD_UNKNOWN')
  })

  test('ignores a skip when the sort is empty', async () => {
    const rows = await tables.create(people, [{ id: 'a' }, { id: 'b' }])
    const { data } = await rows.run({ find: { sort: {}, options: { skip: 1 } } })
    assert.equal(data!.documents!.length, 2)
  })

  test('checks the options first, then sort, projection and filter', async () => {
    const wrong = { filter: { zip: 1 }, projection: 'x', sort: { zip: 1 } }
    const { filter, projection, sort } = wrong
    await refuse(table, { ...wrong, options: { limit: 0 } }, 'COMMAND_FIELD_VALUE_INVALID')
    await refuse(table, { filter, projection, sort }, 'CANNOT_SORT_UNKNOWN_COLUMNS')
    await refuse(table, { filter, projection }, 'UNSUPPORTED_PROJECTION_DEFINITION')
    await refuse(table, { filter }, 'UNKNOWN_TABLE_COLUMNS')
  })
})
