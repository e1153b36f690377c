import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { Schemas, times } from './schemas.ts'

const create = (name: unknown, fields: unknown, options?: object) => ({
  createType: { name, definition: { fields }, options },
})

interface ExplainedType {
  readonly udtName: string
  readonly definition: { readonly fields: Record<string, { readonly type: string }> }
}

/** The fields of a type with their types, in order. */
async function fieldsOf(schemas: Schemas, name: string): Promise<[string, string][]> {
  const explain = { listTypes: { options: { explain: true } } }
  const types = (await schemas.status('', explain, 'types')) as ExplainedType[]
  const found = types.find((type) => type.udtName === name)
  if (found === undefined) assert.fail(`${name} is not listed`)
  return Object.entries(found.definition.fields).map(([field, { type }]) => [field, type])
}

describe('createType', () => {
  const schemas = new Schemas({ columnsMax: 30 })

  test('creates a type with fields of every value type', async () => {
    const values = [
      ...['ascii', 'bigint', 'blob', 'boolean', 'date', 'decimal', 'double', 'duration'],
      ...['float', 'inet', 'int', 'smallint', 'text', 'time', 'timestamp', 'tinyint'],
      ...['uuid', 'varint'],
    ]
    const fields = values.map((type, i) => [`f_${type}`, i % 2 === 0 ? type : { type }])
    await schemas.ok('', create('all', Object.fromEntries(fields) as object))
    assert.deepEqual(
      await fieldsOf(schemas, 'all'),
      values.map((type) => [`f_${type}`, type]),
    )
  })

  test('rejects unsupported types of fields, and invalid field names', async () => {
    for (const [type, code, ...named] of [
      ['list', 'UNSUPPORTED_TYPE_FIELDS', 'f(list)'],
      [{ type: 'set', valueType: 'int' }, 'UNSUPPORTED_TYPE_FIELDS', 'f(set)'],
      ['map', 'UNSUPPORTED_TYPE_FIELDS', 'f(map)'],
      [{ type: 'vector', dimension: 3 }, 'UNSUPPORTED_TYPE_FIELDS', 'f(vector)'],
      [{ type: 'userDefined', udtName: 'all' }, 'UNSUPPORTED_TYPE_FIELDS', 'userDefined'],
      ['counter', 'UNSUPPORTED_TYPE_FIELDS', 'f(counter)'],
      ['timeuuid', 'UNSUPPORTED_TYPE_FIELDS', 'f(timeuuid)'],
      ['money', 'UNKNOWN_PRIMITIVE_DATA_TYPE', '"money"'],
      [{ type: 'money' }, 'UNKNOWN_DATA_TYPE', '"money"'],
      [null, 'REQUEST_STRUCTURE_MISMATCH', 'definition.fields.f'],
    ] as const)
      await schemas.refuse('', create('refused', { e: 'int', f: type }), code, ...named)
    for (const field of ['', ' ', '$f'])
      await schemas.refuse(
        '',
        create('refused', { [field]: 'int' }),
        'UNSUPPORTED_SCHEMA_NAME',
        'Field',
      )
  })

  test('rejects a definition without fields', async () => {
    for (const fields of [undefined, null, {}])
      await schemas.refuse(
        '',
        create('refused', fields),
        'MISSING_FIELDS_FOR_TYPE_CREATION',
      )
    await schemas.refuse(
      '',
      { createType: { name: 'refused' } },
      'COMMAND_FIELD_VALUE_INVALID',
    )
    await schemas.refuse('', create('refused', ['a']), 'REQUEST_STRUCTURE_MISMATCH')
    await schemas.refuse(
      '',
      { createType: { name: 'refused', definition: { fields: { a: 'int' }, x: 1 } } },
      'COMMAND_FIELD_UNKNOWN',
    )
  })

  test('accepts names of 1 to 48 letters, digits and underscores', async () => {
    for (const name of ['a', 'A', '0', 'n'.repeat(48)])
      await schemas.ok('', create(name, { f: 'int' }))
    for (const name of [undefined, null, 'n'.repeat(49), 'a-b', 'é'])
      await schemas.refuse(
        '',
        create(name, { f: 'int' }),
        'UNSUPPORTED_SCHEMA_NAME',
        'Udt',
        '48',
      )
    await schemas.refuse('', create('', { f: 'int' }), 'COMMAND_FIELD_VALUE_INVALID')
  })

  test('rejects an existing type unless ifNotExists is set', async () => {
    await schemas.ok('', create('twice', { f: 'int' }))
    await schemas.fail(
      '',
      create('twice', { g: 'int' }),
      'CANNOT_ADD_EXISTING_TYPE',
      '"twice"',
    )
    await schemas.ok('', create('twice', { g: 'int' }, { ifNotExists: true }))
    assert.deepEqual(await fieldsOf(schemas, 'twice'), [['f', 'int']])
  })

  test('accepts the name of an existing table', async () => {
    const table = await schemas.table()
    await schemas.ok('', create(table, { f: 'int' }))
  })

  test('rejects more fields than the maximum number', async () => {
    const fields = (count: number) =>
      Object.fromEntries(times(count, (i) => [`f${i}`, 'int']))
    await schemas.ok('', create('wide', fields(30)))
    await schemas.refuse(
      '',
      create('wider', fields(31)),
      'COMMAND_FIELD_VALUE_INVALID',
      '31',
      '30',
    )
    await schemas.refuse(
      '',
      { alterType: { name: 'wide', add: { fields: { more: 'int' } } } },
      'COMMAND_FIELD_VALUE_INVALID',
      '31',
    )
  })

  test('succeeds for only one of several concurrent requests for the same type', async () => {
    const answers = await Promise.all(
      times(10, (i) => schemas.send('', create('contested', { [`f${i}`]: 'int' }))),
    )
    assert.equal(answers.filter((answer) => answer.codes.length === 0).length, 1)
    for (const { codes } of answers)
      if (codes.length > 0) assert.deepEqual(codes, ['CANNOT_ADD_EXISTING_TYPE'])
  })
})

describe('createType at the limit', () => {
  const schemas = new Schemas({ typesMax: 2 })

  test('rejects more types than the maximum number', async () => {
    await schemas.ok('', create('a', { f: 'int' }))
    await schemas.ok('', create('b', { f: 'int' }))
    await schemas.fail('', create('c', { f: 'int' }), 'INVALID_DATABASE_QUERY', '2')
    await schemas.ok('', { dropType: { name: 'a' } })
    await schemas.ok('', create('c', { f: 'int' }))
  })
})

describe('alterType', () => {
  const schemas = new Schemas()
  const alter = (name: unknown, rename: unknown, add?: unknown) => ({
    alterType: { name, rename, add },
  })
  let count = 0
  const newType = async (...fields: string[]) => {
    const name = `type_${++count}`
    const typed = Object.fromEntries(fields.map((field) => [field, 'text']))
    await schemas.ok('', create(name, typed))
    return name
  }
  const namesOf = async (name: string) =>
    (await fieldsOf(schemas, name)).map(([field]) => field)

  test('renames fields in order, then adds new fields', async () => {
    const name = await newType('a', 'b', 'c')
    await schemas.ok('', alter(name, { fields: { a: 'first', b: 'a' } }))
    assert.deepEqual(await namesOf(name), ['first', 'a', 'c'])
    await schemas.ok('', alter(name, null, { fields: { d: 'int', e: { type: 'uuid' } } }))
    await schemas.ok('', alter(name, { fields: { a: 'b' } }, { fields: { a: 'date' } }))
    assert.deepEqual(await fieldsOf(schemas, name), [
      ['first', 'text'],
      ['b', 'text'],
      ['c', 'text'],
      ['d', 'int'],
      ['e', 'uuid'],
      ['a', 'date'],
    ])
  })

  test('rejects invalid changes and changes nothing', async () => {
    const name = await newType('a', 'b')
    for (const [rename, add, code, ...named] of [
      [{ a: 'x', nothing: 'y' }, {}, 'CANNOT_RENAME_UNKNOWN_TYPE_FIELD', '"nothing"'],
      [{ a: 'b' }, {}, 'CANNOT_ADD_EXISTING_FIELD', '"b"'],
      [{ a: 'b', b: 'a' }, {}, 'CANNOT_ADD_EXISTING_FIELD', '"b"'],
      [{ a: 'a' }, {}, 'CANNOT_ADD_EXISTING_FIELD', '"a"'],
      [{ a: 'x', b: 'x' }, {}, 'CANNOT_ADD_EXISTING_FIELD', '"x"'],
      [{ a: 'x' }, { x: 'int' }, 'CANNOT_ADD_EXISTING_FIELD', '"x"'],
      [{}, { c: 'int', b: 'int' }, 'CANNOT_ADD_EXISTING_FIELD', '"b"'],
    ] as const)
      await schemas.fail(
        '',
        alter(name, { fields: rename }, { fields: add }),
        code,
        ...named,
      )
    for (const [rename, add, code, ...named] of [
      [{ a: 'x' }, { c: 'list' }, 'UNSUPPORTED_TYPE_FIELDS', 'c(list)'],
      [{ a: 'x' }, { c: 'money' }, 'UNKNOWN_PRIMITIVE_DATA_TYPE', '"money"'],
      [{ a: ' ' }, {}, 'UNSUPPORTED_SCHEMA_NAME', 'Field'],
      [{ a: 5 }, {}, 'REQUEST_STRUCTURE_MISMATCH', 'rename.fields.a'],
    ] as const)
      await schemas.refuse(
        '',
        alter(name, { fields: rename }, { fields: add }),
        code,
        ...named,
      )
    assert.deepEqual(await namesOf(name), ['a', 'b'])
  })

  test('rejects a command without changes', async () => {
    const name = await newType('a')
    for (const [rename, add] of [
      [undefined, undefined],
      [null, null],
      [{}, {}],
      [{ fields: {} }, { fields: null }],
    ] as const)
      await schemas.refuse('', alter(name, rename, add), 'MISSING_ALTER_TYPE_OPERATIONS')
    await schemas.refuse('', alter(name, { x: 1 }), 'COMMAND_FIELD_UNKNOWN', '"x"')
    await schemas.refuse('', alter(name, 'a'), 'REQUEST_STRUCTURE_MISMATCH')
    await schemas.refuse(
      '',
      alter('', { fields: { a: 'b' } }),
      'COMMAND_FIELD_VALUE_INVALID',
    )
  })

  test('rejects a type that does not exist', async () => {
    const error = await schemas.fail(
      '',
      alter('nowhere', { fields: { a: 'b' } }),
      'UNKNOWN_USER_DEFINED_TYPE',
      'nowhere',
    )
    assert.deepEqual([error.family, error.scope], ['REQUEST', 'SCHEMA'])
  })

  test('changes a type while tables use it', async () => {
    const name = await newType('a')
    await schemas.table({ u: { type: 'userDefined', udtName: name } })
    await schemas.ok('', alter(name, { fields: { a: 'b' } }))
    assert.deepEqual(await namesOf(name), ['b'])
  })

  test('keeps all fields that concurrent requests add', async () => {
    const name = await newType('a')
    await Promise.all(
      times(10, (i) => schemas.ok('', alter(name, null, { fields: { [`f${i}`]: 'int' } }))),
    )
    assert.equal((await namesOf(name)).length, 11)
  })
})

describe('dropType', () => {
  const schemas = new Schemas()
  const drop = (name: unknown, options?: object) => ({ dropType: { name, options } })

  test('drops a type, whose name can be used again', async () => {
    await schemas.ok('', create('again', { f: 'int' }))
    await schemas.ok('', drop('again'))
    assert.deepEqual(await schemas.status('', { listTypes: {} }, 'types'), [])
    await schemas.ok('', create('again', { g: 'text' }))
    assert.deepEqual(await fieldsOf(schemas, 'again'), [['g', 'text']])
  })

  test('rejects a type that does not exist, unless ifExists is set', async () => {
    await schemas.fail('', drop('nowhere'), 'CANNOT_DROP_UNKNOWN_TYPE', '"nowhere"')
    await schemas.ok('', drop('nowhere', { ifExists: true }))
    for (const name of [undefined, null, ''])
      await schemas.refuse('', drop(name), 'COMMAND_FIELD_VALUE_INVALID', 'command.name')
  })

  test('is rejected while a column uses the type, directly or nested', async () => {
    await schemas.ok('', create('used', { f: 'int' }))
    const type = { type: 'userDefined', udtName: 'used' }
    const tables = [
      await schemas.table({ c: type }),
      await schemas.table({ c: { type: 'list', valueType: type } }),
      await schemas.table({ c: { type: 'map', keyType: 'int', valueType: type } }),
    ]
    const options = { ifExists: true }
    await schemas.fail(
      '',
      drop('used', options),
      'CANNOT_DROP_TYPE_USED_BY_TABLE',
      '"used"',
      tables.join(', '),
    )
    await schemas.ok('', { dropTable: { name: tables[0] } })
    for (const table of tables.slice(1))
      await schemas.ok(table, { alterTable: { operation: { drop: { columns: ['c'] } } } })
    await schemas.ok('', drop('used'))
  })
})

describe('listTypes', () => {
  const schemas = new Schemas()

  test('lists the types of a keyspace by name', async () => {
    assert.deepEqual(await schemas.status('', { listTypes: {} }, 'types'), [])
    for (const name of ['b', 'a', 'C']) await schemas.ok('', create(name, { f: 'int' }))
    await schemas.server.command('', { createKeyspace: { name: 'second' } })
    await schemas.ok('/second', create('elsewhere', { f: 'int' }))
    for (const options of [undefined, null, {}, { explain: false }])
      assert.deepEqual(await schemas.status('', { listTypes: { options } }, 'types'), [
        'C',
        'a',
        'b',
      ])
    await schemas.refuse('/nowhere', { listTypes: {} }, 'UNKNOWN_KEYSPACE')
  })

  test('lists the definitions of types with explain, in the form of column definitions', async () => {
    await schemas.ok('', create('address', { city: 'text', n: { type: 'int' } }))
    const explain = { listTypes: { options: { explain: true } } }
    const types = (await schemas.status('', explain, 'types')) as ExplainedType[]
    assert.deepEqual(
      types.find(({ udtName }) => udtName === 'address'),
      {
        type: 'userDefined',
        udtName: 'address',
        definition: { fields: { city: { type: 'text' }, n: { type: 'int' } } },
        apiSupport: {
          createTable: true,
          insert: true,
          read: true,
          filter: false,
          cqlDefinition: 'default_keyspace.address',
        },
      },
    )
  })
})
