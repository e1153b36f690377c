/** All kinds of indexes of tables. */
import assert from 'node:assert/strict'
import { beforeEach, describe, test } from 'node:test'
import { Table } from '@datastax/astra-db-ts'
import { refusal, Service } from './client.ts'

const service = await Service.start()
const db = service.connect()

const everyKind = Table.schema({
  columns: {
    id: 'text',
    name: 'text',
    plain: 'ascii',
    age: 'int',
    photo: 'blob',
    tags: { type: 'set', valueType: 'text' },
    days: { type: 'list', valueType: 'int' },
    notes: { type: 'map', keyType: 'text', valueType: 'text' },
    v: { type: 'vector', dimension: 2 },
    w: { type: 'vector', dimension: 2 },
  },
  primaryKey: 'id',
})

let table: Awaited<ReturnType<typeof create>>
let count = 0

function create() {
  return db.createTable(`t${++count}`, { definition: everyKind })
}

/** A name for an index of the current table: names of indexes are unique in a keyspace. */
function named(name: string): string {
  return `${table.name}_${name}`
}

async function indexes(): Promise<Record<string, unknown>> {
  const listed = await table.listIndexes()
  return Object.fromEntries(
    listed.map(({ name, ...rest }) => [name.slice(table.name.length + 1), rest]),
  )
}

beforeEach(async () => {
  table = await create()
})

describe('createIndex', () => {
  test('indexes scalar columns and lists the default options', async () => {
    await table.createIndex(named('name'), 'name')
    await table.createIndex(named('plain'), 'plain', {
      options: { ascii: true, normalize: true, caseSensitive: false },
    })
    await table.createIndex(named('age'), 'age')
    assert.deepEqual(await indexes(), {
      name: {
        definition: {
          column: 'name',
          options: { ascii: false, caseSensitive: true, normalize: false },
        },
        indexType: 'regular',
      },
      plain: {
        definition: {
          column: 'plain',
          options: { ascii: true, caseSensitive: false, normalize: true },
        },
        indexType: 'regular',
      },
      age: { definition: { column: 'age', options: {} }, indexType: 'regular' },
    })
  })

  test('indexes elements of lists, sets and maps', async () => {
    await table.createIndex(named('tags'), 'tags')
    await table.createIndex(named('days'), { days: '$values' })
    await table.createIndex(named('entries'), 'notes')
    await table.createIndex(named('keys'), { notes: '$keys' })
    await table.createIndex(named('values'), { notes: '$values' })
    const regular = (column: unknown) => {
      return { definition: { column, options: {} }, indexType: 'regular' }
    }
    assert.deepEqual(await indexes(), {
      tags: regular({ tags: '$values' }),
      days: regular({ days: '$values' }),
      entries: regular('notes'),
      keys: regular({ notes: '$keys' }),
      values: regular({ notes: '$values' }),
    })
  })

  test('includes existing rows', async () => {
    await table.insertMany([
      { id: 'a', name: 'Ann', tags: new Set(['x']) },
      { id: 'b', name: 'Bob', tags: new Set(['x', 'y']) },
    ])
    await table.createIndex(named('name'), 'name')
    await table.createIndex(named('tags'), 'tags')
    assert.equal((await table.findOne({ name: 'Bob' }))!.id, 'b')
    const tagged: object = { tags: { $in: ['y'] } }
    assert.equal((await table.findOne(tagged))!.id, 'b')
    await table.updateOne({ id: 'b' }, { $set: { name: 'Bea' } })
    assert.equal(await table.findOne({ name: 'Bob' }), null)
    assert.equal((await table.findOne({ name: 'Bea' }))!.id, 'b')
  })

  test('can match texts regardless of case and accents', async () => {
    await table.insertMany([
      { id: 'a', name: 'Éva' },
      { id: 'b', name: 'EVA' },
      { id: 'c', name: 'Ewa' },
    ])
    const ids = async (name: string) => {
      const found = await table.find({ name }).toArray()
      return found.map(({ id }) => id).toSorted()
    }
    assert.deepEqual(await ids('eva'), [])
    const options = { ascii: true, caseSensitive: false, normalize: true }
    await table.createIndex(named('name'), 'name', { options })
    assert.deepEqual(await ids('eva'), ['a', 'b'])
    await db.dropTableIndex(named('name'))
    assert.deepEqual(await ids('EVA'), ['b'])
  })

  test('rejects an existing name in the keyspace, unless ifNotExists is set', async () => {
    const other = await create()
    await table.createIndex(named('age'), 'age')
    const error = await refusal(other.createIndex(named('age'), 'age'))
    assert.equal(error.errorCode, 'CANNOT_ADD_EXISTING_INDEX')
    await other.createIndex(named('age'), 'age', { ifNotExists: true })
    assert.deepEqual(await other.listIndexes({ nameOnly: true }), [])
  })

  for (const [why, column, options, code] of [
    ['a column that does not exist', 'absent', {}, 'UNKNOWN_INDEX_COLUMN'],
    ['a vector', 'v', {}, 'UNSUPPORTED_INDEXING_FOR_DATA_TYPES'],
    [
      'the keys of a number',
      { age: '$keys' },
      {},
      'INVALID_FORMAT_FOR_INDEX_CREATION_COLUMN',
    ],
    [
      'a number as text',
      'age',
      { ascii: true },
      'UNSUPPORTED_TEXT_ANALYSIS_FOR_DATA_TYPES',
    ],
    [
      'entries of a map as text',
      'notes',
      { normalize: true },
      'CANNOT_ANALYZE_ENTRIES_ON_MAP_COLUMNS',
    ],
    ['bytes', 'photo', {}, 'UNSUPPORTED_INDEXING_FOR_DATA_TYPES'],
  ] as const)
    test(`refuses to index ${why}`, async () => {
      const attempt = table.createIndex(named('any'), column as never, { options })
      assert.equal((await refusal(attempt)).errorCode, code)
      assert.deepEqual(await table.listIndexes(), [])
    })
})

describe('createVectorIndex', () => {
  test('indexes vectors by a metric', async () => {
    await table.createVectorIndex(named('v'), 'v')
    await table.createVectorIndex(named('w'), 'w', { options: { metric: 'euclidean' } })
    assert.deepEqual(await indexes(), {
      v: {
        definition: { column: 'v', options: { metric: 'cosine', sourceModel: 'other' } },
        indexType: 'vector',
      },
      w: {
        definition: { column: 'w', options: { metric: 'euclidean', sourceModel: 'other' } },
        indexType: 'vector',
      },
    })
  })

  test('derives the metric from the model', async () => {
    const options = { sourceModel: 'openai-v3-small' }
    await table.createVectorIndex(named('v'), 'v', { options })
    assert.deepEqual((await indexes())['v'], {
      definition: {
        column: 'v',
        options: { metric: 'dot_product', sourceModel: 'openai-v3-small' },
      },
      indexType: 'vector',
    })
  })

  for (const [why, column, options, code] of [
    ['a text', 'name', {}, 'UNSUPPORTED_VECTOR_INDEX_FOR_DATA_TYPES'],
    ['by an unknown metric', 'v', { metric: 'manhattan' }, 'UNKNOWN_VECTOR_METRIC'],
    ['for an unknown model', 'v', { sourceModel: 'mine' }, 'UNKNOWN_VECTOR_SOURCE_MODEL'],
  ] as const)
    test(`refuses to index ${why}`, async () => {
      const given: object = { options }
      const attempt = table.createVectorIndex(named('any'), column, given)
      assert.equal((await refusal(attempt)).errorCode, code)
    })
})

describe('createTextIndex', () => {
  const analyzer = {
    tokenizer: { name: 'whitespace' },
    filters: [{ name: 'lowercase' }],
  }

  test('indexes the words of a text', async () => {
    await table.createTextIndex(named('name'), 'name')
    await table.createTextIndex(named('plain'), 'plain', { options: { analyzer } })
    assert.deepEqual(await indexes(), {
      name: {
        definition: { column: 'name', options: { analyzer: 'standard' } },
        indexType: 'text',
      },
      plain: { definition: { column: 'plain', options: { analyzer } }, indexType: 'text' },
    })
  })

  test('rejects a number column', async () => {
    const error = await refusal(table.createTextIndex(named('age'), 'age'))
    assert.equal(error.errorCode, 'UNSUPPORTED_TEXT_INDEX_FOR_DATA_TYPES')
  })

  test('does nothing for an existing name with ifNotExists', async () => {
    await table.createTextIndex(named('name'), 'name')
    await table.createTextIndex(named('name'), 'name', { ifNotExists: true })
    await table.createVectorIndex(named('name'), 'v', { ifNotExists: true })
    assert.deepEqual(await table.listIndexes({ nameOnly: true }), [named('name')])
  })
})

describe('dropTableIndex', () => {
  test('drops indexes of every kind, by name', async () => {
    await table.createIndex(named('age'), 'age')
    await table.createVectorIndex(named('v'), 'v')
    await table.createTextIndex(named('name'), 'name')
    const names = await table.listIndexes({ nameOnly: true })
    assert.deepEqual(names.toSorted(), [named('age'), named('name'), named('v')])
    for (const name of names) await db.dropTableIndex(name)
    assert.deepEqual(await table.listIndexes({ nameOnly: true }), [])
  })

  test('rejects an unknown index, unless ifExists is set', async () => {
    const error = await refusal(db.dropTableIndex('absent'))
    assert.equal(error.errorCode, 'CANNOT_DROP_UNKNOWN_INDEX')
    await db.dropTableIndex('absent', { ifExists: true })
  })
})
