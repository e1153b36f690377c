import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { defaultConfig } from '../../src/settings/config.ts'
import { Schemas, times } from './schemas.ts'
import { unlessOnCluster } from '../test-engine.ts'

let count = 0
const newName = () => `index_${++count}`

describe('createIndex', () => {
  const schemas = new Schemas()

  const create = (column: unknown, options?: unknown, name: unknown = newName()) => ({
    createIndex: { name, definition: { column, options } },
  })

  /** Definitions of a table's indexes, in order of creation. */
  const definitionsOf = async (table: string) => {
    const explain = { listIndexes: { options: { explain: true } } }
    const indexes = await schemas.status(table, explain, 'indexes')
    return (indexes as { definition: unknown; indexType: string }[]).map((index) => {
      assert.equal(index.indexType, 'regular')
      return index.definition
    })
  }

  test('indexes columns of every value type', async () => {
    const types = [
      ...['bigint', 'boolean', 'date', 'decimal', 'double', 'float', 'inet', 'int'],
      ...['smallint', 'time', 'timestamp', 'tinyint', 'uuid', 'varint'],
    ]
    const table = await schemas.table(Object.fromEntries(types.map((t) => [`of_${t}`, t])))
    for (const type of types)
      await schemas.ok(table, create(`of_${type}`, null, `by_${type}`))
    assert.deepEqual(
      await definitionsOf(table),
      types.map((type) => ({ column: `of_${type}`, options: {} })),
    )
  })

  test('indexes texts, and stores defaults for omitted options', async () => {
    const table = await schemas.table({ a: 'text', b: 'ascii', c: 'text', d: 'text' })
    await schemas.ok(table, create('a', {}, 'text_a'))
    await schemas.ok(table, create('b', { caseSensitive: false }, 'text_b'))
    await schemas.ok(table, create('c', { ascii: true, normalize: true }, 'text_c'))
    await schemas.ok(table, create('d', { ascii: false, caseSensitive: true }, 'text_d'))
    const plain = { ascii: false, caseSensitive: true, normalize: false }
    assert.deepEqual(await definitionsOf(table), [
      { column: 'a', options: plain },
      { column: 'b', options: { ...plain, caseSensitive: false } },
      { column: 'c', options: { ascii: true, caseSensitive: true, normalize: true } },
      { column: 'd', options: plain },
    ])
  })

  test('indexes entries, keys and values of maps, and values of lists and sets', async () => {
    const map = { type: 'map', keyType: 'text', valueType: 'int' }
    const table = await schemas.table({
      m: map,
      l: { type: 'list', valueType: 'text' },
      s: { type: 'set', valueType: 'int' },
      t: { type: 'set', valueType: 'uuid' },
    })
    const folding = { ascii: false, caseSensitive: false, normalize: false }
    await schemas.ok(table, create('m', {}, 'part_1'))
    await schemas.ok(table, create({ m: '$KEYS' }, { caseSensitive: false }, 'part_2'))
    await schemas.ok(table, create({ m: '$values' }, {}, 'part_3'))
    await schemas.ok(table, create('l', {}, 'part_4'))
    await schemas.ok(table, create({ s: '$values' }, {}, 'part_5'))
    await schemas.ok(table, create({ t: '$keys' }, {}, 'part_6'))
    assert.deepEqual(await definitionsOf(table), [
      { column: 'm', options: {} },
      { column: { m: '$keys' }, options: folding },
      { column: { m: '$values' }, options: {} },
      { column: { l: '$values' }, options: {} },
      { column: { s: '$values' }, options: {} },
      { column: { t: '$values' }, options: {} },
    ])
  })

  test('indexes key columns, except the only column of a partition key', async () => {
    const table = await schemas.table(
      { a: 'int', b: 'int' },
      {
        partitionBy: ['id', 'a'],
        partitionSort: { b: 1 },
      },
    )
    for (const column of ['id', 'a', 'b']) await schemas.ok(table, create(column))
    const single = await schemas.table(
      { b: 'int' },
      {
        partitionBy: ['id'],
        partitionSort: { b: 1 },
      },
    )
    await schemas.ok(single, create('b'))
    await schemas.fail(single, create('id'), 'INVALID_INDEX_DEFINITION', '"id"')
  })

  test('accepts the index type "regular" in any case, and no other type', async () => {
    const table = await schemas.table({ a: 'int' })
    const send = (indexType: unknown) => ({
      createIndex: { name: 'typed', definition: { column: 'a' }, indexType },
    })
    for (const type of ['hash', ''])
      await schemas.refuse(table, send(type), 'UNKNOWN_INDEX_TYPE', `"${type}"`, 'vector')
    for (const type of ['vector', 'Text'])
      await schemas.refuse(table, send(type), 'UNSUPPORTED_INDEX_TYPE', type)
    await schemas.refuse(table, send(5), 'REQUEST_STRUCTURE_MISMATCH', 'command.indexType')
    await schemas.ok(table, send('Regular'))
  })

  test('accepts names of 1 to 100 letters, digits and underscores', async () => {
    const table = await schemas.table({ a: 'int', b: 'int' })
    await schemas.ok(table, create('a', {}, 'N_1'.padEnd(100, 'n')))
    for (const name of [undefined, null, '', 'n'.repeat(101), 'a-b', 'é'])
      await schemas.refuse(
        table,
        { createIndex: { name, definition: { column: 'b' } } },
        'UNSUPPORTED_SCHEMA_NAME',
        'Index',
        '100',
      )
  })

  test('rejects malformed definitions', async () => {
    const table = await schemas.table({ a: 'int' })
    const send = (definition: unknown, name = 'refused') => ({
      createIndex: { name, definition },
    })
    for (const definition of [undefined, null, {}, { column: null }, { column: '' }])
      await schemas.refuse(table, send(definition), 'COMMAND_FIELD_VALUE_INVALID')
    for (const [definition, code] of [
      ['a', 'REQUEST_STRUCTURE_MISMATCH'],
      [{ column: 'a', x: 1 }, 'COMMAND_FIELD_UNKNOWN'],
      [{ column: 'a', options: { x: 1 } }, 'COMMAND_FIELD_UNKNOWN'],
      [{ column: 'a', options: 'x' }, 'REQUEST_STRUCTURE_MISMATCH'],
      [{ column: 'a', options: { ascii: 1 } }, 'REQUEST_STRUCTURE_MISMATCH'],
    ] as const)
      await schemas.refuse(table, send(definition), code)
    for (const column of [
      5,
      ['a'],
      {},
      { a: 'keys' },
      { a: 5 },
      { a: '$keys', b: '$keys' },
    ])
      await schemas.refuse(
        table,
        send({ column }),
        'INVALID_FORMAT_FOR_INDEX_CREATION_COLUMN',
      )
  })

  test('rejects columns that do not exist or cannot be indexed', async () => {
    await schemas.ok('', {
      createType: { name: 'address', definition: { fields: { city: 'text' } } },
    })
    const table = await schemas.table({
      a: 'int',
      v: { type: 'vector', dimension: 2 },
      u: { type: 'userDefined', udtName: 'address' },
      m: { type: 'map', keyType: 'int', valueType: 'text' },
      s: { type: 'set', valueType: 'int' },
    })
    await schemas.refuse(
      table,
      create('nothing'),
      'UNKNOWN_INDEX_COLUMN',
      '"nothing"',
      'v(vector)',
    )
    for (const part of ['$keys', '$values'])
      await schemas.refuse(
        table,
        create({ a: part }),
        'INVALID_FORMAT_FOR_INDEX_CREATION_COLUMN',
        '"a"',
        part,
      )
    for (const column of ['v', 'u', { v: '$keys' }])
      await schemas.refuse(table, create(column), 'UNSUPPORTED_INDEXING_FOR_DATA_TYPES')
    await schemas.refuse(
      table,
      create('m', { ascii: false }),
      'CANNOT_ANALYZE_ENTRIES_ON_MAP_COLUMNS',
      'm(map)',
      'ascii',
    )
    for (const column of ['a', 's', { m: '$keys' }])
      await schemas.refuse(
        table,
        create(column, { caseSensitive: true }),
        'UNSUPPORTED_TEXT_ANALYSIS_FOR_DATA_TYPES',
        'caseSensitive',
      )
    await schemas.ok(table, create({ m: '$values' }, { caseSensitive: false }))
  })

  test('rejects blobs and durations', async () => {
    const table = await schemas.table({
      b: 'blob',
      d: 'duration',
      l: { type: 'list', valueType: 'duration' },
    })
    for (const column of ['b', 'd', 'l'])
      await schemas.refuse(
        table,
        create(column),
        'UNSUPPORTED_INDEXING_FOR_DATA_TYPES',
        `cannot index ${column}`,
      )
  })

  test('rejects a second index on the same column, or on the same part of a map column', async () => {
    const table = await schemas.table({
      a: 'text',
      m: { type: 'map', keyType: 'text', valueType: 'int' },
    })
    await schemas.ok(table, create('a', {}, 'first_a'))
    for (const options of [{}, { caseSensitive: false }])
      await schemas.fail(
        table,
        create('a', options),
        'INVALID_INDEX_DEFINITION',
        '"first_a"',
      )
    await schemas.ok(table, create({ m: '$keys' }))
    await schemas.fail(table, create({ m: '$keys' }), 'INVALID_INDEX_DEFINITION')
    await schemas.ok(table, create('m'))
    await schemas.ok(table, {
      createTextIndex: { name: newName(), definition: { column: 'a' } },
    })
  })

  test('rejects an existing name unless ifNotExists is set', async () => {
    const one = await schemas.table({ a: 'int' })
    const other = await schemas.table({ b: 'int' })
    await schemas.ok(one, create('a', {}, 'unique'))
    for (const [table, column] of [
      [one, 'a'],
      [other, 'b'],
    ] as const) {
      await schemas.fail(
        table,
        create(column, {}, 'unique'),
        'CANNOT_ADD_EXISTING_INDEX',
        '"unique"',
        one,
      )
      await schemas.ok(table, {
        createIndex: {
          name: 'unique',
          definition: { column },
          options: { ifNotExists: true },
        },
      })
    }
    assert.deepEqual(await definitionsOf(other), [])
    await schemas.server.command('', { createKeyspace: { name: 'second' } })
    const definition = { columns: { a: 'int', id: 'int' }, primaryKey: 'id' }
    await schemas.ok('/second', { createTable: { name: 't', definition } })
    await schemas.ok('/second/t', create('a', {}, 'unique'))
  })

  test(
    'warns about names of indexed columns that are not in snake case',
    unlessOnCluster,
    async () => {
      const table = await schemas.table({
        firstName: 'text',
        'last-name': 'text',
        a_1: 'int',
      })
      for (const [column, better] of [
        ['firstName', 'first_name'],
        ['last-name', 'last_name'],
      ] as const) {
        const answer = await schemas.send(table, create(column, {}, `warned_${better}`))
        assert.deepEqual(answer.codes, [])
        const { ok, warnings } = answer.body.status!
        assert.equal(ok, 1)
        assert.equal(warnings!.length, 1)
        assert.equal(warnings![0]!.errorCode, 'INDEXED_COLUMN_NOT_SNAKE_CASE')
        assert.equal(warnings![0]!.scope, 'WARNING')
        assert(warnings![0]!.message.includes(better))
      }
      await schemas.ok(table, create('a_1'))
      await schemas.ok(table, {
        createIndex: {
          name: 'warned_first_name',
          definition: { column: 'firstName' },
          options: { ifNotExists: true },
        },
      })
    },
  )

  test('succeeds for only one of several concurrent requests for the same index', async () => {
    const table = await schemas.table({ a: 'int' })
    const answers = await Promise.all(
      times(10, () => schemas.send(table, create('a', {}, 'contested'))),
    )
    assert.equal(answers.filter((answer) => answer.codes.length === 0).length, 1)
    for (const { codes } of answers)
      if (codes.length > 0) assert.deepEqual(codes, ['CANNOT_ADD_EXISTING_INDEX'])
    await Promise.all(
      times(10, () =>
        schemas.ok(table, {
          createIndex: {
            name: 'contested',
            definition: { column: 'a' },
            options: { ifNotExists: true },
          },
        }),
      ),
    )
  })

  test('keeps all indexes that concurrent requests create', async () => {
    const columns = Object.fromEntries(times(10, (i) => [`c${i}`, 'int']))
    const table = await schemas.table(columns)
    await Promise.all(
      Object.keys(columns).map((column) => schemas.ok(table, create(column))),
    )
    assert.equal((await definitionsOf(table)).length, 10)
  })

  test('and other index commands reject collections', async () => {
    await schemas.ok('', { createCollection: { name: 'documents' } })
    for (const command of [
      'createIndex',
      'createVectorIndex',
      'createTextIndex',
      'listIndexes',
      'dropIndex',
    ])
      await schemas.refuse(
        'documents',
        { [command]: command === 'listIndexes' ? {} : bodyOf(command) },
        'UNSUPPORTED_COLLECTION_COMMAND',
        command,
        'alterTable',
      )
  })

  const bodyOf = (command: string) =>
    command === 'dropIndex' ? { name: 'a' } : { name: 'a', definition: { column: 'a' } }
})

describe('createIndex at the limit', () => {
  const schemas = new Schemas({ indexesPerTableMax: 2 })

  test('rejects more indexes than the maximum number', async () => {
    const table = await schemas.table({ a: 'int', b: 'text', c: 'int' })
    const send = (command: string, column: string) => ({
      [command]: { name: `${command}_${column}`, definition: { column } },
    })
    await schemas.ok(table, send('createIndex', 'a'))
    await schemas.ok(table, send('createTextIndex', 'b'))
    await schemas.fail(table, send('createIndex', 'c'), 'INVALID_DATABASE_QUERY', '2')
    await schemas.ok('', { dropIndex: { name: 'createIndex_a' } })
    await schemas.ok(table, send('createIndex', 'c'))
  })
})

describe('createIndex when indexed columns must be in snake case', () => {
  const schemas = new Schemas(
    {},
    { features: { ...defaultConfig.features, snakeCaseIndexes: true } },
  )

  test('rejects columns with other names', async () => {
    const table = await schemas.table({ firstName: 'text', first_name: 'text' })
    const send = (column: string) => ({
      createIndex: { name: 'by_name', definition: { column } },
    })
    await schemas.refuse(
      table,
      send('firstName'),
      'UNSUPPORTED_SCHEMA_NAME',
      '"firstName"',
      '--snake-case-indexes',
    )
    await schemas.ok(table, send('first_name'))
  })
})
