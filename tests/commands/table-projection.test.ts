/** Projections of rows. */
import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import type { Target } from './collections.ts'
import { WrittenTables } from './written-tables.ts'

describe('a projection of rows', () => {
  const tables = new WrittenTables()
  let table: Target
  before(async () => {
    table = await tables.create(
      {
        columns: {
          z: 'int',
          a: 'text',
          list: { type: 'list', valueType: 'int' },
          v: { type: 'vector', dimension: 2 },
          id: 'int',
          '10': 'text',
          __proto__x: 'text',
        },
        primaryKey: { partitionBy: ['id'], partitionSort: { z: 1 } },
      },
      [{ id: 1, z: 2, a: 'x', list: [1], v: [0.1, 2], '10': 'ten', __proto__x: 'p' }],
    )
  })

  const whole =
    '{"id":1,"z":2,"10":"ten","__proto__x":"p","a":"x","list":[1],"v":[0.1,2.0]}'

  for (const [projection, shown] of [
    [undefined, whole],
    [null, whole],
    [{}, whole],
    [{ '*': true }, whole],
    [{ '*': 1 }, whole],
    [{ a: true }, '{"a":"x"}'],
    [{ v: 1, a: 2.5 }, '{"a":"x","v":[0.1,2.0]}'],
    [{ a: 1, z: 1, id: true }, '{"id":1,"z":2,"a":"x"}'],
    [{ '10': 1, none: 1 }, '{"10":"ten"}'],
    [{ v: false }, whole.replace(',"v":[0.1,2.0]', '')],
    [{ a: 0, '10': false, list: 0, v: 0, id: 0 }, '{"z":2,"__proto__x":"p"}'],
    [{ none: 0 }, whole],
  ] as const)
    test(`returns the columns of ${JSON.stringify(projection)} with their schema`, async () => {
      const clauses = projection === undefined ? {} : { projection }
      const { text, body } = await table.send({ find: { filter: { id: 1 }, ...clauses } })
      assert(text.startsWith(`{"data":{"documents":[${shown}],`), text)
      const schema = Object.keys(body.status!['projectionSchema'] as object)
      assert.deepEqual(schema, Object.keys(JSON.parse(shown) as object))
      const one = await table.send({ findOne: { filter: { id: 1 }, ...clauses } })
      assert(one.text.startsWith(`{"data":{"document":${shown}},`), one.text)
    })

  test('includes the schema of columns without a value', async () => {
    await table.insert({ id: 2, z: 1 })
    const { data, status } = await table.run({
      find: { filter: { id: 2 }, projection: { a: 1, list: 1 } },
    })
    assert.deepEqual(data!.documents, [{}])
    assert.deepEqual(status!['projectionSchema'], {
      a: { type: 'text' },
      list: { type: 'list', valueType: 'int' },
    })
  })

  for (const [projection, code, message] of [
    ['a', 'UNSUPPORTED_PROJECTION_DEFINITION', /String/],
    [['a'], 'UNSUPPORTED_PROJECTION_DEFINITION', /Array/],
    [{ none: 1, nor: 1 }, 'UNKNOWN_TABLE_COLUMNS', /none, nor.*a\(text\)/],
    [{ '*': false }, 'UNKNOWN_TABLE_COLUMNS', /\*/],
    [
      { id: 0, z: 0, a: 0, list: 0, v: 0, '10': 0, __proto__x: 0 },
      'UNKNOWN_TABLE_COLUMNS',
      /id/,
    ],
    [{ a: 1, z: 0 }, 'UNSUPPORTED_PROJECTION_PARAM', /"z".*"a"/],
    [{ a: 0, z: true }, 'UNSUPPORTED_PROJECTION_PARAM', /"z".*"a"/],
    [{ '*': 1, a: 1 }, 'UNSUPPORTED_PROJECTION_PARAM', /\*/],
    [{ '': 1 }, 'UNSUPPORTED_PROJECTION_PARAM', /empty/],
    [{ a: 'x' }, 'UNSUPPORTED_PROJECTION_PARAM', /"x"/],
    [{ a: null }, 'UNSUPPORTED_PROJECTION_PARAM', /null/],
    [{ list: { $slice: 1 } }, 'UNSUPPORTED_PROJECTION_PARAM', /\$slice/],
    [{ list: [] }, 'UNSUPPORTED_PROJECTION_PARAM', /list/],
  ] as const)
    test(`is rejected with ${code}: ${JSON.stringify(projection)}`, async () => {
      const { message: told, scope } = await table.refuse({ find: { projection } }, code)
      assert.match(told, message)
      assert.equal(scope, 'PROJECTION')
    })
})
