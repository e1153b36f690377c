import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { LetterModels } from './letter-models.ts'
import { Schemas, times } from './schemas.ts'
import { unlessOnCluster } from '../test-engine.ts'

const models = await LetterModels.start()
after(() => models.close())

const alter = (operation: unknown) => ({ alterTable: { operation } })
const add = (columns: unknown) => alter({ add: { columns } })
const drop = (...columns: string[]) => alter({ drop: { columns } })

describe('alterTable', () => {
  const schemas = new Schemas({ columnsMax: 8 }, { providers: models.settings })

  const columnsOf = async (name: string) => (await schemas.explain(name)).columns

  test('adds columns of primitive, map, vector, set and user-defined types', async () => {
    await schemas.ok('', {
      createType: { name: 'address', definition: { fields: { city: 'text' } } },
    })
    const name = await schemas.table()
    const address = { type: 'userDefined', udtName: 'address' }
    await schemas.ok(name, add({ a: 'text', b: { type: 'int' } }))
    await schemas.ok(
      name,
      add({
        c: { type: 'map', keyType: 'text', valueType: 'uuid' },
        d: { type: 'vector', dimension: 3 },
        e: address,
        f: { type: 'set', valueType: address },
      }),
    )
    const columns = await columnsOf(name)
    assert.deepEqual(Object.keys(columns), ['id', 'a', 'b', 'c', 'd', 'e', 'f'])
    assert.deepEqual(columns['c'], { type: 'map', keyType: 'text', valueType: 'uuid' })
    assert.deepEqual(columns['f'], { type: 'set', valueType: address })
  })

  test('drops columns, even if a column is named twice', async () => {
    const name = await schemas.table({ a: 'text', b: 'int', c: 'int' })
    await schemas.ok(name, drop('a', 'b', 'a'))
    assert.deepEqual(Object.keys(await columnsOf(name)), ['id', 'c'])
  })

  test('accepts options only if they are empty', async () => {
    const name = await schemas.table({ a: 'text' })
    const { operation } = drop('a').alterTable
    await schemas.refuse(
      name,
      { alterTable: { operation, options: { x: 1 } } },
      'COMMAND_ACCEPTS_NO_OPTIONS',
    )
    await schemas.ok(name, { alterTable: { operation, options: {} } })
  })

  test('rejects malformed operations', async () => {
    const name = await schemas.table({ a: 'text' })
    for (const [operation, code, ...named] of [
      [undefined, 'COMMAND_FIELD_VALUE_INVALID', 'command.operation'],
      [null, 'COMMAND_FIELD_VALUE_INVALID', 'command.operation'],
      ['add', 'REQUEST_STRUCTURE_MISMATCH', 'command.operation'],
      [{}, 'REQUEST_STRUCTURE_MISMATCH', 'Exactly one'],
      [{ add: { columns: {} }, drop: { columns: [] } }, 'REQUEST_STRUCTURE_MISMATCH'],
      [{ rename: {} }, 'COMMAND_UNKNOWN', '"rename"', 'addVectorize'],
      [{ add: null }, 'REQUEST_STRUCTURE_MISMATCH', 'operation.add'],
      [{ add: { columns: ['b'] } }, 'REQUEST_STRUCTURE_MISMATCH', 'add.columns'],
      [{ add: { columns: { b: 'int' }, x: 1 } }, 'COMMAND_FIELD_UNKNOWN', '"x"'],
      [{ drop: { columns: { a: 1 } } }, 'REQUEST_STRUCTURE_MISMATCH', 'drop.columns'],
      [{ drop: { columns: [5] } }, 'REQUEST_STRUCTURE_MISMATCH', 'drop.columns'],
      ...['add', 'drop', 'addVectorize', 'dropVectorize'].flatMap((operation) =>
        [{}, { columns: null }].map((payload) => [
          { [operation]: payload },
          'MISSING_ALTER_TABLE_OPERATIONS',
          operation,
        ]),
      ),
      [{ add: { columns: {} } }, 'MISSING_ALTER_TABLE_OPERATIONS'],
      [{ drop: { columns: [] } }, 'MISSING_ALTER_TABLE_OPERATIONS'],
    ] as [unknown, string, ...string[]][])
      await schemas.refuse(name, alter(operation), code, ...named)
  })

  test('rejects columns that cannot be added', async () => {
    const name = await schemas.table({ a: 'text' })
    for (const [columns, code, ...named] of [
      [
        { a: 'int', b: 'int', id: 'int' },
        'CANNOT_ADD_EXISTING_COLUMNS',
        'id(int), a(text)',
      ],
      [{ b: 'counter' }, 'CANNOT_ADD_UNSUPPORTED_DATA_TYPE_COLUMNS', 'b(counter)'],
      [{ b: 'timeuuid' }, 'CANNOT_ADD_UNSUPPORTED_DATA_TYPE_COLUMNS', 'b(timeuuid)'],
      [{ b: 'money' }, 'UNKNOWN_PRIMITIVE_DATA_TYPE', '"money"'],
      [{ b: { type: 'money' } }, 'UNKNOWN_DATA_TYPE', '"money"'],
      [{ b: 'map' }, 'UNSUPPORTED_MAP_DEFINITION'],
      [{ b: 'list' }, 'UNSUPPORTED_LIST_DEFINITION'],
      [{ b: 'set' }, 'UNSUPPORTED_SET_DEFINITION'],
      [{ b: 'vector' }, 'MISSING_DIMENSION_IN_VECTOR_COLUMN'],
      [{ b: { type: 'vector', dimension: 0 } }, 'UNSUPPORTED_VECTOR_DIMENSION'],
      [{ b: 'userDefined' }, 'INVALID_USER_DEFINED_TYPE_NAME'],
      [{ $b: 'int' }, 'UNSUPPORTED_SCHEMA_NAME', '$b'],
    ] as const)
      await schemas.refuse(name, add(columns), code, ...named)
    const nowhere = { type: 'userDefined', udtName: 'nowhere' }
    await schemas.fail(name, add({ b: nowhere }), 'UNKNOWN_USER_DEFINED_TYPE', '"nowhere"')
    assert.deepEqual(Object.keys(await columnsOf(name)), ['id', 'a'])
  })

  test('rejects drops of key columns, unknown columns and indexed columns, checked in this order', async () => {
    const name = await schemas.table(
      { a: 'text', m: { type: 'map', keyType: 'text', valueType: 'int' }, s: 'int' },
      { partitionBy: ['id'], partitionSort: { s: 1 } },
    )
    const indexed = { column: { m: '$keys' } }
    await schemas.ok(name, { createIndex: { name: 'm_keys', definition: indexed } })
    await schemas.refuse(
      name,
      drop('s', 'nothing', 'm'),
      'CANNOT_DROP_PRIMARY_KEY_COLUMNS',
      'id, s',
    )
    await schemas.refuse(
      name,
      drop('a', 'nothing', 'm'),
      'CANNOT_DROP_UNKNOWN_COLUMNS',
      'nothing',
    )
    await schemas.refuse(name, drop('a', 'm'), 'CANNOT_DROP_INDEXED_COLUMNS', 'm_keys')
    assert.deepEqual(Object.keys(await columnsOf(name)), ['id', 's', 'a', 'm'])
    await schemas.ok('', { dropIndex: { name: 'm_keys' } })
    await schemas.ok(name, drop('a', 'm'))
  })

  test(
    'accepts the name of a dropped column again, with the same type or another',
    unlessOnCluster,
    async () => {
      const name = await schemas.table({ a: 'text', v: { type: 'vector', dimension: 3 } })
      for (const columns of [
        { a: 'text', v: { type: 'vector', dimension: 3 } },
        { a: 'int', v: { type: 'vector', dimension: 4 } },
        { a: { type: 'list', valueType: 'int' }, v: 'uuid' },
      ]) {
        await schemas.ok(name, drop('a', 'v'))
        await schemas.ok(name, add(columns))
        assert.deepEqual(Object.keys(await columnsOf(name)), ['id', 'a', 'v'])
      }
    },
  )

  test('rejects more columns than the maximum number', async () => {
    const name = await schemas.table()
    await schemas.ok(name, add(Object.fromEntries(times(7, (i) => [`c${i}`, 'int']))))
    await schemas.refuse(
      name,
      add({ more: 'int' }),
      'COMMAND_FIELD_VALUE_INVALID',
      '9',
      '8',
    )
    await schemas.ok(name, drop('c0'))
    await schemas.ok(name, add({ more: 'int' }))
  })

  test('adds, replaces and removes embedding services of vector columns', async () => {
    const name = await schemas.table({
      v: { type: 'vector', dimension: 256 },
      w: { type: 'vector', dimension: 256 },
    })
    const small = { provider: 'openai', modelName: 'text-embedding-3-small' }
    const large = { provider: 'openai', modelName: 'text-embedding-3-large' }
    const serviceOf = async (column: string) => (await columnsOf(name))[column]!['service']
    await schemas.ok(name, alter({ addVectorize: { columns: { v: small, w: small } } }))
    await schemas.ok(name, alter({ addVectorize: { columns: { w: large } } }))
    assert.deepEqual([await serviceOf('v'), await serviceOf('w')], [small, large])
    await schemas.ok(name, alter({ dropVectorize: { columns: ['v'] } }))
    await schemas.ok(name, alter({ dropVectorize: { columns: ['v'] } }))
    assert.deepEqual([await serviceOf('v'), await serviceOf('w')], [undefined, large])
  })

  test('rejects embedding services on unsuitable columns', async () => {
    const name = await schemas.table({ a: 'text', v: { type: 'vector', dimension: 5 } })
    const service = { provider: 'openai', modelName: 'text-embedding-ada-002' }
    for (const [operation, code, ...named] of [
      [
        { addVectorize: { columns: { a: service, nothing: service } } },
        'CANNOT_VECTORIZE_UNKNOWN_COLUMNS',
        'nothing',
        'v(vector)',
      ],
      [
        { addVectorize: { columns: { a: service, v: service } } },
        'CANNOT_VECTORIZE_NON_VECTOR_COLUMNS',
        'a(text)',
      ],
      [
        { addVectorize: { columns: { v: service } } },
        'INVALID_CREATE_COLLECTION_OPTIONS',
        'columns.v.dimension is 5',
      ],
      [
        { addVectorize: { columns: { v: { provider: 'x' } } } },
        'INVALID_CREATE_COLLECTION_OPTIONS',
        '"x"',
      ],
      [{ addVectorize: { columns: { v: { x: 1 } } } }, 'COMMAND_FIELD_UNKNOWN', '"x"'],
      [
        { addVectorize: { columns: { v: 'x' } } },
        'REQUEST_STRUCTURE_MISMATCH',
        'columns.v',
      ],
      [
        { dropVectorize: { columns: ['v', 'nothing', 'a'] } },
        'CANNOT_DROP_VECTORIZE_FROM_UNKNOWN_COLUMNS',
        'nothing',
      ],
      [
        { dropVectorize: { columns: ['v', 'a'] } },
        'CANNOT_DROP_VECTORIZE_FROM_NON_VECTOR_COLUMNS',
        'a(text)',
      ],
    ] as [unknown, string, ...string[]][])
      await schemas.refuse(name, alter(operation), code, ...named)
  })

  test('keeps all columns that concurrent requests add', async () => {
    const name = await schemas.table()
    await Promise.all(times(7, (i) => schemas.ok(name, add({ [`c${i}`]: 'int' }))))
    assert.equal(Object.keys(await columnsOf(name)).length, 8)
  })

  test('succeeds for only one of several concurrent requests that add the same column', async () => {
    const name = await schemas.table()
    const answers = await Promise.all(
      times(10, () => schemas.send(name, add({ a: 'int' }))),
    )
    assert.equal(answers.filter((answer) => answer.codes.length === 0).length, 1)
    for (const { codes } of answers)
      if (codes.length > 0) assert.deepEqual(codes, ['CANNOT_ADD_EXISTING_COLUMNS'])
  })

  test('rejects a missing table, and a collection in place of a table', async () => {
    await schemas.refuse('nowhere', add({ a: 'int' }), 'UNKNOWN_COLLECTION_OR_TABLE')
    await schemas.ok('', { createCollection: { name: 'documents' } })
    await schemas.refuse(
      'documents',
      add({ a: 'int' }),
      'UNSUPPORTED_COLLECTION_COMMAND',
      'alterTable',
    )
  })
})
