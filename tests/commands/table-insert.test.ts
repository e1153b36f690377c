import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { defaultProviderSettings } from '../../src/providers/provider-settings.ts'
import { FakeProvider, type Answer, type Asked } from '../providers/fake-provider.ts'
import { letterVector } from './letter-models.ts'
import { people, readings, WrittenTables } from './written-tables.ts'
import { unlessOnCluster } from '../test-engine.ts'

const provider = await FakeProvider.start()

function countLetters({ body }: Asked): Answer {
  const { input } = body as { input: string[] }
  const data = input.map((text, index) => ({ index, embedding: letterVector(text) }))
  return { body: { data, usage: { prompt_tokens: 1, total_tokens: 1 } } }
}

describe('insertOne on a table', () => {
  const tables = new WrittenTables()

  test('returns the key and the schema of its columns', async () => {
    const table = await tables.create(readings)
    const row = { value: 1.5, hour: 3, day: 2, place: 'Oslo' }
    const { status } = await table.run({ insertOne: { document: row } })
    assert.deepEqual(status, {
      primaryKeySchema: {
        place: { type: 'text' },
        day: { type: 'int' },
        hour: { type: 'int' },
      },
      insertedIds: [['Oslo', 2, 3]],
    })
    const { text } = await table.send({ find: {} })
    assert(text.includes('{"place":"Oslo","day":2,"hour":3,"value":1.5}'), text)
  })

  test('stores a row that finds return with its key columns first, and the other columns by name', async () => {
    const table = await tables.create({
      columns: { z: 'int', b: 'text', a: 'text', k: 'int' },
      primaryKey: { partitionBy: ['k'], partitionSort: { b: 1 } },
    })
    await table.insert({ z: 1, a: 'x', b: 'y', k: 2 })
    await table.run({
      updateOne: { filter: { k: 2, b: 'y' }, update: { $set: { a: 'w' } } },
    })
    assert.deepEqual(Object.keys((await table.all())[0]!), ['k', 'b', 'a', 'z'])
  })

  test('merges into an existing row: given columns change, and null clears a column', async () => {
    const table = await tables.create(people, [
      { id: 'a', name: 'Ann', age: 3, tags: ['x'] },
    ])
    const { status } = await table.run({
      insertOne: { document: { id: 'a', age: 4, tags: null } },
    })
    assert.deepEqual(status!['insertedIds'], [['a']])
    assert.deepEqual(await table.all(), [{ id: 'a', name: 'Ann', age: 4 }])
  })

  test('accepts a row that has only key columns', async () => {
    const table = await tables.create(people)
    await table.insert({ id: 'a' }, { id: 'b', name: null, tags: [] })
    assert.deepEqual((await table.all()).length, 2)
    assert.deepEqual(await table.all(), [{ id: 'a' }, { id: 'b' }])
  })

  test('accepts column names that are built-in properties in JavaScript', async () => {
    const table = await tables.create({
      columns: { __proto__x: 'int', constructor: 'text', '10': 'int', 'part-key': 'text' },
      primaryKey: 'part-key',
    })
    const row = { 'part-key': 'a', '10': 1, __proto__x: 2, constructor: 'c' }
    await table.insert(row)
    assert.deepEqual(await table.all(), [row])
  })

  test('names every unknown column in the error', async () => {
    const table = await tables.create(people)
    const error = await table.refuse(
      { insertOne: { document: { id: 7, zip: 1, city: 2 } } },
      'UNKNOWN_TABLE_COLUMNS',
    )
    assert.equal(error.scope, 'DOCUMENT')
    assert.equal(error.status, undefined)
    assert.match(
      error.message,
      /default_keyspace\.t\d+ does not have these columns: city, zip\./,
    )
    assert.match(error.message, /age\(int\), id\(text\), name\(text\), tags\(set<text>\)/)
    assert.deepEqual(await table.all(), [])
  })

  test('names every invalid value and the reason in the error', async () => {
    const table = await tables.create(people)
    const error = await table.refuse(
      { insertOne: { document: { tags: 'x', age: '3', name: 'fine' } } },
      'INVALID_COLUMN_VALUES',
    )
    assert.match(
      error.message,
      /: age\(int\) is of type String.*; tags\(set<text>\) is of type String.*\./,
    )
  })

  test('names every key column that is missing or null in the error', async () => {
    const table = await tables.create(readings)
    const error = await table.refuse(
      { insertOne: { document: { day: 1, place: null, value: 2 } } },
      'MISSING_PRIMARY_KEY_COLUMNS',
    )
    assert.match(
      error.message,
      /place\(text\), day\(int\), hour\(int\).*null: hour\(int\), place\(text\)/,
    )
    await table.refuse({ insertOne: { document: {} } }, 'MISSING_PRIMARY_KEY_COLUMNS')
  })

  test('rejects non-object rows, and options', async () => {
    const table = await tables.create(people)
    const refuse = (body: object, code: string) => table.refuse({ insertOne: body }, code)
    await refuse({ document: 'x' }, 'SHRED_BAD_DOCUMENT_TYPE')
    await refuse({ document: null }, 'SHRED_BAD_DOCUMENT_TYPE')
    await refuse({}, 'COMMAND_FIELD_VALUE_INVALID')
    await refuse(
      { document: { id: 'a' }, options: { ordered: true } },
      'COMMAND_ACCEPTS_NO_OPTIONS',
    )
    await table.run({ insertOne: { document: { id: 'a' }, options: {} } })
  })

  test('accepts a partition key of 1 to 65,535 bytes', async () => {
    const table = await tables.create(people)
    const insert = (id: string) => ({ insertOne: { document: { id } } })
    await table.refuse(insert(''), 'INVALID_COLUMN_VALUES')
    await table.refuse(insert('x'.repeat(65_536)), 'INVALID_COLUMN_VALUES')
    await table.refuse(insert('é'.repeat(32_768)), 'INVALID_COLUMN_VALUES')
    for (const id of ['x'.repeat(65_535), 'é'.repeat(32_767), '\0'.repeat(65_535)])
      await table.run(insert(id))
    assert.equal((await table.all()).length, 3)
  })

  test('accepts empty texts in clustering columns', async () => {
    const columns = { a: 'text', b: 'text', c: 'text', d: 'blob' }
    const table = await tables.create({
      columns,
      primaryKey: { partitionBy: ['a', 'b'], partitionSort: { c: 1, d: -1 } },
    })
    const row = { a: '', b: '', c: '', d: { $binary: '' } }
    await table.insert(row)
    assert.deepEqual(await table.all(), [row])
    const blobs = await tables.create({ columns, primaryKey: 'd' })
    const empty = { insertOne: { document: { d: { $binary: '' } } } }
    await blobs.refuse(empty, 'INVALID_COLUMN_VALUES')
    const long = { a: 'x'.repeat(40_000), b: 'x'.repeat(40_000), c: '', d: row.d }
    await table.refuse({ insertOne: { document: long } }, 'INVALID_COLUMN_VALUES')
    const sorted = { ...row, c: 'x'.repeat(65_536) }
    await table.refuse({ insertOne: { document: sorted } }, 'INVALID_COLUMN_VALUES')
  })

  test('returns a blob of the key as plain Base64', async () => {
    const table = await tables.create({
      columns: { id: 'blob', u: 'uuid', t: 'timestamp' },
      primaryKey: { partitionBy: ['id'], partitionSort: { u: 1, t: 1 } },
    })
    const { status } = await table.run({
      insertOne: {
        document: {
          id: { $binary: 'AAEC' },
          u: 'F81D4FAE-7DEC-11D0-A765-00A0C91E6BF6',
          t: { $date: 1500 },
        },
      },
    })
    assert.deepEqual(status!['insertedIds'], [
      ['AAEC', 'f81d4fae-7dec-11d0-a765-00a0c91e6bf6', '1970-01-01T00:00:01.500Z'],
    ])
  })

  test('keeps rows across a restart', async () => {
    const table = await tables.create(readings, [{ place: 'Oslo', day: 1, hour: 2 }])
    await tables.restart()
    assert.deepEqual(await table.all(), [{ place: 'Oslo', day: 1, hour: 2 }])
  })
})

describe('values of columns', () => {
  const tables = new WrittenTables()

  /** Values as sent, each with its value in replies if that differs. */
  const values: Record<string, readonly (readonly [unknown, unknown?])[]> = {
    ascii: [['plain']],
    bigint: [[9007199254740991], [-1]],
    blob: [[{ $binary: 'AAEC/w==' }]],
    boolean: [[true], [false]],
    date: [['2024-02-29'], ['-0001-01-01']],
    decimal: [[1.25], [-3e-7]],
    double: [[0.1], ['NaN'], ['-Infinity']],
    duration: [
      ['2h45m', 'PT2H45M'],
      ['500ms', 'PT0.5S'],
    ],
    float: [[0.1], ['Infinity']],
    inet: [['127.1', '127.0.0.1']],
    int: [[2147483647], [-5.0, -5]],
    smallint: [[-32768]],
    text: [['ä\u0000\ud83d\ude00'], ['']],
    time: [['23:59:00', '23:59']],
    timestamp: [['2024-09-24T14:06:59Z']],
    tinyint: [[127]],
    uuid: [['f81d4fae-7dec-11d0-a765-00a0c91e6bf6']],
    varint: [[12345678901234]],
  }

  for (const [type, pairs] of Object.entries(values))
    test(
      `of type ${type} are stored and returned, alone and in lists, sets and maps`,
      type === 'duration' ? unlessOnCluster : {},
      async () => {
        const table = await tables.create({
          columns: {
            id: 'int',
            one: type,
            list: { type: 'list', valueType: type },
            set: { type: 'set', valueType: type },
            map: { type: 'map', keyType: 'text', valueType: type },
          },
          primaryKey: 'id',
        })
        for (const [id, [sent, back = sent]] of pairs.entries()) {
          await table.insert({
            id,
            one: sent,
            list: [sent, sent],
            set: [sent, sent],
            map: { k: sent },
          })
          const { data } = await table.run({ findOne: { filter: { id } } })
          const expected = {
            id,
            list: [back, back],
            map: { k: back },
            one: back,
            set: [back],
          }
          assert.deepEqual(data!.document, expected)
        }
      },
    )

  const keys = Object.entries(values).filter(([type]) => type !== 'duration')

  for (const [type, pairs] of keys)
    test(`of type ${type} can be keys that find their rows`, async () => {
      const table = await tables.create({
        columns: { a: type, b: type, n: 'int' },
        primaryKey: { partitionBy: ['a'], partitionSort: { b: -1 } },
      })
      const [[sent, back = sent]] = pairs as [readonly [unknown, unknown?]]
      const { status } = await table.run({ insertOne: { document: { a: sent, b: sent } } })
      const bare = type === 'blob' ? (back as { $binary: string }).$binary : back
      assert.deepEqual(status!['insertedIds'], [[bare, bare]])
      const filter = { a: sent, b: sent }
      await table.run({ updateOne: { filter, update: { $set: { n: 1 } } } })
      assert.deepEqual(await table.all(), [{ a: back, b: back, n: 1 }])
      await table.run({ deleteOne: { filter } })
      assert.deepEqual(await table.all(), [])
    })

  test('keep all digits when they are numbers', async () => {
    const table = await tables.create({
      columns: { id: 'bigint', v: 'varint', d: 'decimal' },
      primaryKey: 'id',
    })
    const row =
      '{"id":9223372036854775807,"d":0.12345678901234567890123,"v":123456789012345678901234567890}'
    await table.send(`{"insertOne":{"document":${row}}}`)
    const { text } = await table.send({ find: {} })
    assert(text.includes(row), text)
  })

  test('are replaced as a whole, and lose null fields, when their type is user-defined', async () => {
    await tables.keyspace({
      createType: { name: 'address', definition: { fields: { city: 'text', zip: 'int' } } },
    })
    const table = await tables.create({
      columns: {
        id: 'int',
        home: { type: 'userDefined', udtName: 'address' },
        all: { type: 'list', valueType: { type: 'userDefined', udtName: 'address' } },
      },
      primaryKey: 'id',
    })
    await table.insert({ id: 1, home: { city: 'Oslo', zip: 5 }, all: [{}, { zip: 1 }] })
    await table.insert({ id: 1, home: { city: 'Bergen', zip: null } })
    assert.deepEqual(await table.all(), [
      { id: 1, all: [{}, { zip: 1 }], home: { city: 'Bergen' } },
    ])
    await table.refuse(
      { insertOne: { document: { id: 2, home: 'Oslo', all: {} } } },
      'INVALID_COLUMN_VALUES',
    )
  })
})

describe('insertMany on a table', () => {
  const tables = new WrittenTables()
  const rows = (count: number) =>
    Array.from({ length: count }, (_, i) => ({ id: `r${i}`, age: i }))

  test('accepts 100 rows and no more', async () => {
    const table = await tables.create(people)
    const { status } = await table.run({ insertMany: { documents: rows(100) } })
    const ids = rows(100).map(({ id }) => [id])
    assert.deepEqual(status!['insertedIds'], ids)
    assert.equal((await table.all()).length, 100)
    const error = await table.refuse(
      { insertMany: { documents: rows(101) } },
      'COMMAND_FIELD_VALUE_INVALID',
    )
    assert.match(error.message, /101.*100/)
    await table.refuse({ insertMany: { documents: [] } }, 'COMMAND_FIELD_VALUE_INVALID')
  })

  test('writes rows with the same key in the order sent', async () => {
    const table = await tables.create(people, [{ id: 'a', name: 'old', age: 1 }])
    const { status } = await table.run({
      insertMany: {
        documents: [
          { id: 'a', name: 'Ann', tags: ['x'] },
          { id: 'b', age: 2 },
          { id: 'a', age: 3, tags: null },
          { id: 'b', age: null },
        ],
      },
    })
    assert.deepEqual(status!['insertedIds'], [['a'], ['b'], ['a'], ['b']])
    assert.deepEqual(await table.all(), [{ id: 'a', name: 'Ann', age: 3 }, { id: 'b' }])
  })

  const mixed = [
    { id: 'a' },
    { id: 'b', age: 'x' },
    { id: 'c' },
    { name: 'd' },
    { id: 'e' },
  ]

  test('inserts valid rows and reports invalid rows', async () => {
    const table = await tables.create(people)
    const { body } = await table.send({ insertMany: { documents: mixed } })
    assert.deepEqual(body.status!['insertedIds'], [['a'], ['c'], ['e']])
    assert.deepEqual(
      body.errors!.map(({ errorCode, documentIds }) => [errorCode, documentIds]),
      [
        ['INVALID_COLUMN_VALUES', undefined],
        ['MISSING_PRIMARY_KEY_COLUMNS', undefined],
      ],
    )
    assert.equal((await table.all()).length, 3)
  })

  test('checks all rows when ordered, and writes the rows before the first invalid row', async () => {
    const table = await tables.create(people)
    const options = { ordered: true }
    const { body } = await table.send({ insertMany: { documents: mixed, options } })
    assert.deepEqual(body.status!['insertedIds'], [['a']])
    assert.equal(body.errors!.length, 2)
    assert.deepEqual(await table.all(), [{ id: 'a' }])
  })

  test('omits the status when nothing was inserted', async () => {
    const table = await tables.create(people)
    const { body } = await table.send({ insertMany: { documents: [{}, { id: 1 }] } })
    assert.deepEqual(Object.keys(body), ['errors'])
    const options = { ordered: true }
    const first = await table.send({
      insertMany: { documents: [{}, { id: 'a' }], options },
    })
    assert.deepEqual(Object.keys(first.body), ['errors'])
    assert.deepEqual(await table.all(), [])
  })

  test('returns a response for each row with returnDocumentResponses, and lists equal errors once', async () => {
    const table = await tables.create(people)
    const send = async (documents: readonly object[], ordered: boolean) => {
      const options = { returnDocumentResponses: true, ordered }
      return (await table.send({ insertMany: { documents, options } })).body
    }
    const documents = [
      { id: 'a' },
      { zip: 1 },
      { id: 'b', age: 'x' },
      { zip: 2 },
      { id: 'c' },
    ]
    const responses = await send(documents, false)
    assert.deepEqual(responses.status, {
      primaryKeySchema: { id: { type: 'text' } },
      documentResponses: [
        { _id: ['a'], status: 'OK' },
        { _id: [], status: 'ERROR', errorsIdx: 0 },
        { _id: [], status: 'ERROR', errorsIdx: 1 },
        { _id: [], status: 'ERROR', errorsIdx: 0 },
        { _id: ['c'], status: 'OK' },
      ],
    })
    assert.equal(responses.errors!.length, 2)
    const inOrder = await send(documents, true)
    assert.deepEqual(inOrder.status!['documentResponses'], [
      { _id: ['a'], status: 'OK' },
      { _id: [], status: 'ERROR', errorsIdx: 0 },
      { _id: [], status: 'ERROR', errorsIdx: 1 },
      { _id: [], status: 'ERROR', errorsIdx: 0 },
      { _id: ['c'], status: 'SKIPPED' },
    ])
    const none = await send([{}], false)
    assert.deepEqual(Object.keys(none.status!), ['documentResponses'])
  })

  test('merges columns that concurrent requests write to the same row', async () => {
    const columns = Object.fromEntries(
      Array.from({ length: 30 }, (_, i) => [`c${i}`, 'int']),
    )
    const table = await tables.create({
      columns: { id: 'int', ...columns },
      primaryKey: 'id',
    })
    await Promise.all(
      Object.keys(columns).map((name, i) =>
        table.run({
          insertMany: {
            documents: [{ id: 1, [name]: i }, { id: 100 + i }, { id: 2, [name]: i }],
          },
        }),
      ),
    )
    const all = Object.fromEntries(Object.keys(columns).map((name, i) => [name, i]))
    for (const id of [1, 2]) {
      const { data } = await table.run({ findOne: { filter: { id } } })
      assert.deepEqual(data!.document, { id, ...all })
    }
    assert.equal((await table.all()).length, 32)
  })
})

describe('limits of rows', () => {
  const tables = new WrittenTables({ documentLengthMax: 200, lexicalSizeMax: 20 })

  test(
    'reject a row that is too long, even when it grows by a merge or an update',
    unlessOnCluster,
    async () => {
      const table = await tables.create(people)
      const tooLong = { id: 'a', name: 'x'.repeat(200) }
      await table.refuse({ insertOne: { document: tooLong } }, 'SHRED_DOC_LIMIT_VIOLATION')
      await table.insert({ id: 'a', name: 'x'.repeat(100) })
      const more = { id: 'a', tags: ['y'.repeat(100)] }
      const documents = [{ id: 'b' }, more, { id: 'a', age: 1 }, { id: 'c' }]
      const { body } = await table.send({ insertMany: { documents } })
      assert.deepEqual(body.status!['insertedIds'], [['b'], ['a'], ['c']])
      assert.deepEqual(
        body.errors!.map(({ errorCode }) => errorCode),
        ['SHRED_DOC_LIMIT_VIOLATION'],
      )
      const options = { ordered: true, returnDocumentResponses: true }
      const inOrder = await table.send({
        insertMany: { documents: [{ id: 'd' }, more, { id: 'e' }], options },
      })
      assert.deepEqual(inOrder.body.status!['documentResponses'], [
        { _id: ['d'], status: 'OK' },
        { _id: ['a'], status: 'ERROR', errorsIdx: 0 },
        { _id: ['e'], status: 'SKIPPED' },
      ])
      assert.deepEqual(
        (await table.all()).map(({ id }) => id),
        ['a', 'b', 'c', 'd'],
      )
      await table.refuse(
        {
          updateOne: { filter: { id: 'a' }, update: { $push: { tags: 'y'.repeat(100) } } },
        },
        'SHRED_DOC_LIMIT_VIOLATION',
      )
    },
  )

  test('include a maximum number of bytes in the terms of a text with a text index', async () => {
    const table = await tables.create(people)
    await table.run({
      createTextIndex: { name: 'names', definition: { column: 'name' } },
    })
    const name = 'abcdefghij abcdefghij'
    await table.insert({ id: 'a', name: name.slice(0, 20) })
    const error = await table.refuse(
      { insertOne: { document: { id: 'b', name: `${name} k` } } },
      'LEXICAL_CONTENT_TOO_LONG',
    )
    assert.match(error.message, /name\(text\) have more than 20 bytes/)
    await table.refuse(
      { updateOne: { filter: { id: 'a' }, update: { $set: { name: `${name} k` } } } },
      'LEXICAL_CONTENT_TOO_LONG',
    )
    await table.run({ updateOne: { filter: { id: 'a' }, update: { $set: { age: 1 } } } })
    const { data } = await table.run({
      find: { filter: { name: { $match: 'abcdefghij' } } },
    })
    assert.deepEqual(data!.documents, [{ id: 'a', age: 1, name: name.slice(0, 20) }])
  })
})

describe('vectors of rows', () => {
  const tables = new WrittenTables(
    {},
    {
      providers: {
        ...defaultProviderSettings,
        embeddingUrls: new Map([['openai', `${provider.url}/`]]),
        embeddingKeys: new Map([['openai', 'any']]),
      },
    },
  )

  const service = { provider: 'openai', modelName: 'text-embedding-3-small' }
  const vectors = {
    columns: {
      id: 'int',
      v: { type: 'vector', dimension: 2 },
      e: { type: 'vector', dimension: 2, service },
      f: { type: 'vector', dimension: 2, service },
    },
    primaryKey: 'id',
  }

  test('are sent as numbers or bytes and returned as numbers', async () => {
    const table = await tables.create(vectors)
    const bytes = Buffer.alloc(8)
    bytes.writeFloatBE(0.1, 0)
    bytes.writeFloatBE(-2, 4)
    await table.insert(
      { id: 1, v: [0.1, 2] },
      { id: 2, v: { $binary: bytes.toString('base64') } },
    )
    await table.insert({ id: 3, v: null, e: [0, 0] })
    assert.deepEqual(await table.all(), [
      { id: 1, v: [0.1, 2] },
      { id: 2, v: [0.1, -2] },
      { id: 3, e: [0, 0] },
    ])
    await table.insert({ id: 1, v: null }, { id: 2, e: [1, 1] })
    assert.deepEqual(await table.all(), [
      { id: 1 },
      { id: 2, e: [1, 1], v: [0.1, -2] },
      { id: 3, e: [0, 0] },
    ])
  })

  test('must have the length of their column and contain floats', async () => {
    const table = await tables.create(vectors)
    const bad = [[1], [1, 2, 3], [], [1, 'x'], [1, null], [1, 1e39], 5, true, { a: 1 }]
    const binary = ['AAAA', 'AAAAAAAA', '', '!'].map(($binary) => ({ $binary }))
    for (const v of [...bad, ...binary])
      await table.refuse({ insertOne: { document: { id: 1, v } } }, 'INVALID_COLUMN_VALUES')
    assert.deepEqual(await table.all(), [])
  })

  test('that an index cannot compare are rejected', async () => {
    const table = await tables.create(vectors)
    await table.run({ createVectorIndex: { name: 'v_index', definition: { column: 'v' } } })
    const zero = { insertOne: { document: { id: 1, v: [0, 0] } } }
    await table.refuse(zero, 'INVALID_COLUMN_VALUES')
    await table.refuse(
      { updateOne: { filter: { id: 1 }, update: { $set: { v: [0, 0] } } } },
      'INVALID_UPDATE_COLUMN_VALUES',
    )
    await table.insert({ id: 1, v: [0, 1], e: [0, 0] })
  })

  test('are computed from texts, with one provider call per column', async () => {
    const table = await tables.create(vectors)
    provider.answers(countLetters)
    await table.insert({ id: 1, e: 'aab', f: 'b' }, { id: 2, e: ' ' }, { id: 3, e: 'a' })
    const asked = provider.asked.map(({ body }) => (body as { input: string[] }).input)
    assert.deepEqual(asked.toSorted(), [['aab', 'a'], ['b']])
    assert.deepEqual(await table.all(), [
      { id: 1, e: letterVector('aab'), f: letterVector('b') },
      { id: 2 },
      { id: 3, e: letterVector('a') },
    ])
    await table.insert({ id: 1, e: '' })
    await table.run({ updateOne: { filter: { id: 1 }, update: { $set: { f: 'aaa' } } } })
    const { data } = await table.run({ findOne: { filter: { id: 1 } } })
    assert.deepEqual(data!.document, { id: 1, f: letterVector('aaa') })
  })

  test('make the whole command fail when the provider fails to compute them', async () => {
    const table = await tables.create(vectors)
    provider.answers({ status: 503, body: {} })
    const documents = [{ id: 1 }, { id: 2, e: 'a' }]
    for (const ordered of [false, true]) {
      const command = { insertMany: { documents, options: { ordered } } }
      const error = await table.refuse(command, 'EMBEDDING_PROVIDER_SERVER_ERROR')
      assert.equal(error.status, undefined)
    }
    await table.refuse(
      { updateOne: { filter: { id: 1 }, update: { $set: { e: 'a' } } } },
      'EMBEDDING_PROVIDER_SERVER_ERROR',
    )
    assert.deepEqual(await table.all(), [])
  })

  test('cannot be computed from texts without a service', async () => {
    const table = await tables.create(vectors)
    const error = await table.refuse(
      { insertOne: { document: { id: 1, v: 'text', e: 'a' } } },
      'UNSUPPORTED_VECTORIZE_WHEN_MISSING_VECTORIZE_DEFINITION',
    )
    assert.match(error.message, /v\(vector\).*e\(vector\), f\(vector\)/)
    assert.equal(error.scope, 'DOCUMENT')
    const updating = await table.refuse(
      { updateOne: { filter: { id: 1 }, update: { $set: { v: 'text' } } } },
      'UNSUPPORTED_VECTORIZE_WHEN_MISSING_VECTORIZE_DEFINITION',
    )
    assert.equal(updating.scope, 'UPDATE')
  })

  test('can be the primary key', async () => {
    const table = await tables.create({
      columns: { v: { type: 'vector', dimension: 2 }, n: 'int' },
      primaryKey: 'v',
    })
    const { status } = await table.run({ insertOne: { document: { v: [0.1, 2], n: 1 } } })
    assert.deepEqual(status!['insertedIds'], [[[0.1, 2]]])
    await table.insert({ v: [0.1, 2], n: 2 }, { v: [1, 2] })
    assert.equal((await table.all()).length, 2)
    await table.run({ deleteOne: { filter: { v: [0.1, 2] } } })
    assert.deepEqual(await table.all(), [{ v: [1, 2] }])
    await table.run({ deleteMany: { filter: { v: [1, 2] } } })
    assert.deepEqual(await table.all(), [])
  })
})
