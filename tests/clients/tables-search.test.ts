/** Searching rows by vectors, by words, and by embedded texts. */
import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { DataAPIVector, Table, vector, type SomeRow } from '@datastax/astra-db-ts'
import { LetterModels, letterVector } from '../commands/letter-models.ts'
import { refusal, Service } from './client.ts'

const models = await LetterModels.start()
after(() => models.close())

const service = await Service.start({ providers: models.settings })
const db = service.connect()

let count = 0

function idsOf(rows: readonly SomeRow[]): unknown[] {
  return rows.map((row) => row['id'] as unknown)
}

describe('a vector search', () => {
  const places = Table.schema({
    columns: {
      id: 'text',
      n: 'int',
      v: { type: 'vector', dimension: 2 },
      w: { type: 'vector', dimension: 3 },
    },
    primaryKey: 'id',
  })

  const rows = [
    { id: 'east', n: 1, v: vector([1, 0]), w: vector([0, 0, 1]) },
    { id: 'north-east', n: 2, v: vector([0.5, 0.5]), w: vector([0, 1, 0]) },
    { id: 'north', n: 1, v: vector([0, 0.25]) },
    { id: 'nowhere', n: 1 },
  ]

  async function create(metric?: 'cosine' | 'euclidean' | 'dot_product') {
    const table = await db.createTable(`places${++count}`, { definition: places })
    const options = metric === undefined ? {} : { options: { metric } }
    await table.createVectorIndex(`${table.name}_v`, 'v', options)
    await table.insertMany(rows)
    return table
  }

  for (const [metric, expected] of [
    ['cosine', { east: 1, 'north-east': 0.853553, north: 0.5 }],
    ['euclidean', { east: 1, 'north-east': 1 / 1.5, north: 1 / 2.0625 }],
    ['dot_product', { east: 1, 'north-east': 0.75, north: 0.5 }],
  ] as const)
    test(`returns the nearest rows by ${metric} first, with their similarity`, async () => {
      const table = await create(metric)
      const sort = { v: vector([1, 0]) }
      const found = await table.find({}, { sort, includeSimilarity: true }).toArray()
      assert.deepEqual(idsOf(found), Object.keys(expected))
      for (const [i, similarity] of Object.values(expected).entries())
        assert(Math.abs(found[i]!.$similarity! - similarity) < 1e-5)
      const without = await table.find({}, { sort: { v: [1, 0] } }).toArray()
      assert.deepEqual(idsOf(without), idsOf(found))
      assert.equal('$similarity' in without[0]!, false)
    })

  test('searches only rows that match the filter', async () => {
    const table = await create()
    const sort = { v: vector([1, 0]) }
    const found = await table.find({ n: 1 }, { sort }).toArray()
    assert.deepEqual(idsOf(found), ['east', 'north'])
    assert.equal((await table.findOne({ id: { $ne: 'east' } }, { sort }))!.id, 'north-east')
    assert.deepEqual(idsOf(await table.find({}, { sort, limit: 2 }).toArray()), [
      'east',
      'north-east',
    ])
  })

  test('returns the sort vector', async () => {
    const table = await create()
    const cursor = table
      .find({})
      .sort({ v: vector([0.1, 0.2]) })
      .includeSortVector()
    assert.deepEqual((await cursor.getSortVector())!.asArray(), [0.1, 0.2])
    assert.equal((await cursor.toArray()).length, 3)
    assert.equal(await table.find({}, { sort: { n: 1 } }).getSortVector(), null)
  })

  test('returns vectors unless the projection excludes them', async () => {
    const table = await create()
    const sort = { v: vector([0, 1]) }
    const whole = (await table.findOne({}, { sort, includeSimilarity: true }))!
    assert.equal(whole.$similarity, 1)
    assert(whole.v instanceof DataAPIVector)
    assert.deepEqual(whole.v.asArray(), [0, 0.25])
    const cursor = table.find({}).sort(sort).limit(1).project({ id: 1 }).includeSimilarity()
    assert.deepEqual(await cursor.toArray(), [{ id: 'north', $similarity: 1 }])
  })

  test('compares the vector column that the sort names', async () => {
    const table = await create()
    await table.createVectorIndex(`${table.name}_w`, 'w')
    const find = (sort: Record<string, number[]>) => table.find({}, { sort }).toArray()
    assert.deepEqual(idsOf(await find({ w: [0, 1, 0.1] })), ['north-east', 'east'])
    assert.deepEqual(idsOf(await find({ v: [0, 1] })), ['north', 'north-east', 'east'])
    const both = await refusal(find({ v: [0, 1], w: [0, 1, 0] }))
    assert.equal(both.errorCode, 'CANNOT_SORT_ON_SPECIAL_WITH_OTHERS')
  })

  test('reflects updates, inserts and deletions of rows', async () => {
    const table = await create()
    const nearest = async () => {
      return idsOf(await table.find({}, { sort: { v: [1, 0] } }).toArray())
    }
    await table.updateOne({ id: 'nowhere' }, { $set: { v: vector([1, 0.1]) } })
    assert.deepEqual(await nearest(), ['east', 'nowhere', 'north-east', 'north'])
    await table.updateOne({ id: 'east' }, { $unset: { v: '' } })
    await table.insertOne({ id: 'north', v: vector([2, 0]) })
    await table.deleteOne({ id: 'north-east' })
    assert.deepEqual(await nearest(), ['north', 'nowhere'])
    await table.deleteMany({})
    assert.deepEqual(await nearest(), [])
  })

  test('returns up to a thousand rows on one page', async () => {
    const table = await db.createTable(`many${++count}`, { definition: places })
    await table.createVectorIndex(`${table.name}_v`, 'v')
    const many = Array.from({ length: 300 }, (_, n) => {
      return { id: `${n}`, n, v: vector([Math.cos(n / 200), Math.sin(n / 200)]) }
    })
    await table.insertMany(many, { chunkSize: 100 })
    const sort = { v: vector([1, 0]) }
    const all = await table.find({}, { sort, projection: { n: 1 } }).toArray()
    assert.deepEqual(
      all.map(({ n }) => n),
      many.map(({ n }) => n),
    )
    const cursor = table.find({}, { sort, limit: 60 })
    const { result, nextPageState } = await cursor.fetchNextPage()
    assert.equal(result.length, 60)
    assert.equal(nextPageState, null)
  })

  for (const [why, sort, options, code] of [
    [
      'without an index',
      { w: [1, 2, 3] },
      {},
      'CANNOT_VECTOR_SORT_NON_INDEXED_VECTOR_COLUMNS',
    ],
    [
      'with a vector of another length',
      { v: [1, 2, 3] },
      {},
      'CANNOT_VECTOR_SORT_ON_MISMATCHED_VECTOR_DIMENSIONS',
    ],
    [
      'with a limit above a thousand',
      { v: [1, 2] },
      { limit: 1001 },
      'CANNOT_VECTOR_SORT_WITH_LIMIT_EXCEEDS_MAX',
    ],
    ['with a skip', { v: [1, 2] }, { skip: 1 }, 'CANNOT_VECTOR_SORT_WITH_SKIP_OPTION'],
    ['on a number column', { n: [1, 2] }, {}, 'CANNOT_VECTOR_SORT_NON_VECTOR_COLUMNS'],
    [
      'with a text and no embedding service',
      { v: 'text' },
      {},
      'CANNOT_VECTORIZE_SORT_WHEN_MISSING_VECTORIZE_DEFINITION',
    ],
    ['with a sort direction', { v: 1 }, {}, 'INVALID_VECTOR_SORT_EXPRESSION'],
  ] as const)
    test(`is rejected ${why}`, async () => {
      const table = await create()
      const given: object = { sort, ...options }
      const error = await refusal(table.find({}, given).toArray())
      assert.equal(error.errorCode, code)
      assert.equal(error.scope, 'SORT')
    })
})

describe('a lexical search', () => {
  const notes = Table.schema({
    columns: { id: 'int', body: 'text', title: 'text' },
    primaryKey: 'id',
  })

  const rows = [
    { id: 1, body: 'monkey', title: 'A' },
    { id: 2, body: 'monkey bread is so tasty', title: 'B' },
    { id: 3, body: 'monkey monkey monkey', title: 'A' },
    { id: 4, body: 'tree', title: 'A' },
    { id: 5, title: 'C' },
  ]

  async function create(analyzer?: string | Record<string, unknown>) {
    const table = await db.createTable(`notes${++count}`, { definition: notes })
    const options = analyzer === undefined ? {} : { options: { analyzer } }
    await table.createTextIndex(`${table.name}_body`, 'body', options)
    await table.insertMany(rows)
    return table
  }

  test('returns the most relevant rows first', async () => {
    const table = await create()
    const find = (body: string) => table.find({}, { sort: { body } }).toArray()
    assert.deepEqual(idsOf(await find('monkey')), [3, 1, 2])
    assert.deepEqual(idsOf(await find('Tasty MONKEY')), [2, 3, 1])
    assert.deepEqual(await find('absent'), [])
    const one = await table.findOne({ title: 'B' }, { sort: { body: 'monkey' } })
    assert.equal(one!.id, 2)
  })

  test('filters by terms', async () => {
    const table = await create()
    const find = async (filter: object) => {
      const found = await table.find(filter).toArray()
      return found.map(({ id }) => id).toSorted((a, b) => a - b)
    }
    assert.deepEqual(await find({ body: { $match: 'monkey' } }), [1, 2, 3])
    assert.deepEqual(await find({ body: { $match: 'Monkey tasty' } }), [2])
    assert.deepEqual(await find({ body: { $match: 'monkey' }, title: 'A' }), [1, 3])
    const either = { $or: [{ body: { $match: 'tree' } }, { title: 'C' }] }
    assert.deepEqual(await find(either), [4, 5])
    assert.deepEqual(await find({ body: 'monkey' }), [1])
  })

  test('uses the analyzer of its index', async () => {
    const english = await create('english')
    const sort = { body: 'monkeys' }
    assert.equal((await english.find({}, { sort }).toArray()).length, 3)
    const exact = await create({ tokenizer: { name: 'keyword' } })
    assert.deepEqual(
      idsOf(await exact.find({}, { sort: { body: 'monkey' } }).toArray()),
      [1],
    )
    assert.deepEqual(await exact.find({}, { sort }).toArray(), [])
  })

  test('returns all rows page by page, or up to the limit', async () => {
    const table = await create()
    const many = Array.from({ length: 130 }, (_, n) => ({ id: n + 10, body: 'leaf' }))
    await table.insertMany(many)
    const find = () => table.find({}).sort({ body: 'leaf' })
    const ids = many.map(({ id }) => id)
    assert.deepEqual(idsOf(await find().toArray()), ids)
    for (const limit of [1, 30, 120, 1000])
      assert.deepEqual(idsOf(await find().limit(limit).toArray()), ids.slice(0, limit))
    const page = await find().fetchNextPage()
    assert.equal(page.result.length, 20)
    const next = await find().initialPageState(page.nextPageState!).fetchNextPage()
    assert.deepEqual(idsOf(next.result), ids.slice(20, 40))
  })

  test('reflects updates and deletions of rows', async () => {
    const table = await create()
    await table.updateOne({ id: 4 }, { $set: { body: 'a monkey in a tree' } })
    await table.updateOne({ id: 2 }, { $unset: { body: '' } })
    await table.deleteOne({ id: 3 })
    const found = await table.find({}, { sort: { body: 'monkey' } }).toArray()
    assert.deepEqual(idsOf(found), [1, 4])
  })

  test('requires a text index and rejects skip', async () => {
    const table = await create()
    for (const [options, code] of [
      [{ sort: { title: 'a' } }, 'CANNOT_LEXICAL_SORT_NON_INDEXED_COLUMNS'],
      [{ sort: { body: 'a' }, skip: 1 }, 'CANNOT_LEXICAL_SORT_WITH_SKIP_OPTION'],
      [{ sort: { body: 'a', id: 1 as const } }, 'CANNOT_SORT_ON_SPECIAL_WITH_OTHERS'],
    ] as const) {
      const given: object = options
      assert.equal((await refusal(table.find({}, given).toArray())).errorCode, code)
    }
  })
})

describe('texts that a service embeds', () => {
  const embedding = { provider: 'openai', modelName: 'text-embedding-3-small' } as const

  async function create() {
    const table = await db.createTable(`texts${++count}`, {
      definition: {
        columns: { id: 'text', v: { type: 'vector', dimension: 2, service: embedding } },
        primaryKey: 'id',
      },
    })
    await table.createVectorIndex(`${table.name}_v`, 'v')
    return table
  }

  test('are stored as vectors', async () => {
    const table = await create()
    await table.insertOne({ id: 'one', v: 'aab' })
    await table.insertMany([
      { id: 'two', v: 'bbb' },
      { id: 'three', v: vector([0.5, 0.25]) },
      { id: 'none', v: '' },
    ])
    await table.updateOne({ id: 'four' }, { $set: { v: 'aaa' } })
    for (const [id, expected] of [
      ['one', letterVector('aab')],
      ['two', letterVector('bbb')],
      ['three', [0.5, 0.25]],
      ['four', letterVector('aaa')],
    ] as const) {
      const { v } = (await table.findOne({ id }))!
      assert.deepEqual((v as unknown as DataAPIVector).asArray(), expected)
    }
    assert.equal((await table.findOne({ id: 'none' }))!.v, null)
  })

  test('are found by a search for a similar text', async () => {
    const table = await create()
    await table.insertMany([
      { id: 'a', v: 'aaaa' },
      { id: 'b', v: 'bbbb' },
      { id: 'both', v: 'abab' },
    ])
    const find = (v: string) => table.find({}, { sort: { v } }).toArray()
    assert.deepEqual(idsOf(await find('aaaaa')), ['a', 'both', 'b'])
    assert.deepEqual(idsOf(await find('b b b')), ['b', 'both', 'a'])
    assert.equal((await table.findOne({}, { sort: { v: 'ab' } }))!.id, 'both')
  })

  test('are also embedded in a column to which the service was added later', async () => {
    const table = await db.createTable(`later${++count}`, {
      definition: {
        columns: { id: 'text', v: { type: 'vector', dimension: 2 } },
        primaryKey: 'id',
      },
    })
    const later = await table.alter<{ id: string; v: DataAPIVector | string }>({
      operation: { addVectorize: { columns: { v: embedding } } },
    })
    await later.insertOne({ id: 'x', v: 'ab' })
    const { v } = (await later.findOne({ id: 'x' }))!
    assert.deepEqual(v.asArray(), letterVector('ab'))
  })
})
