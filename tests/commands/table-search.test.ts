/** Searching rows by vector, by text through an embedding service, and by terms. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Target } from './collections.ts'
import { LetterModels } from './letter-models.ts'
import { WrittenTables } from './written-tables.ts'

const models = await LetterModels.start()
after(() => models.close())

const tables = new WrittenTables({}, { providers: models.settings })

const vector = { type: 'vector', dimension: 2 }
const service = { provider: 'openai', modelName: 'text-embedding-3-small' }

let count = 0
async function index(table: Target, kind: string, column: string, options: object = {}) {
  const name = `search_${++count}`
  await table.run({ [`create${kind}Index`]: { name, definition: { column, options } } })
}

const ids = (rows: readonly Record<string, unknown>[] | undefined) =>
  rows!.map(({ id }) => id).join('')

async function idsOf(table: Target, find: object): Promise<string> {
  const { data } = await table.run({ find })
  assert.equal(data!.nextPageState, null)
  return ids(data!.documents)
}

/** A vector in Base64: big-endian floats. */
function binary(...numbers: number[]): object {
  const bytes = Buffer.alloc(numbers.length * 4)
  for (const [i, number] of numbers.entries()) bytes.writeFloatBE(number, i * 4)
  return { $binary: bytes.toString('base64') }
}

describe('a sort by a vector column', () => {
  let table: Target
  before(async () => {
    table = await tables.create(
      {
        columns: { id: 'text', n: 'int', v: vector, e: vector, d: vector, none: vector },
        primaryKey: 'id',
      },
      [
        { id: 'a', n: 1, v: [1, 0], e: [1, 0], d: [1, 0] },
        { id: 'b', n: 2, v: [1, 1], e: [4, 4], d: [4, 4] },
        { id: 'c', n: 3, v: [0, 1], e: [0, 1], d: [0, 0.5] },
        { id: 'd', n: 4 },
      ],
    )
    await index(table, 'Vector', 'v')
    await index(table, 'Vector', 'e', { metric: 'euclidean' })
    await index(table, 'Vector', 'd', { metric: 'dot_product' })
  })

  test('returns the nearest rows first and omits rows without a vector', async () => {
    const find = async (sort: object, clauses: object = {}) =>
      ids((await table.run({ find: { sort, ...clauses } })).data!.documents)
    assert.equal(await find({ v: [1, 0.1] }), 'abc')
    assert.equal(await find({ v: binary(0, 1) }), 'cba')
    assert.equal(await find({ e: [0.1, 0] }), 'acb')
    assert.equal(await find({ d: [1, 0] }), 'bac')
    assert.equal(await find({ v: [1, 0] }, { options: { limit: 2 } }), 'ab')
    assert.equal(await find({ v: [1, 0] }, { filter: { n: { $gt: 1 } } }), 'bc')
    assert.equal(await find({ v: [1, 0] }, { filter: { id: 'c' } }), 'c')
    assert.equal(await find({ v: [1, 0] }, { filter: { id: 'd' } }), '')
    const { data } = await table.run({ findOne: { sort: { v: [0, 1] } } })
    assert.equal(data!.document!['id'], 'c')
  })

  test('returns one page, without warnings', async () => {
    const { data, status } = await table.run({ find: { sort: { v: [1, 0] } } })
    assert.equal(data!.nextPageState, null)
    assert.deepEqual(Object.keys(status!), ['projectionSchema'])
    const many = await tables.create(
      { columns: { id: 'int', v: vector }, primaryKey: 'id' },
      Array.from({ length: 30 }, (_, id) => ({ id, v: [1, id] })),
    )
    await index(many, 'Vector', 'v')
    const found = await many.run({ find: { sort: { v: [1, 0] }, projection: { id: 1 } } })
    assert.deepEqual(
      found.data!.documents,
      Array.from({ length: 30 }, (_, id) => ({ id })),
    )
  })

  test('returns similarities with includeSimilarity, and the sort vector with includeSortVector', async () => {
    const options = { includeSimilarity: true, includeSortVector: true }
    for (const [column, similarities] of [
      ['v', { a: 1, b: 0.8535534, c: 0.5 }],
      ['e', { a: 1, b: 0.03846154, c: 0.33333334 }],
      ['d', { a: 1, b: 2.5, c: 0.5 }],
    ] as const) {
      const sort = { [column]: [1, 0] }
      const { data, status } = await table.run({
        find: { sort, options, projection: { id: 1 } },
      })
      assert.deepEqual(
        Object.fromEntries(data!.documents!.map((row) => [row['id'], row['$similarity']])),
        similarities,
      )
      assert.deepEqual(Object.keys(data!.documents![0]!), ['id', '$similarity'])
      assert.deepEqual(status!['projectionSchema'], { id: { type: 'text' } })
      assert.deepEqual(status!['sortVector'], [1, 0])
    }
    const one = await table.run({ findOne: { sort: { v: binary(0.1, 0) }, options } })
    assert.equal(one.data!.document!['$similarity'], 1)
    assert.deepEqual(one.data!.document!['v'], [1, 0])
    assert.deepEqual(one.status!['sortVector'], [0.1, 0])
  })

  test('ignores includeSimilarity and includeSortVector without a vector sort', async () => {
    const options = { includeSimilarity: true, includeSortVector: true }
    const { data, status } = await table.run({
      find: { filter: { id: 'a' }, projection: { id: 1 }, options },
    })
    assert.deepEqual(data!.documents, [{ id: 'a' }])
    assert.equal(status!['sortVector'], undefined)
  })

  test('returns the similarity of rows whose vector is part of their key', async () => {
    const keyed = await tables.create(
      {
        columns: { id: 'text', v: vector },
        primaryKey: { partitionBy: ['id'], partitionSort: { v: 1 } },
      },
      [{ id: 'a', v: [0.1, 0.2] }],
    )
    await index(keyed, 'Vector', 'v')
    const { data } = await keyed.run({
      find: { sort: { v: [1, 2] }, options: { includeSimilarity: true } },
    })
    assert.deepEqual(data!.documents, [{ id: 'a', v: [0.1, 0.2], $similarity: 1 }])
  })

  test('is rejected with the first error in a fixed order of checks', async () => {
    for (const [find, code, message] of [
      [
        { sort: { none: [1] }, options: { limit: 1001, skip: 1 } },
        'CANNOT_VECTOR_SORT_WITH_LIMIT_EXCEEDS_MAX',
        /1001.*none\(vector\).*1000/,
      ],
      [
        { sort: { none: [1] }, options: { limit: 1000, skip: 1 } },
        'CANNOT_VECTOR_SORT_WITH_SKIP_OPTION',
        /none/,
      ],
      [
        { sort: { none: [1] }, options: { skip: 0 } },
        'CANNOT_VECTOR_SORT_NON_INDEXED_VECTOR_COLUMNS',
        /none\(vector\).*v\(vector\), e\(vector\), d\(vector\)/,
      ],
      [{ sort: { none: 'x' } }, 'CANNOT_VECTOR_SORT_NON_INDEXED_VECTOR_COLUMNS', /none/],
      [
        { sort: { v: [1] } },
        'CANNOT_VECTOR_SORT_ON_MISMATCHED_VECTOR_DIMENSIONS',
        /v\(vector\).*2.*1/,
      ],
      [
        { sort: { v: binary(1, 2, 3) } },
        'CANNOT_VECTOR_SORT_ON_MISMATCHED_VECTOR_DIMENSIONS',
        /3/,
      ],
      [
        { sort: { v: 'x' } },
        'CANNOT_VECTORIZE_SORT_WHEN_MISSING_VECTORIZE_DEFINITION',
        /v\(vector\).*\[None\]/,
      ],
      [{ sort: { v: [] } }, 'SHRED_BAD_VECTOR_SIZE', /v\(vector\)/],
      [
        { sort: { v: [1, 'x'] } },
        'SHRED_BAD_VECTOR_VALUE',
        /v\(vector\) is invalid: element 1 is "x"/,
      ],
      [{ sort: { v: [0, 0] } }, 'SORT_CLAUSE_VALUE_INVALID', /cosine/],
      [{ sort: { e: [1e30, 0] } }, 'SORT_CLAUSE_VALUE_INVALID', /finite/],
      [
        { sort: { v: [1, 0] }, options: { pageState: 'abc' } },
        'SORT_CLAUSE_INVALID',
        /pageState/,
      ],
    ] as const) {
      const { message: told } = await table.refuse({ find }, code)
      assert.match(told, message)
    }
  })
})

describe('a sort by a text for a vector column', () => {
  let table: Target
  before(async () => {
    const columns = { id: 'text', n: 'int', v: { ...vector, service }, plain: vector }
    table = await tables.create({ columns, primaryKey: 'id' }, [
      { id: 'a', n: 1, v: 'aaab' },
      { id: 'b', n: 2, v: 'bbba' },
      { id: 'c', n: 3 },
    ])
    await index(table, 'Vector', 'v')
    await index(table, 'Vector', 'plain')
  })

  test('finds the rows nearest to the vector that the service computes', async () => {
    models.forget()
    const options = { includeSimilarity: true, includeSortVector: true }
    const { data, status } = await table.run({ find: { sort: { v: 'bb' }, options } })
    assert.equal(ids(data!.documents), 'ba')
    assert.deepEqual(models.texts, ['bb'])
    assert.equal(typeof data!.documents![0]!['$similarity'], 'number')
    assert.equal((status!['sortVector'] as unknown[]).length, 2)
    const one = await table.run({ findOne: { sort: { v: 'aa' }, filter: { n: 2 } } })
    assert.equal(one.data!.document!['id'], 'b')
  })

  test('does not call the provider when the command is rejected', async () => {
    models.forget()
    await table.refuse(
      { find: { sort: { v: 'a' }, filter: { zip: 1 } } },
      'UNKNOWN_TABLE_COLUMNS',
    )
    const { message } = await table.refuse(
      { find: { sort: { plain: 'a' } } },
      'CANNOT_VECTORIZE_SORT_WHEN_MISSING_VECTORIZE_DEFINITION',
    )
    assert.match(message, /plain\(vector\).*v\(vector\)/)
    assert.deepEqual(models.texts, [])
  })
})

describe('minSimilarity on a table', () => {
  let table: Target

  before(async () => {
    const columns = {
      id: 'text',
      n: 'int',
      v: vector,
      t: { ...vector, service },
      note: 'text',
    }
    table = await tables.create({ columns, primaryKey: 'id' }, [
      { id: 'a', n: 1, v: [1, 0], t: 'aaab', note: 'word' },
      { id: 'b', n: 2, v: [1, 1], t: 'bbba' },
      { id: 'c', n: 3, v: [0, 1] },
      { id: 'd', n: 4 },
    ])
    await index(table, 'Vector', 'v')
    await index(table, 'Vector', 't')
    await index(table, 'Text', 'note')
  })

  test('omits rows that are less similar', async () => {
    const sort = { v: [1, 0] }
    for (const [minSimilarity, filter, expected] of [
      [0, {}, 'abc'],
      [0.8, {}, 'ab'],
      [0.8, { n: { $gt: 1 } }, 'b'],
      [0.8, { id: 'c' }, ''],
      [0.8535534, {}, 'ab'],
      [0.85355341, {}, 'a'],
    ] as const) {
      const find = { sort, filter, options: { minSimilarity } }
      assert.equal(await idsOf(table, find), expected)
    }
    const options = { minSimilarity: 0.9, includeSortVector: true }
    const one = await table.run({ findOne: { sort, filter: { n: 2 }, options } })
    assert.equal(one.data!.document, null)
    assert.deepEqual(one.status!['sortVector'], [1, 0])
  })

  test('applies to a sort by a text', async () => {
    const sort = { t: 'aa' }
    const { data } = await table.run({
      find: { sort, options: { includeSimilarity: true } },
    })
    const [nearest] = data!.documents!
    const options = { minSimilarity: nearest!['$similarity'] }
    assert.equal(await idsOf(table, { sort, options }), 'a')
  })

  test('is rejected without a sort by a vector, and if it is not a number from 0 to 1', async () => {
    for (const command of ['find', 'findOne']) {
      const code = 'COMMAND_FIELD_VALUE_INVALID'
      for (const sort of [undefined, { n: 1 }, { note: 'word' }])
        await table.refuse({ [command]: { sort, options: { minSimilarity: 0.5 } } }, code)
      const sort = { v: [1, 0] }
      for (const minSimilarity of [-0.1, 1.1, null])
        await table.refuse({ [command]: { sort, options: { minSimilarity } } }, code)
    }
  })
})

describe('diversity on a table', () => {
  const euclidean = { metric: 'euclidean' }
  /** Similarities to [0, 0]: 0.5 for a, b and c, 0.2 for d and e. */
  const rows = [
    { id: 'a', n: 1, v: [1, 0] },
    { id: 'b', n: 2, v: [1, 0] },
    { id: 'c', n: 1, v: [-1, 0] },
    { id: 'd', n: 2, v: [2, 0] },
    { id: 'e', n: 1, v: [-2, 0] },
    { id: 'f', n: 2 },
  ]
  let table: Target

  before(async () => {
    const columns = { id: 'text', n: 'int', v: vector }
    table = await tables.create({ columns, primaryKey: 'id' }, rows)
    await index(table, 'Vector', 'v', euclidean)
  })

  test('prefers rows that differ from the rows ranked before them', async () => {
    const sort = { v: [0, 0] }
    for (const [options, filter, expected] of [
      [{ diversity: 0 }, {}, 'abcde'],
      [{ diversity: 0.5 }, {}, 'acdeb'],
      [{ diversity: 0.5, limit: 3 }, {}, 'acd'],
      [{ diversity: 1 }, {}, 'aecdb'],
      [{ diversity: 0.5, minSimilarity: 0.3 }, {}, 'acb'],
      [{ diversity: 0.5 }, { n: 1 }, 'ace'],
      [{ diversity: 0.5 }, { id: 'd' }, 'd'],
    ] as const)
      assert.equal(await idsOf(table, { sort, filter, options }), expected)
    const options = { diversity: 1 }
    const { data } = await table.run({ findOne: { sort, options } })
    assert.equal(data!.document!['id'], 'a')
  })

  test('returns no vectors unless the projection includes them', async () => {
    const find = { sort: { v: [0, 0] }, options: { diversity: 1, limit: 2 } }
    const { data, status } = await table.run({ find: { ...find, projection: { n: 1 } } })
    assert.deepEqual(data!.documents, [{ n: 1 }, { n: 1 }])
    assert.deepEqual(Object.keys(status!['projectionSchema'] as object), ['n'])
    const whole = await table.run({ find })
    assert.deepEqual(whole.data!.documents, [rows[0], rows[4]])
  })

  test('compares vectors that are part of the key', async () => {
    const keyed = await tables.create(
      {
        columns: { id: 'text', v: vector, note: 'text' },
        primaryKey: { partitionBy: ['id'], partitionSort: { v: 1 } },
      },
      [
        { id: 'a', v: [1, 0], note: 'x'.repeat(5000) },
        { id: 'b', v: [1, 0.1] },
        { id: 'c', v: [-1, 0.5] },
      ],
    )
    await index(keyed, 'Vector', 'v', euclidean)
    const sort = { v: [0, 0] }
    for (const projection of [undefined, { id: 1 }]) {
      const find = { sort, projection, options: { diversity: 1, limit: 2 } }
      assert.equal(await idsOf(keyed, find), 'ac')
    }
  })

  test('is rejected without a sort by a vector, and if it is not a number from 0 to 1', async () => {
    const code = 'COMMAND_FIELD_VALUE_INVALID'
    for (const sort of [undefined, { n: 1 }])
      await table.refuse({ find: { sort, options: { diversity: 0.5 } } }, code)
    for (const diversity of [-0.1, 1.1, null])
      await table.refuse({ find: { sort: { v: [0, 0] }, options: { diversity } } }, code)
  })
})

describe('a sort by terms', () => {
  let table: Target
  before(async () => {
    table = await tables.create(
      { columns: { id: 'text', n: 'int', note: 'text', code: 'ascii' }, primaryKey: 'id' },
      [
        {
          id: 'a',
          n: 1,
          note: 'red apples and green apples in a very long text',
          code: 'x',
        },
        { id: 'b', n: 2, note: 'Red apples' },
        { id: 'c', n: 3, note: 'green pears' },
        { id: 'd', n: 4 },
      ],
    )
    await index(table, 'Text', 'note')
    await table.run({ createIndex: { name: 'codes', definition: { column: 'code' } } })
  })

  test('returns rows with every term by relevance, then rows with some terms', async () => {
    const find = async (terms: string, clauses: object = {}) =>
      ids(
        (await table.run({ find: { sort: { note: terms }, ...clauses } })).data!.documents,
      )
    assert.equal(await find('RED'), 'ba')
    assert.equal(await find('red green'), 'abc')
    assert.equal(await find('pears red'), 'cba')
    assert.equal(await find('pears red', { options: { lexicalOperator: 'all' } }), '')
    assert.equal(await find('red green', { options: { lexicalOperator: 'all' } }), 'a')
    assert.equal(await find('red green', { options: { limit: 2 } }), 'ab')
    assert.equal(await find('nothing'), '')
    assert.equal(await find('green', { filter: { n: { $lt: 3 } } }), 'a')
    assert.equal(await find('red', { options: { limit: 1 } }), 'b')
    const { data } = await table.run({ findOne: { sort: { note: 'green' } } })
    assert.equal(data!.document!['id'], 'c')
  })

  test('returns pages up to the limit, and page states survive a restart', async () => {
    const many = await tables.create(
      { columns: { id: 'int', note: 'text' }, primaryKey: 'id' },
      Array.from({ length: 150 }, (_, id) => ({ id, note: 'word' })),
    )
    await index(many, 'Text', 'note')
    const sort = { note: 'word' }
    const all = Array.from({ length: 150 }, (_, id) => id)
    for (const limit of [undefined, 1, 20, 21, 120, 150, 151]) {
      const pages = await many.pages({ sort }, { limit })
      assert.deepEqual(
        pages.flat().map(({ id }) => id),
        all.slice(0, limit),
      )
      assert(pages.every(({ length }) => length <= 20))
    }
    const first = await many.run({ find: { sort } })
    await many.insert({ id: -1, note: 'word '.repeat(20) }, { id: 1000, note: 'other' })
    await tables.restart()
    const options = { pageState: first.data!.nextPageState }
    const second = await many.run({ find: { sort, options } })
    assert.deepEqual(
      second.data!.documents!.map(({ id }) => id),
      all.slice(20, 40),
    )
    // With another analyzer the query has other terms, so its page states differ.
    const { status } = await many.run({ listIndexes: {} })
    for (const name of status!['indexes'] as string[])
      await many.run({ dropIndex: { name } })
    const args = { minGramSize: '2', maxGramSize: '2' }
    await index(many, 'Text', 'note', { analyzer: { tokenizer: { name: 'ngram', args } } })
    await many.refuse({ find: { sort, options } }, 'COMMAND_FIELD_VALUE_INVALID')
  })

  test('is rejected without a text index or terms, and with a skip or an invalid page state', async () => {
    for (const [find, code, message] of [
      [
        { sort: { code: 'x' }, options: { skip: 1 } },
        'CANNOT_LEXICAL_SORT_NON_INDEXED_COLUMNS',
        /code\(ascii\).*note\(text\)/,
      ],
      [{ sort: { id: 'x' } }, 'CANNOT_LEXICAL_SORT_NON_INDEXED_COLUMNS', /id\(text\)/],
      [
        { sort: { note: 'x' }, options: { skip: 1 } },
        'CANNOT_LEXICAL_SORT_WITH_SKIP_OPTION',
        /note/,
      ],
      [
        { sort: { note: '...' } },
        'SORT_CLAUSE_VALUE_INVALID',
        /"note": the analyzer finds no terms/,
      ],
      [
        { sort: { note: 'x' }, options: { pageState: 'abc' } },
        'COMMAND_FIELD_VALUE_INVALID',
        /pageState/,
      ],
    ] as const) {
      const { message: told } = await table.refuse({ find }, code)
      assert.match(told, message)
    }
    await table.run({ find: { sort: { note: 'red' }, options: { skip: 0 } } })
  })
})
