/** find in tables: sections 2.5, 4.5, 4.6, 7 and 8. */
import assert from 'node:assert/strict'
import type { Api } from './api.ts'
import type { Area, Statement } from './statement.ts'

/** Rows of the partition "seen". `n` decreases while `id` increases. */
const seen = Array.from({ length: 25 }, (_, id) => ({
  part: 'seen',
  id,
  n: 24 - id,
  even: id % 2 === 0,
}))

/**
 * Rows of one partition that is sorted by "up" in ascending order, then by "down" in descending
 * order.
 */
const ordered = [
  { up: 1, down: 2 },
  { up: 1, down: 1 },
  { up: 2, down: 2 },
  { up: 2, down: 1 },
]

const plants = [
  { id: 1, words: 'Red maple tree', code: 'red tree', near: [1, 0], far: [1, 0] },
  { id: 2, words: 'red rose', code: 'rose', near: [0, 1], far: [0, 1] },
  { id: 3, words: 'A maple', code: 'tree', near: [1, 1], far: [1, 1] },
  { id: 4 },
]

const idOf = ({ id }: { readonly id: number }) => ({ id })
const ids = (...wanted: number[]) => wanted.map((id) => ({ id }))
/** A projection that returns only ids. */
const projection = { id: true }

/** Asserts the ids that a filter on `plants` finds. */
async function matches(api: Api, filter: object, ...wanted: number[]): Promise<void> {
  const { data } = await api.run('plants', { find: { filter, projection } })
  const found = data!.documents!.map(({ id }) => id as number)
  assert.deepEqual(found.toSorted(), wanted)
}

const inMemory = 'IN_MEMORY_SORTING_DUE_TO_NON_PARTITION_SORTING'

/** Filters on rows, with the ids of the rows in the partition "seen" that they match. */
const filters: readonly (readonly [says: string, filter: object, ids: number[]])[] = [
  ['a column mapped to a value means equality', { id: 3 }, [3]],
  ['$eq compares for equality', { id: { $eq: 4 } }, [4]],
  ['$gt finds greater values', { id: { $gt: 22 } }, [23, 24]],
  ['$lt finds smaller values', { id: { $lt: 2 } }, [0, 1]],
  ['$in finds any of the values', { id: { $in: [5, 9, 99] } }, [5, 9]],
  ['$and requires all filters', { $and: [{ n: { $lt: 3 } }, { even: true }] }, [22, 24]],
  ['$or requires one of the filters', { $or: [{ n: 1 }, { n: 20 }] }, [4, 23]],
  ['several columns must all match', { id: { $lt: 4 }, even: false }, [1, 3]],
]

export const tablesFind: Area = {
  name: 'find in tables',
  prepare: async (api) => {
    const primaryKey = { partitionBy: ['part'], partitionSort: { id: 1 } }
    const columns = { part: 'text', id: 'int', n: 'int', even: 'boolean' }
    await api.ok('', {
      createTable: { name: 'pages', definition: { columns, primaryKey } },
    })
    const definition = {
      columns: { p: 'int', up: 'int', down: 'int' },
      primaryKey: { partitionBy: ['p'], partitionSort: { up: 1, down: -1 } },
    }
    await api.ok('', { createTable: { name: 'ordered', definition } })
    await createPlants(api)
    await api.run('pages', { insertMany: { documents: seen } })
    await api.run('plants', { insertMany: { documents: plants } })
    const shuffled = ordered.toReversed().map((row) => ({ p: 1, ...row }))
    await api.run('ordered', { insertMany: { documents: shuffled } })
  },
  statements: [
    {
      id: 'tables-find-01',
      section: '4.6',
      says: 'find without a filter returns all rows',
      run: (api) => api.finds('ordered', { projection: { up: true, down: true } }, ordered),
    },
    {
      id: 'tables-find-02',
      section: '4.6',
      says: 'find returns an empty array and null when there are no rows',
      run: async (api) => {
        const { data } = await api.run('pages', { find: { filter: { part: 'none' } } })
        assert.deepEqual(data, { documents: [], nextPageState: null })
      },
    },
    {
      id: 'tables-find-03',
      section: '8',
      says: 'a page has 20 rows, and nextPageState leads to the next',
      run: async (api) => {
        const filter = { part: 'seen' }
        const { data } = await api.run('pages', { find: { filter } })
        assert.deepEqual(data!.documents, seen.slice(0, 20))
        const pageState = data!.nextPageState
        assert.equal(typeof pageState, 'string')
        await api.finds('pages', { filter, options: { pageState } }, seen.slice(20))
      },
    },
    {
      id: 'tables-find-04',
      section: '4.6',
      says: '20 rows are not paginated',
      run: (api) =>
        api.finds(
          'pages',
          { filter: { part: 'seen', id: { $lt: 20 } } },
          seen.slice(0, 20),
        ),
    },
    {
      id: 'tables-find-05',
      section: '4.6',
      says: 'limit is the maximum of rows in total, over all pages',
      run: async (api) => {
        const find = { filter: { part: 'seen' } }
        const { data } = await api.run('pages', {
          find: { ...find, options: { limit: 22 } },
        })
        const pageState = data!.nextPageState
        assert.equal(data!.documents!.length, 20)
        const options = { limit: 22, pageState }
        await api.finds('pages', { ...find, options }, seen.slice(20, 22))
      },
    },
    {
      id: 'tables-find-06',
      section: '4.6',
      says: 'a limit below the page size ends a page',
      run: (api) =>
        api.finds(
          'pages',
          { filter: { part: 'seen' }, options: { limit: 2 } },
          seen.slice(0, 2),
        ),
    },
    {
      id: 'tables-find-07',
      section: '4.6',
      says: 'skip omits the first rows of a sort',
      run: (api) =>
        api.finds(
          'pages',
          { filter: { part: 'seen' }, sort: { n: 1 }, options: { skip: 23 } },
          [seen[1]!, seen[0]!],
        ),
    },
    {
      id: 'tables-find-08',
      section: '4.6',
      says: 'skip is refused without a sort',
      run: (api) =>
        api.refuses(
          'pages',
          { find: { options: { skip: 1 } } },
          '/COMMAND_FIELD_VALUE_INVALID',
        ),
    },
    {
      id: 'tables-find-09',
      section: '7',
      says: 'skip is refused with a vector search',
      run: (api) =>
        api.refuses(
          'plants',
          { find: { sort: { near: [1, 0] }, options: { skip: 1 } } },
          'SORT/CANNOT_VECTOR_SORT_WITH_SKIP_OPTION',
        ),
    },
    {
      id: 'tables-find-10',
      section: '4.6',
      says: 'an operation that sorts in memory has no pages',
      run: async (api) => {
        const find = { filter: { part: 'seen' }, sort: { n: 1 } }
        const { data } = await api.run('pages', { find })
        assert.deepEqual(data!.documents, seen.toReversed().slice(0, 20))
        const pageState = data!.nextPageState
        const rest = seen.toReversed().slice(20)
        await api.finds('pages', { ...find, options: { pageState } }, rest)
      },
      deviation: { difference: 2, says: 'a sort in memory has pages' },
    },
    {
      id: 'tables-find-11',
      section: '7',
      says: 'a sort in memory yields a warning',
      run: (api) =>
        api.warns('pages', { filter: { part: 'seen' }, sort: { n: 1 } }, inMemory),
    },
    {
      id: 'tables-find-12',
      section: '7',
      says: 'a filter on a column without an index yields a warning, and rows',
      run: async (api) => {
        const find = { filter: { n: 3 } }
        await api.warns('pages', find, 'MISSING_INDEX')
        await api.finds('pages', find, [seen[21]!])
      },
    },
    {
      id: 'tables-find-13',
      section: '2.5',
      says: 'the columns of the primary key are indexed automatically',
      run: (api) => api.warns('pages', { filter: { part: 'seen', id: { $gt: 3 } } }),
    },
    {
      id: 'tables-find-14',
      section: '2.5',
      says: '1 in partitionSort sorts in ascending order, and -1 in descending order',
      run: (api) =>
        api.finds('ordered', { filter: { p: 1 }, projection: { p: false } }, ordered),
    },
    {
      id: 'tables-find-15',
      section: '4.5',
      says: 'a sort orders rows in ascending order by 1',
      run: (api) =>
        api.finds('pages', { filter: { part: 'seen', id: { $lt: 2 } }, sort: { n: 1 } }, [
          seen[1]!,
          seen[0]!,
        ]),
    },
    {
      id: 'tables-find-16',
      section: '4.5',
      says: 'a sort orders rows in descending order by -1',
      run: (api) =>
        api.finds('pages', { filter: { part: 'seen', id: { $lt: 2 } }, sort: { n: -1 } }, [
          seen[0]!,
          seen[1]!,
        ]),
    },
    {
      id: 'tables-find-17',
      section: '4.5',
      says: 'a sort takes several columns in order',
      run: (api) =>
        api.finds(
          'pages',
          { filter: { part: 'seen', id: { $lt: 4 } }, sort: { even: 1, n: 1 } },
          [seen[3]!, seen[1]!, seen[2]!, seen[0]!],
        ),
    },
    {
      id: 'tables-find-18',
      section: '4.5',
      says: 'a projection includes columns by true',
      run: (api) =>
        api.finds(
          'pages',
          { filter: { part: 'seen', id: 3 }, projection: { n: true, even: true } },
          [{ n: 21, even: false }],
        ),
    },
    {
      id: 'tables-find-19',
      section: '4.5',
      says: 'all columns are returned by default',
      run: (api) => api.finds('plants', { filter: { id: 1 } }, [plants[0]!]),
    },
    ...filters.map(([says, filter, wanted], at): Statement => ({
      id: `tables-find-${20 + at}`,
      section: '4.5',
      says: `on a table ${says}`,
      run: (api) =>
        api.finds(
          'pages',
          { filter: { part: 'seen', ...filter }, projection },
          wanted.map((id) => ({ id })),
        ),
    })),
    {
      id: 'tables-find-28',
      section: '4.5',
      says: 'a sort by a vector returns the most similar rows first',
      run: (api) =>
        api.finds('plants', { sort: { near: [1, 0] }, projection }, ids(1, 3, 2)),
    },
    {
      id: 'tables-find-29',
      section: '4.5',
      says: 'a sort by a vector takes $binary',
      run: (api) =>
        api.finds(
          'plants',
          { sort: { near: { $binary: 'AAAAAD+AAAA=' } }, projection },
          ids(2, 3, 1),
        ),
    },
    {
      id: 'tables-find-30',
      section: '4.5',
      says: 'a sort by a text searches with its vector',
      run: async (api) => {
        const documents = [
          { id: 1, texts: 'aaa' },
          { id: 2, texts: 'bbb' },
        ]
        await api.run('embedded_texts', { insertMany: { documents } })
        const find = { sort: { texts: 'bbbb' }, filter: { id: { $lt: 3 } }, projection }
        await api.finds('embedded_texts', find, ids(2, 1))
      },
    },
    {
      id: 'tables-find-31',
      section: '2.5',
      says: 'a sort by a text requires an embedding provider of the column',
      run: (api) =>
        api.refuses(
          'plants',
          { find: { sort: { near: 'red' } } },
          'SORT/CANNOT_VECTORIZE_SORT_WHEN_MISSING_VECTORIZE_DEFINITION',
        ),
    },
    {
      id: 'tables-find-32',
      section: '2.5',
      says: 'a vector column must be indexed for a vector search',
      run: (api) =>
        api.refuses(
          'plants',
          { find: { sort: { far: [1, 0] } } },
          'SORT/CANNOT_VECTOR_SORT_NON_INDEXED_VECTOR_COLUMNS',
        ),
    },
    {
      id: 'tables-find-33',
      section: '4.5',
      says: 'only one vector column may be sorted by at a time',
      run: (api) =>
        api.refuses(
          'plants',
          { find: { sort: { near: [1, 0], far: [1, 0] } } },
          'SORT/CANNOT_SORT_ON_SPECIAL_WITH_OTHERS',
        ),
    },
    {
      id: 'tables-find-34',
      section: '4.6',
      says: 'limit applies to a vector search',
      run: (api) =>
        api.finds(
          'plants',
          { sort: { near: [1, 0] }, projection, options: { limit: 2 } },
          ids(1, 3),
        ),
    },
    {
      id: 'tables-find-35',
      section: '4.6',
      says: 'a vector search takes a filter',
      run: (api) =>
        api.finds(
          'plants',
          { sort: { near: [1, 0] }, filter: { id: { $gt: 1 } }, projection },
          ids(3, 2),
        ),
    },
    {
      id: 'tables-find-36',
      section: '4.6',
      says: 'includeSimilarity adds the number $similarity to each row',
      run: (api) =>
        api.finds(
          'plants',
          {
            sort: { near: [1, 0] },
            projection,
            options: { includeSimilarity: true, limit: 1 },
          },
          [{ id: 1, $similarity: 1 }],
        ),
    },
    {
      id: 'tables-find-37',
      section: '4.6',
      says: 'includeSimilarity is false by default',
      run: (api) =>
        api.finds('plants', { sort: { near: [1, 0] }, options: { limit: 1 } }, [
          plants[0]!,
        ]),
    },
    {
      id: 'tables-find-38',
      section: '4.6',
      says: 'includeSimilarity has no effect on a search by a text',
      run: async (api) => {
        const document = { id: 38, texts: 'ab' }
        await api.run('embedded_texts', { insertOne: { document } })
        const find = { sort: { texts: 'ab' }, filter: { id: 38 }, projection }
        const options = { includeSimilarity: true }
        await api.finds('embedded_texts', { ...find, options }, [
          { id: 38, $similarity: 1 },
        ])
      },
      deviation: {
        difference: 58,
        says: 'includeSimilarity also applies to a search by a text',
      },
    },
    {
      id: 'tables-find-39',
      section: '8',
      says: 'a vector search returns at most 1000 rows on a single page',
      run: async (api) => {
        const { data } = await api.run('embedded_texts', {
          find: { sort: { many: [1, 0] }, projection },
        })
        assert.equal(data!.documents!.length, 1000)
        assert.equal(data!.nextPageState, null)
      },
    },
    {
      id: 'tables-find-40',
      section: '8',
      says: 'a limit of more than 1000 is refused with a vector search',
      run: (api) =>
        api.refuses(
          'plants',
          { find: { sort: { near: [1, 0] }, options: { limit: 1001 } } },
          'SORT/CANNOT_VECTOR_SORT_WITH_LIMIT_EXCEEDS_MAX',
        ),
    },
    {
      id: 'tables-find-41',
      section: '4.5',
      says: '$match finds rows by the terms of a text column with a text index',
      run: (api) => matches(api, { words: { $match: 'maple red' } }, 1),
    },
    {
      id: 'tables-find-42',
      section: '4.5',
      says: '$match finds rows by the terms of an ascii column with a text index',
      run: (api) => matches(api, { code: { $match: 'tree' } }, 1, 3),
    },
    {
      id: 'tables-find-43',
      section: '2.5',
      says: '$match requires a text index, and not a regular one',
      run: (api) =>
        api.refuses(
          'plants',
          { find: { filter: { plain: { $match: 'red' } } } },
          'FILTER/CANNOT_LEXICAL_FILTER_NON_INDEXED_COLUMNS',
        ),
    },
    {
      id: 'tables-find-44',
      section: '4.5',
      says: 'a string sorts a text column by relevance to its terms',
      run: (api) =>
        api.finds('plants', { sort: { words: 'maple' }, projection }, ids(3, 1)),
    },
    {
      id: 'tables-find-45',
      section: '4.5',
      says: 'a sort by terms requires a text index',
      run: (api) =>
        api.refuses(
          'plants',
          { find: { sort: { plain: 'red' } } },
          'SORT/CANNOT_LEXICAL_SORT_NON_INDEXED_COLUMNS',
        ),
    },
    {
      id: 'tables-find-46',
      section: '4.6',
      says: 'a search by terms is paginated when more than 20 rows match',
      run: async (api) => {
        const documents = Array.from({ length: 21 }, (_, i) => ({
          id: 100 + i,
          words: 'moss',
        }))
        await api.run('plants', { insertMany: { documents } })
        const find = { sort: { words: 'moss' }, projection }
        const { data: first } = await api.run('plants', { find })
        assert.equal(first!.documents!.length, 20)
        const options = { pageState: first!.nextPageState }
        const { data: last } = await api.run('plants', { find: { ...find, options } })
        assert.equal(last!.nextPageState, null)
        const found = [...first!.documents!, ...last!.documents!].map(
          ({ id }) => id as number,
        )
        assert.deepEqual(
          found.toSorted(),
          documents.map(({ id }) => id),
        )
      },
    },
    {
      id: 'tables-find-47',
      section: '4.6',
      says: 'a filter on a column without an index has no pages',
      run: async (api) => {
        const find = { filter: { n: { $gt: 1 } }, projection }
        const { data } = await api.run('pages', { find })
        assert.deepEqual(data!.documents, seen.slice(0, 20).map(idOf))
        const options = { pageState: data!.nextPageState }
        await api.finds('pages', { ...find, options }, seen.slice(20, 23).map(idOf))
      },
      deviation: { difference: 2, says: 'a filter on a column without an index has pages' },
    },
    {
      id: 'tables-find-48',
      section: '4.3',
      says: 'a vector search finds a row by the vector that an update sets',
      run: async (api) => {
        await api.run('embedded_texts', { insertOne: { document: { id: 48 } } })
        const updateOne = { filter: { id: 48 }, update: { $set: { many: [0, 1] } } }
        await api.run('embedded_texts', { updateOne })
        const find = { sort: { many: [0, 1] }, filter: { id: 48 }, projection }
        await api.finds('embedded_texts', find, ids(48))
      },
    },
  ],
}

/**
 * Creates `plants` and `embedded_texts`, with columns for searches by vector and by terms, with and
 * without their indexes.
 */
async function createPlants(api: Api): Promise<void> {
  const vector = { type: 'vector', dimension: 2 }
  const service = { provider: 'openai', modelName: 'text-embedding-3-small' }
  const columns = {
    ...{ id: 'int', words: 'text', code: 'ascii', plain: 'text' },
    ...{ near: vector, far: vector },
  }
  const definition = { columns, primaryKey: 'id' }
  await api.ok('', { createTable: { name: 'plants', definition } })
  const index = (name: string, column: string) => ({ name, definition: { column } })
  await api.ok('plants', { createTextIndex: index('plants_words', 'words') })
  await api.ok('plants', { createTextIndex: index('plants_code', 'code') })
  await api.ok('plants', { createIndex: index('plants_plain', 'plain') })
  await api.ok('plants', { createVectorIndex: index('plants_near', 'near') })
  const texts = { columns: { id: 'int', texts: { ...vector, service }, many: vector } }
  await api.ok('', {
    createTable: { name: 'embedded_texts', definition: { ...texts, primaryKey: 'id' } },
  })
  await api.ok('embedded_texts', { createVectorIndex: index('by_texts', 'texts') })
  await api.ok('embedded_texts', { createVectorIndex: index('by_many', 'many') })
  for (let first = 1000; first < 2001; first += 100) {
    const documents = Array.from({ length: Math.min(100, 2001 - first) }, (_, i) => ({
      id: first + i,
      many: [1, i / 100],
    }))
    await api.run('embedded_texts', { insertMany: { documents } })
  }
}
