import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { defaultConfig } from '../../src/settings/config.ts'
import { LetterModels } from './letter-models.ts'
import { Schemas, times } from './schemas.ts'
import { unlessOnCluster } from '../test-engine.ts'

const models = await LetterModels.start()
after(() => models.close())

const simple = { columns: { id: 'int' }, primaryKey: 'id' }

describe('createTable', () => {
  const schemas = new Schemas({}, { providers: models.settings })

  const create = (definition: unknown, name: unknown = 'refused') => ({
    createTable: { name, definition },
  })
  const ofColumn = (c: unknown) =>
    create({ columns: { id: 'int', c }, primaryKey: { partitionBy: ['id'] } })
  const ofKey = (primaryKey: unknown) =>
    create({ columns: { a: 'int', b: 'text' }, primaryKey })

  test('creates a table that accepts commands', async () => {
    await schemas.ok('', create(simple, 'plain'))
    assert.deepEqual(await schemas.status('plain', { listIndexes: {} }, 'indexes'), [])
  })

  const values = [
    ...['ascii', 'bigint', 'blob', 'boolean', 'date', 'decimal', 'double', 'duration'],
    ...['float', 'inet', 'int', 'smallint', 'text', 'time', 'timestamp', 'tinyint', 'uuid'],
    'varint',
  ]

  test('accepts every value type, as a name or as an object', async () => {
    const short = values.map((type) => [`${type}_short`, type] as const)
    const long = values.map((type) => [`${type}_long`, { type }] as const)
    const name = await schemas.table(Object.fromEntries<unknown>([...short, ...long]))
    const { columns } = await schemas.explain(name)
    for (const type of values) {
      assert.deepEqual(columns[`${type}_short`], { type })
      assert.deepEqual(columns[`${type}_long`], { type })
    }
  })

  /** The type itself, or int for durations: key columns must be ordered, and durations are not. */
  const keyOf = (type: string) => (type === 'duration' ? 'int' : type)

  test('accepts lists, sets and maps of every value type', unlessOnCluster, async () => {
    const columns = values.flatMap((valueType): [string, unknown][] => [
      [`list_${valueType}`, { type: 'list', valueType }],
      [`set_${valueType}`, { type: 'set', valueType: { type: valueType } }],
      [`map_${valueType}`, { type: 'map', keyType: { type: 'text' }, valueType }],
      [`key_${valueType}`, { type: 'map', keyType: keyOf(valueType), valueType: 'int' }],
    ])
    const { columns: shown } = await schemas.explain(
      await schemas.table(Object.fromEntries(columns)),
    )
    for (const valueType of values) {
      assert.deepEqual(shown[`list_${valueType}`], { type: 'list', valueType })
      assert.deepEqual(shown[`set_${valueType}`], { type: 'set', valueType })
      const map = { type: 'map', keyType: 'text', valueType }
      assert.deepEqual(shown[`map_${valueType}`], map)
    }
    assert.deepEqual(shown['key_uuid'], { type: 'map', keyType: 'uuid', valueType: 'int' })
  })

  test('accepts the dimension of a vector as a number or a string', async () => {
    const name = await schemas.table({
      a: { type: 'vector', dimension: 5 },
      b: { type: 'vector', dimension: ' 6 ' },
      c: { type: 'vector', dimension: 100_000 },
    })
    const { columns } = await schemas.explain(name)
    assert.deepEqual(columns['a'], {
      type: 'vector',
      dimension: 5,
      apiSupport: {
        createTable: true,
        insert: true,
        read: true,
        filter: false,
        cqlDefinition: 'vector<float, 5>',
      },
    })
    assert.equal(columns['b']!['dimension'], 6)
    assert.equal(columns['c']!['dimension'], 100_000)
  })

  test('accepts vectors with an embedding service, and takes an omitted dimension from its model', async () => {
    const service = { provider: 'openai', modelName: 'text-embedding-3-small' }
    const name = await schemas.table({
      whole: { type: 'vector', dimension: '', service },
      short: { type: 'vector', dimension: 256, service },
    })
    const { columns } = await schemas.explain(name)
    assert.equal(columns['whole']!['dimension'], 1536)
    assert.deepEqual(columns['whole']!['service'], service)
    assert.equal(columns['short']!['dimension'], 256)
  })

  test('accepts user-defined types, alone and in lists, sets and maps', async () => {
    await schemas.ok('', {
      createType: { name: 'Address', definition: { fields: { city: 'text' } } },
    })
    const address = { type: 'userDefined', udtName: 'Address' }
    const name = await schemas.table({
      alone: address,
      list: { type: 'list', valueType: address },
      set: { type: 'set', valueType: address },
      map: { type: 'map', keyType: 'int', valueType: address },
    })
    const { columns } = await schemas.explain(name)
    assert.deepEqual(columns['alone'], {
      ...address,
      apiSupport: {
        createTable: true,
        insert: true,
        read: true,
        filter: false,
        cqlDefinition: 'default_keyspace."Address"',
      },
    })
    assert.deepEqual(columns['list'], { type: 'list', valueType: address })
    assert.deepEqual(columns['set'], { type: 'set', valueType: address })
    assert.deepEqual(columns['map'], { type: 'map', keyType: 'int', valueType: address })
  })

  test('accepts keys of one column, of several columns, and with a partition sort', async () => {
    const columns = { a: 'text', b: 'blob', c: { type: 'vector', dimension: 2 } }
    for (const [given, shown] of [
      ['a', { partitionBy: ['a'], partitionSort: {} }],
      [{ partitionBy: ['b'] }, { partitionBy: ['b'], partitionSort: {} }],
      [
        { partitionBy: ['c', 'a'], partitionSort: null },
        { partitionBy: ['c', 'a'], partitionSort: {} },
      ],
      [
        { partitionBy: ['id'], partitionSort: { c: -1, a: 1 } },
        { partitionBy: ['id'], partitionSort: { c: -1, a: 1 } },
      ],
    ] as const) {
      const { primaryKey } = await schemas.explain(await schemas.table(columns, given))
      assert.equal(JSON.stringify(primaryKey), JSON.stringify(shown))
    }
  })

  test('accepts column names with spaces, hyphens and non-ASCII letters, of up to 1000 characters', async () => {
    const names = ['_id', 'Id', 'part-key', 'a b', 'é', '__proto__', '10', 'n'.repeat(1000)]
    const columns = Object.fromEntries(names.map((name) => [name, 'int']))
    await schemas.ok('', create({ columns, primaryKey: '_id' }, 'odd'))
    const { columns: shown } = await schemas.explain('odd')
    for (const name of names) assert(Object.hasOwn(shown, name), name)
  })

  test('rejects column names that are blank, too long, "*" or start with "$"', async () => {
    for (const name of ['', ' ', '\t\n', '$a', '*', 'n'.repeat(1001)])
      await schemas.refuse(
        '',
        create({ columns: { id: 'int', [name]: 'int' }, primaryKey: 'id' }),
        'UNSUPPORTED_SCHEMA_NAME',
        'Column',
      )
  })

  test('accepts names of 1 to 48 letters, digits and underscores, case-sensitive', async () => {
    for (const name of ['a', '_', '0', 'A_1', 'a_1', 'n'.repeat(48)])
      await schemas.ok('', create(simple, name))
  })

  test('rejects names with other lengths or characters', async () => {
    for (const name of [null, '', 'n'.repeat(49), 'a-b', 'é', 'a\n', '../a'])
      await schemas.refuse(
        '',
        create(simple, name),
        'UNSUPPORTED_SCHEMA_NAME',
        'Table',
        '48',
      )
    await schemas.refuse(
      '',
      { createTable: { definition: simple } },
      'UNSUPPORTED_SCHEMA_NAME',
    )
    await schemas.refuse(
      '',
      create(simple, 5),
      'REQUEST_STRUCTURE_MISMATCH',
      'command.name',
    )
  })

  test('rejects malformed types', async () => {
    const openai = { provider: 'openai', modelName: 'text-embedding-3-small' }
    for (const [column, code, ...named] of [
      ['address', 'UNKNOWN_PRIMITIVE_DATA_TYPE', '"address"', 'varint'],
      ['INT', 'UNKNOWN_PRIMITIVE_DATA_TYPE', '"INT"'],
      [{ type: 'address' }, 'UNKNOWN_DATA_TYPE', '"address"'],
      [{ type: 'list', valueType: 'x' }, 'UNKNOWN_PRIMITIVE_DATA_TYPE', '"x"'],
      [{ type: 'list', valueType: { type: 'x' } }, 'UNKNOWN_DATA_TYPE', '"x"'],
      [null, 'REQUEST_STRUCTURE_MISMATCH', 'columns.c'],
      [5, 'REQUEST_STRUCTURE_MISMATCH', 'columns.c', 'Number'],
      [[], 'REQUEST_STRUCTURE_MISMATCH', 'columns.c', 'Array'],
      [{}, 'REQUEST_STRUCTURE_MISMATCH', 'columns.c.type'],
      [{ type: null }, 'REQUEST_STRUCTURE_MISMATCH', 'columns.c.type'],
      [{ type: 5 }, 'REQUEST_STRUCTURE_MISMATCH', 'columns.c.type'],
      [{ type: 'set', valueType: 5 }, 'REQUEST_STRUCTURE_MISMATCH', 'columns.c.valueType'],
      [{ type: 'int', size: 5 }, 'COMMAND_FIELD_UNKNOWN', '"size"', '"udtName"'],
      ['counter', 'UNSUPPORTED_DATA_TYPE_TABLE_CREATION', 'c(counter)'],
      [{ type: 'timeuuid' }, 'UNSUPPORTED_DATA_TYPE_TABLE_CREATION', 'c(timeuuid)'],
      ['map', 'UNSUPPORTED_MAP_DEFINITION', 'keyType'],
      [{ type: 'map', keyType: 'int' }, 'UNSUPPORTED_MAP_DEFINITION', 'valueType'],
      [{ type: 'map', valueType: 'int' }, 'UNSUPPORTED_MAP_DEFINITION', 'keyType'],
      ...['duration', 'counter', 'list', { type: 'userDefined', udtName: 'x' }].map(
        (keyType) => [
          { type: 'map', keyType, valueType: 'int' },
          'UNSUPPORTED_MAP_DEFINITION',
          'keyType',
        ],
      ),
      ...['counter', 'timeuuid', 'vector', { type: 'set', valueType: 'int' }].flatMap(
        (valueType) => [
          [{ type: 'map', keyType: 'int', valueType }, 'UNSUPPORTED_MAP_DEFINITION'],
          [{ type: 'list', valueType }, 'UNSUPPORTED_LIST_DEFINITION'],
          [{ type: 'set', valueType }, 'UNSUPPORTED_SET_DEFINITION'],
        ],
      ),
      ['list', 'UNSUPPORTED_LIST_DEFINITION', 'nothing'],
      ['set', 'UNSUPPORTED_SET_DEFINITION', 'nothing'],
      ['vector', 'MISSING_DIMENSION_IN_VECTOR_COLUMN', '"c"'],
      [{ type: 'vector', dimension: ' ' }, 'MISSING_DIMENSION_IN_VECTOR_COLUMN'],
      [{ type: 'vector', dimension: null }, 'MISSING_DIMENSION_IN_VECTOR_COLUMN'],
      ...[0, -1, 2.5, 1e20, '0', '-3', '2.5', 'five', true, [], {}].map((dimension) => [
        { type: 'vector', dimension },
        'UNSUPPORTED_VECTOR_DIMENSION',
        '"c"',
      ]),
      ['userDefined', 'INVALID_USER_DEFINED_TYPE_NAME', '"c"'],
      [{ type: 'userDefined', udtName: null }, 'INVALID_USER_DEFINED_TYPE_NAME'],
      [{ type: 'userDefined', udtName: '  ' }, 'INVALID_USER_DEFINED_TYPE_NAME', '"  "'],
      [
        { type: 'list', valueType: { type: 'userDefined' } },
        'INVALID_USER_DEFINED_TYPE_NAME',
      ],
      [{ type: 'userDefined', udtName: 5 }, 'REQUEST_STRUCTURE_MISMATCH', 'udtName'],
      [
        { type: 'vector', service: { provider: 'x' } },
        'INVALID_CREATE_COLLECTION_OPTIONS',
        '"x"',
      ],
      [
        { type: 'vector', service: {} },
        'INVALID_CREATE_COLLECTION_OPTIONS',
        'columns.c.service requires a provider',
      ],
      [
        { type: 'vector', service: { ...openai, modelName: 'x' } },
        'INVALID_CREATE_COLLECTION_OPTIONS',
        '"x"',
      ],
      [
        { type: 'vector', dimension: 5000, service: openai },
        'INVALID_CREATE_COLLECTION_OPTIONS',
        'columns.c.dimension is 5000',
      ],
      [
        { type: 'vector', service: { ...openai, parameters: { x: 1 } } },
        'INVALID_CREATE_COLLECTION_OPTIONS',
        '"x"',
      ],
      [{ type: 'vector', service: { ...openai, x: 1 } }, 'COMMAND_FIELD_UNKNOWN', '"x"'],
    ] as [unknown, string, ...string[]][])
      await schemas.refuse('', ofColumn(column), code, ...named)
  })

  test('rejects malformed primary keys', async () => {
    for (const [key, code, ...named] of [
      [5, 'REQUEST_STRUCTURE_MISMATCH', 'primaryKey'],
      [['a'], 'REQUEST_STRUCTURE_MISMATCH', 'primaryKey'],
      [{}, 'REQUEST_STRUCTURE_MISMATCH', 'primaryKey.partitionBy'],
      [{ partitionBy: null }, 'REQUEST_STRUCTURE_MISMATCH', 'primaryKey.partitionBy'],
      [{ partitionBy: 'a' }, 'REQUEST_STRUCTURE_MISMATCH', 'primaryKey.partitionBy'],
      [{ partitionBy: ['a', 5] }, 'REQUEST_STRUCTURE_MISMATCH', 'partitionBy[1]'],
      [{ partitionBy: ['a'], partitionSort: ['b'] }, 'REQUEST_STRUCTURE_MISMATCH'],
      ...[0, 2, '1', true, null].map((order) => [
        { partitionBy: ['a'], partitionSort: { b: order } },
        'REQUEST_STRUCTURE_MISMATCH',
        'partitionSort.b',
      ]),
      [{ partitionBy: ['a'], sort: {} }, 'COMMAND_FIELD_UNKNOWN', '"sort"'],
      [{ partitionBy: [] }, 'MISSING_PARTITION_COLUMNS', 'a, b'],
      ['c', 'UNKNOWN_PARTITION_COLUMNS', 'a, b', 'c'],
      ['', 'UNKNOWN_PARTITION_COLUMNS'],
      [{ partitionBy: ['a', 'x', 'y'] }, 'UNKNOWN_PARTITION_COLUMNS', 'x, y'],
      [
        { partitionBy: ['x'], partitionSort: { y: 1, b: 1 } },
        'UNKNOWN_PARTITION_SORT_COLUMNS',
        'y',
      ],
    ] as [unknown, string, ...string[]][])
      await schemas.refuse('', ofKey(key), code, ...named)
  })

  test('rejects key columns of unsupported types, and repeated columns', async () => {
    await schemas.ok('', {
      createType: { name: 'keyed', definition: { fields: { a: 'int' } } },
    })
    for (const type of [
      { type: 'duration' },
      { type: 'list', valueType: 'int' },
      { type: 'set', valueType: 'int' },
      { type: 'map', keyType: 'int', valueType: 'int' },
      { type: 'userDefined', udtName: 'keyed' },
    ])
      for (const primaryKey of ['k', { partitionBy: ['a'], partitionSort: { k: 1 } }])
        await schemas.refuse(
          '',
          create({ columns: { a: 'int', k: type }, primaryKey }),
          'PRIMARY_KEY_DEFINITION_INCORRECT',
          'default_keyspace.refused',
          '"k"',
          type.type,
        )
    for (const key of [
      { partitionBy: ['a', 'a'] },
      { partitionBy: ['a'], partitionSort: { a: 1 } },
    ])
      await schemas.refuse('', ofKey(key), 'PRIMARY_KEY_DEFINITION_INCORRECT', '"a" twice')
  })

  test('rejects an incomplete definition', async () => {
    for (const definition of [undefined, null, {}, { columns: { a: 'int' } }])
      await schemas.refuse('', create(definition), 'COMMAND_FIELD_VALUE_INVALID')
    await schemas.refuse(
      '',
      create({ primaryKey: 'a' }),
      'COMMAND_FIELD_VALUE_INVALID',
      'command.definition.columns',
    )
    await schemas.refuse(
      '',
      create({ columns: {}, primaryKey: 'a' }),
      'COMMAND_FIELD_VALUE_INVALID',
      'command.definition.columns',
    )
    await schemas.refuse('', create([]), 'REQUEST_STRUCTURE_MISMATCH', 'command.definition')
    await schemas.refuse(
      '',
      create({ columns: [], primaryKey: 'a' }),
      'REQUEST_STRUCTURE_MISMATCH',
      'command.definition.columns',
    )
    await schemas.refuse('', create({ ...simple, x: 1 }), 'COMMAND_FIELD_UNKNOWN', '"x"')
    await schemas.refuse(
      '',
      { createTable: { name: 'refused', definition: simple, options: { ifExists: true } } },
      'COMMAND_FIELD_UNKNOWN',
      '"ifExists"',
    )
  })

  test('rejects an unknown user-defined type at any nesting level', async () => {
    const nowhere = { type: 'userDefined', udtName: 'nowhere' }
    for (const column of [
      nowhere,
      { type: 'list', valueType: nowhere },
      { type: 'map', keyType: 'int', valueType: nowhere },
    ])
      await schemas.fail('', ofColumn(column), 'UNKNOWN_USER_DEFINED_TYPE', '"nowhere"')
  })

  test('creates no table when the definition is rejected', async () => {
    await schemas.refuse('', ofColumn('nowhere'), 'UNKNOWN_PRIMITIVE_DATA_TYPE')
    const lacksType = ofColumn({ type: 'userDefined', udtName: 'nowhere' })
    await schemas.fail('', lacksType, 'UNKNOWN_USER_DEFINED_TYPE')
    const tables = (await schemas.status('', { listTables: {} }, 'tables')) as string[]
    assert(!tables.includes('refused'))
  })

  test('rejects the name of an existing table or collection, unless ifNotExists is set', async () => {
    await schemas.ok('', create(simple, 'taken'))
    await schemas.ok('', { createCollection: { name: 'documents' } })
    for (const [name, kind] of [
      ['taken', 'table'],
      ['documents', 'collection'],
    ] as const) {
      await schemas.fail('', create(simple, name), 'CANNOT_ADD_EXISTING_TABLE', name, kind)
      await schemas.ok('', {
        createTable: {
          name,
          definition: { columns: { other: 'text' }, primaryKey: 'other' },
          options: { ifNotExists: true },
        },
      })
    }
    assert.deepEqual(Object.keys((await schemas.explain('taken')).columns), ['id'])
  })

  test('prevents a collection of the same name', async () => {
    await schemas.ok('', create(simple, 'only_table'))
    await schemas.refuse(
      '',
      { createCollection: { name: 'only_table' } },
      'EXISTING_TABLE_NOT_DATA_API_COLLECTION',
      '"only_table"',
    )
  })

  test('rejects a keyspace that does not exist', async () => {
    await schemas.refuse('/nowhere', create(simple), 'UNKNOWN_KEYSPACE', 'nowhere')
  })

  test('succeeds for only one of several concurrent requests for the same table', async () => {
    const answers = await Promise.all(
      times(20, (i) =>
        schemas.send(
          '',
          create({ columns: { [`c${i}`]: 'int' }, primaryKey: `c${i}` }, 'contested'),
        ),
      ),
    )
    const winners = times(20, (i) => i).filter((i) => answers[i]!.codes.length === 0)
    assert.equal(winners.length, 1)
    for (const [i, answer] of answers.entries())
      if (i !== winners[0]) assert.deepEqual(answer.codes, ['CANNOT_ADD_EXISTING_TABLE'])
    assert.deepEqual(Object.keys((await schemas.explain('contested')).columns), [
      `c${winners[0]!}`,
    ])
  })

  test('succeeds for all concurrent requests that set ifNotExists', async () => {
    await Promise.all(
      times(20, () =>
        schemas.ok('', {
          createTable: {
            name: 'shared',
            definition: simple,
            options: { ifNotExists: true },
          },
        }),
      ),
    )
  })
})

describe('createTable with embedding services switched off', () => {
  const schemas = new Schemas(
    {},
    { features: { ...defaultConfig.features, vectorize: false } },
  )

  test('rejects a column with an embedding service', async () => {
    const service = { provider: 'openai', modelName: 'text-embedding-3-small' }
    const columns = { id: 'int', v: { type: 'vector', service } }
    await schemas.refuse(
      '',
      { createTable: { name: 'a', definition: { columns, primaryKey: 'id' } } },
      'VECTORIZE_FEATURE_NOT_AVAILABLE',
    )
  })
})

describe('createTable at the limits', () => {
  const schemas = new Schemas({ tablesMax: 3, columnsMax: 4 })

  const create = (name: string, count = 1, options = {}) => ({
    createTable: {
      name,
      definition: {
        columns: Object.fromEntries(times(count, (i) => [`c${i}`, 'int'])),
        primaryKey: 'c0',
      },
      options,
    },
  })

  test('rejects more columns than the maximum number', async () => {
    await schemas.ok('', create('wide', 4))
    await schemas.refuse('', create('wider', 5), 'COMMAND_FIELD_VALUE_INVALID', '5', '4')
  })

  test('counts the tables of all keyspaces and never exceeds the limit', async () => {
    await schemas.server.command('', { createKeyspace: { name: 'second' } })
    await schemas.ok('/second', create('elsewhere'))
    await schemas.ok('', { createCollection: { name: 'does_not_count' } })
    const answers = await Promise.all(times(8, (i) => schemas.send('', create(`t${i}`))))
    assert.equal(answers.filter((answer) => answer.codes.length === 0).length, 1)
    for (const answer of answers)
      if (answer.codes.length > 0)
        assert.deepEqual(answer.codes, ['UNEXPECTED_DRIVER_ERROR'])
  })

  test('reports an existing table before the limit', async () => {
    await schemas.ok('', create('wide', 1, { ifNotExists: true }))
    await schemas.fail('', create('wide'), 'CANNOT_ADD_EXISTING_TABLE')
  })

  test('creates a table after another one was dropped', async () => {
    await schemas.fail('', create('late'), 'UNEXPECTED_DRIVER_ERROR', '--max-tables')
    await schemas.ok('/second', { dropTable: { name: 'elsewhere' } })
    await schemas.ok('', create('late'))
  })
})

describe('a restart of the server', () => {
  const schemas = new Schemas({}, { durable: true })

  test('keeps tables, columns, indexes and types', unlessOnCluster, async () => {
    await schemas.ok('', {
      createType: { name: 'point', definition: { fields: { x: 'int', y: 'int' } } },
    })
    const name = await schemas.table({
      a: 'text',
      b: { type: 'vector', dimension: 3 },
      c: { type: 'map', keyType: 'text', valueType: 'int' },
      d: { type: 'list', valueType: { type: 'userDefined', udtName: 'point' } },
      e: 'int',
    })
    const index = (command: string, index_: string, column: unknown, options = {}) =>
      schemas.ok(name, { [command]: { name: index_, definition: { column, options } } })
    await index('createIndex', 'by_a', 'a', { caseSensitive: false })
    await index('createIndex', 'by_key', { c: '$keys' })
    await index('createVectorIndex', 'by_b', 'b', { metric: 'euclidean' })
    await index('createTextIndex', 'in_a', 'a', {
      analyzer: { tokenizer: { name: 'letter' } },
    })
    await schemas.ok(name, { alterTable: { operation: { drop: { columns: ['e'] } } } })
    await schemas.ok('', {
      alterType: {
        name: 'point',
        rename: { fields: { y: 'z' } },
        add: { fields: { y: 'text' } },
      },
    })
    const explain = { options: { explain: true } }
    const all = async () => [
      (await schemas.send('', { listTables: explain })).text,
      (await schemas.send('', { listTypes: explain })).text,
      (await schemas.send(name, { listIndexes: explain })).text,
    ]
    const before = await all()
    await schemas.restart()
    assert.deepEqual(await all(), before)
    await schemas.ok(name, {
      alterTable: { operation: { add: { columns: { e: 'text' } } } },
    })
  })
})
