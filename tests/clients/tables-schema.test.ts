/** Creation and changes of tables and columns. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { DataAPIResponseError, Table, type SomeRow } from '@datastax/astra-db-ts'
import { keyspace, refusal, Service, thrown } from './client.ts'

const service = await Service.start()
const db = service.connect()

const scalars = [
  'ascii',
  'bigint',
  'blob',
  'boolean',
  'date',
  'decimal',
  'double',
  'duration',
  'float',
  'inet',
  'int',
  'smallint',
  'text',
  'time',
  'timestamp',
  'tinyint',
  'uuid',
  'varint',
] as const

const books = Table.schema({
  columns: {
    shelf: 'text',
    number: { type: 'int' },
    title: 'text',
    tags: { type: 'set', valueType: 'text' },
    ratings: { type: 'map', keyType: 'uuid', valueType: 'tinyint' },
    lent: { type: 'list', valueType: 'date' },
    vector: { type: 'vector', dimension: 3 },
  },
  primaryKey: { partitionBy: ['shelf'], partitionSort: { number: -1 } },
})

const vectorSupport = {
  createTable: true,
  insert: true,
  read: true,
  filter: false,
  cqlDefinition: 'vector<float, 3>',
}

const booksListed = {
  columns: {
    shelf: { type: 'text' },
    number: { type: 'int' },
    title: { type: 'text' },
    tags: { type: 'set', valueType: 'text' },
    ratings: { type: 'map', keyType: 'uuid', valueType: 'tinyint' },
    lent: { type: 'list', valueType: 'date' },
    vector: { type: 'vector', dimension: 3, apiSupport: vectorSupport },
  },
  primaryKey: { partitionBy: ['shelf'], partitionSort: { number: -1 } },
}

const smallest = { columns: { id: 'text', v: 'int' }, primaryKey: 'id' } as const

describe('createTable', () => {
  test('creates an empty table that accepts rows', async () => {
    const table = await db.createTable('books', { definition: books })
    assert(table instanceof Table)
    assert.equal(table.name, 'books')
    assert.equal(table.keyspace, keyspace)
    assert.deepEqual(await table.definition(), booksListed)
    assert.equal(await table.findOne({}), null)
    const { insertedId } = await table.insertOne({ shelf: 'a', number: 1 })
    assert.deepEqual(insertedId, { shelf: 'a', number: 1 })
    await table.drop()
  })

  test('accepts every scalar type, as a name or an object', async () => {
    for (const describe of [(type: string) => type, (type: string) => ({ type })]) {
      const columns = Object.fromEntries(scalars.map((type) => [type, describe(type)]))
      const table = await db.createTable('scalars', {
        definition: { columns: columns as Record<string, string>, primaryKey: 'text' },
      })
      assert.deepEqual(await table.definition(), {
        columns: Object.fromEntries(scalars.map((type) => [type, { type }])),
        primaryKey: { partitionBy: ['text'], partitionSort: {} },
      })
      await table.drop()
    }
  })

  test('keeps the order of a composite key', async () => {
    const table = await db.createTable('composite', {
      definition: {
        columns: { a: 'int', b: 'int', c: 'int', d: 'int', e: 'int' },
        primaryKey: { partitionBy: ['d', 'b'], partitionSort: { e: -1, a: 1, c: -1 } },
      },
    })
    const { primaryKey } = await table.definition()
    assert.deepEqual(primaryKey.partitionBy, ['d', 'b'])
    assert.deepEqual(Object.entries(primaryKey.partitionSort), [
      ['e', -1],
      ['a', 1],
      ['c', -1],
    ])
    const { insertedId } = await table.insertOne({ a: 1, b: 2, c: 3, d: 4, e: 5 })
    assert.deepEqual(Object.entries(insertedId), [
      ['d', 4],
      ['b', 2],
      ['e', 5],
      ['a', 1],
      ['c', 3],
    ])
    await table.drop()
  })

  test('accepts column names with special characters or a special meaning in collections', async () => {
    const table = await db.createTable('odd_names', {
      definition: {
        columns: { _id: 'text', 'part-key': 'int', Id: 'int', 'a.b': 'int', ключ: 'int' },
        primaryKey: '_id',
      },
    })
    const row = { _id: 'x', 'part-key': 1, Id: 2, 'a.b': 3, ключ: 4 }
    assert.deepEqual((await table.insertOne(row)).insertedId, { _id: 'x' })
    assert.deepEqual(await table.findOne({ _id: 'x' }), row)
    assert.deepEqual(await table.findOne({ 'a.b': 3, ключ: 4 }), row)
    await table.drop()
  })

  test('rejects an existing name, unless ifNotExists is set', async () => {
    const table = await db.createTable('taken', { definition: smallest })
    const again = db.createTable('taken', { definition: smallest, ifNotExists: false })
    const error = await refusal(again)
    assert.equal(error.errorCode, 'CANNOT_ADD_EXISTING_TABLE')
    assert.equal(error.scope, 'SCHEMA')
    assert(error.message.includes('taken'))
    await table.insertOne({ id: 'a', v: 1 })
    const same = await db.createTable('taken', { definition: books, ifNotExists: true })
    assert.deepEqual(await same.definition(), await table.definition())
    assert.deepEqual(await same.findOne({}), { id: 'a', v: 1 })
    await table.drop()
  })

  test('rejects the name of a collection', async () => {
    await db.createCollection('shared')
    const error = await refusal(db.createTable('shared', { definition: smallest }))
    assert.equal(error.errorCode, 'CANNOT_ADD_EXISTING_TABLE')
    await db.dropCollection('shared')
  })

  for (const [why, definition, code] of [
    [
      'an unknown type',
      { columns: { id: 'string' }, primaryKey: 'id' },
      'UNKNOWN_PRIMITIVE_DATA_TYPE',
    ],
    [
      'a counter',
      { columns: { id: 'text', n: 'counter' }, primaryKey: 'id' },
      'UNSUPPORTED_DATA_TYPE_TABLE_CREATION',
    ],
    [
      'a map without types',
      { columns: { id: 'text', m: 'map' }, primaryKey: 'id' },
      'UNSUPPORTED_MAP_DEFINITION',
    ],
    [
      'a list of lists',
      { columns: { id: 'text', l: { type: 'list', valueType: 'list' } }, primaryKey: 'id' },
      'UNSUPPORTED_LIST_DEFINITION',
    ],
    [
      'a vector without a dimension',
      { columns: { id: 'text', v: { type: 'vector' } }, primaryKey: 'id' },
      'MISSING_DIMENSION_IN_VECTOR_COLUMN',
    ],
    [
      'a key column that is not defined',
      { columns: { id: 'text' }, primaryKey: 'key' },
      'UNKNOWN_PARTITION_COLUMNS',
    ],
    [
      'a definition without a primary key',
      { columns: { id: 'text' }, primaryKey: { partitionBy: [] } },
      'MISSING_PARTITION_COLUMNS',
    ],
    [
      'a user-defined type that does not exist',
      {
        columns: { id: 'text', u: { type: 'userDefined', udtName: 'absent' } },
        primaryKey: 'id',
      },
      'UNKNOWN_USER_DEFINED_TYPE',
    ],
  ] as const)
    test(`rejects ${why}`, async () => {
      const attempt = db.createTable('refused', { definition: definition as never })
      assert.equal((await refusal(attempt)).errorCode, code)
      assert.deepEqual(await db.listTables({ nameOnly: true }), [])
    })

  test('rejects a name with a hyphen', async () => {
    const error = await refusal(db.createTable('with-hyphen', { definition: smallest }))
    assert.equal(error.errorCode, 'UNSUPPORTED_SCHEMA_NAME')
  })
})

describe('listTables', () => {
  test('lists tables by name, without collections', async () => {
    assert.deepEqual(await db.listTables(), [])
    await db.createCollection('a_collection')
    await db.createTable('b', { definition: smallest })
    await db.createTable('a', { definition: books })
    assert.deepEqual(await db.listTables({ nameOnly: true }), ['a', 'b'])
    assert.deepEqual(await db.listTables(), [
      { name: 'a', definition: booksListed },
      {
        name: 'b',
        definition: {
          columns: { id: { type: 'text' }, v: { type: 'int' } },
          primaryKey: { partitionBy: ['id'], partitionSort: {} },
        },
      },
    ])
    const collections = await db.listCollections({ nameOnly: true })
    assert.deepEqual(collections, ['a_collection'])
    await db.dropCollection('a_collection')
    await db.dropTable('a')
    await db.dropTable('b')
  })

  test('lists tables of another keyspace', async () => {
    await db.admin({ environment: 'hcd' }).createKeyspace('elsewhere')
    const options = { definition: smallest, keyspace: 'elsewhere' }
    const table = await db.createTable('there', options)
    assert.equal(table.keyspace, 'elsewhere')
    await table.insertOne({ id: 'a', v: 1 })
    const again = db.table('there', { keyspace: 'elsewhere' })
    assert.deepEqual(await again.findOne({}), { id: 'a', v: 1 })
    const names = await db.listTables({ nameOnly: true, keyspace: 'elsewhere' })
    assert.deepEqual(names, ['there'])
    assert.deepEqual(await db.listTables({ nameOnly: true }), [])
    const error = await refusal(db.table('there').findOne({}))
    assert.equal(error.errorCode, 'UNKNOWN_COLLECTION_OR_TABLE')
    await db.dropTable('there', { keyspace: 'elsewhere' })
  })
})

describe('dropTable', () => {
  test('drops a table with its rows', async () => {
    const table = await db.createTable('dropped', { definition: smallest })
    await table.insertOne({ id: 'a', v: 1 })
    await table.drop()
    assert.deepEqual(await db.listTables({ nameOnly: true }), [])
    const error = await refusal(table.insertOne({ id: 'a' }))
    assert.equal(error.errorCode, 'UNKNOWN_COLLECTION_OR_TABLE')
    await assert.rejects(table.definition())
    const anew = await db.createTable('dropped', { definition: smallest })
    assert.equal(await anew.findOne({}), null)
    await anew.drop()
  })

  test('rejects an unknown table, unless ifExists is set', async () => {
    const error = await refusal(db.dropTable('absent'))
    assert.equal(error.errorCode, 'CANNOT_DROP_UNKNOWN_TABLE')
    await db.dropTable('absent', { ifExists: true })
  })
})

describe('alter', () => {
  test('adds columns, which are empty in all rows', async () => {
    const table = await db.createTable('grown', { definition: smallest })
    await table.insertOne({ id: 'a', v: 1 })
    const grown = await table.alter<{ id: string; v: number; w: Set<string>; x: string }>({
      operation: {
        add: { columns: { w: { type: 'set', valueType: 'text' }, x: 'text' } },
      },
    })
    const { columns } = await grown.definition()
    assert.deepEqual(columns['w'], { type: 'set', valueType: 'text' })
    assert.deepEqual(await grown.findOne({}), { id: 'a', v: 1, w: new Set(), x: null })
    await grown.insertOne({ id: 'b', v: 2, w: new Set(['z', 'y']), x: 'new' })
    assert.deepEqual(await grown.findOne({ id: 'b' }), {
      id: 'b',
      v: 2,
      w: new Set(['y', 'z']),
      x: 'new',
    })
    const twice = table.alter({ operation: { add: { columns: { x: 'text' } } } })
    assert.equal((await refusal(twice)).errorCode, 'CANNOT_ADD_EXISTING_COLUMNS')
    await table.drop()
  })

  test('drops columns with their values', async () => {
    const table = await db.createTable('shrunk', { definition: smallest })
    await table.insertOne({ id: 'a', v: 1 })
    const shrunk = await table.alter<{ id: string }>({
      operation: { drop: { columns: ['v'] } },
    })
    assert.deepEqual(await shrunk.findOne({}), { id: 'a' })
    assert.equal(
      (await refusal(table.findOne({ v: 1 }))).errorCode,
      'UNKNOWN_TABLE_COLUMNS',
    )
    await table.alter({ operation: { add: { columns: { v: 'int' } } } })
    assert.deepEqual(await table.findOne({}), { id: 'a', v: null })
    await table.drop()
  })

  for (const [why, column, code] of [
    ['of the key', 'id', 'CANNOT_DROP_PRIMARY_KEY_COLUMNS'],
    ['that do not exist', 'absent', 'CANNOT_DROP_UNKNOWN_COLUMNS'],
    ['that have an index', 'v', 'CANNOT_DROP_INDEXED_COLUMNS'],
  ] as const)
    test(`rejects dropping columns ${why}`, async () => {
      const table = await db.createTable('kept', { definition: smallest })
      await table.createIndex('kept_v', 'v')
      const columns = [column] as never[]
      const error = await refusal(table.alter({ operation: { drop: { columns } } }))
      assert.equal(error.errorCode, code)
      await table.drop()
    })

  test('adds an embedding service to a vector column and removes it', async () => {
    const table = await db.createTable('embedded', {
      definition: {
        columns: { id: 'text', v: { type: 'vector', dimension: 1536 } },
        primaryKey: 'id',
      },
    })
    const embedding = { provider: 'openai', modelName: 'text-embedding-3-small' }
    await table.alter({ operation: { addVectorize: { columns: { v: embedding } } } })
    const given = (await table.definition()).columns['v']
    assert.partialDeepStrictEqual(given, {
      type: 'vector',
      dimension: 1536,
      service: embedding,
    })
    await table.alter({ operation: { dropVectorize: { columns: ['v'] } } })
    const taken = (await table.definition()).columns['v']
    assert.equal('service' in taken!, false)
    const unknown = table.alter({
      operation: { addVectorize: { columns: { id: embedding } } },
    })
    const error = await refusal(unknown)
    assert.equal(error.errorCode, 'CANNOT_VECTORIZE_NON_VECTOR_COLUMNS')
    await table.drop()
  })

  test('rejects an empty operation', async () => {
    const table = await db.createTable('same', { definition: smallest })
    const error = await thrown(
      DataAPIResponseError,
      table.alter({ operation: { add: { columns: {} } } }),
    )
    const [{ errorCode }] = error.errorDescriptors
    assert.equal(errorCode, 'MISSING_ALTER_TABLE_OPERATIONS')
    await table.drop()
  })
})

describe('concurrent changes of the schema', () => {
  const codesOf = async (attempts: readonly Promise<unknown>[]) => {
    const outcomes = await Promise.allSettled(attempts)
    return outcomes
      .filter((outcome) => outcome.status === 'rejected')
      .map(({ reason }) => (reason as DataAPIResponseError).errorDescriptors[0].errorCode)
  }
  const ten = Array.from({ length: 10 }, (_, n) => n)

  test('create a table once', async () => {
    const once = ten.map(() => db.createTable('once', { definition: smallest }))
    assert.deepEqual(await codesOf(once), Array(9).fill('CANNOT_ADD_EXISTING_TABLE'))
    const options = { definition: smallest, ifNotExists: true }
    assert.deepEqual(await codesOf(ten.map(() => db.createTable('many', options))), [])
    assert.deepEqual(await db.listTables({ nameOnly: true }), ['many', 'once'])
    await db.dropTable('once')
    await db.dropTable('many')
  })

  test('add all columns and indexes', async () => {
    const table = await db.createTable<SomeRow>('busy', { definition: smallest })
    const adding = ten.map((n) =>
      table.alter({ operation: { add: { columns: { [`c${n}`]: 'int' } } } }),
    )
    assert.deepEqual(await codesOf(adding), [])
    const { columns } = await table.definition()
    assert.equal(Object.keys(columns).length, 12)
    const writing = ten.map((n) => table.insertOne({ id: `${n}`, [`c${n}`]: n }))
    const indexing = ten.map((n) => table.createIndex(`busy_${n}`, `c${n}`))
    assert.deepEqual(await codesOf([...writing, ...indexing]), [])
    for (const n of ten)
      assert.equal((await table.findOne({ [`c${n}`]: n }))!['id'], `${n}`)
    const same = ten.map(() => table.createIndex('busy_v', 'v'))
    assert.deepEqual(await codesOf(same), Array(9).fill('CANNOT_ADD_EXISTING_INDEX'))
    assert.equal((await table.listIndexes({ nameOnly: true })).length, 11)
    await table.drop()
  })
})

test('table commands reject collections, and collection commands reject tables', async () => {
  const table = await db.createTable('a_table', { definition: smallest })
  await db.createCollection('a_collection')
  const other = db.table<SomeRow>('a_collection')
  for (const attempt of [
    other.createIndex('any', 'any'),
    other.alter({ operation: { add: { columns: { any: 'int' } } } }),
    other.listIndexes(),
  ])
    assert.equal((await refusal(attempt)).errorCode, 'UNSUPPORTED_COLLECTION_COMMAND')
  const counted = db.collection('a_table').countDocuments({}, 10)
  assert.equal((await refusal(counted)).errorCode, 'UNSUPPORTED_TABLE_COMMAND')
  await table.drop()
  await db.dropCollection('a_collection')
})
