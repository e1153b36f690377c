/** Limits on the size of replies: pages end early, and replies without pages are rejected. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { defaultLimits } from '../../src/limits.ts'
import { startServer, type Answer, type TestServer } from '../harness.ts'

/**
 * Each document has slightly more than 1 000 characters, and a reply may contain ten such
 * documents.
 */
const limits = {
  ...defaultLimits,
  documentLengthMax: 2_000,
  replySizeMax: 10_000,
  pageSize: 50,
}
const count = 60

interface Find {
  readonly options?: object
  readonly [clause: string]: unknown
}

function documentOf(i: number, text = 'x'.repeat(1_000)) {
  return {
    _id: `d${String(i).padStart(3, '0')}`,
    n: (i * 7) % count,
    even: i % 2 === 0,
    text,
    $vector: [1, i],
    $lexical: `word ${i}`,
  }
}

describe('replies of limited size', () => {
  let server: TestServer
  before(async () => {
    server = await startServer({ limits, durable: false })
    const options = {
      vector: { dimension: 2, metric: 'cosine' },
      indexing: { deny: ['text'] },
    }
    await send('', { createCollection: { name: 'long', options } })
    const documents = Array.from({ length: count }, (_, i) => documentOf(i))
    await send('/long', { insertMany: { documents: documents.slice(0, 30) } })
    await send('/long', { insertMany: { documents: documents.slice(30) } })
    const definition = {
      columns: { p: 'int', c: 'int', n: 'int', text: 'text' },
      primaryKey: { partitionBy: ['p'], partitionSort: { c: 1 } },
    }
    await send('', { createTable: { name: 'rows', definition } })
    for (let i = 0; i < count; i += 30) {
      const rows = documents
        .slice(i, i + 30)
        .map(({ text, n }, k) => ({ p: 1, c: i + k, n, text }))
      const inserted = await send('/rows', { insertMany: { documents: rows } })
      assert.deepEqual(inserted.codes, [])
    }
  })
  after(() => server.close())

  async function send(path: string, command: object): Promise<Answer> {
    return server.command(`/default_keyspace${path}`, command)
  }

  /** The documents of a find, by page. */
  async function pagesOf(path: string, find: Find) {
    const pages: Record<string, unknown>[][] = []
    let pageState: string | null | undefined
    for (let i = 0; i < 100; i++) {
      const options = { ...find.options, ...(pageState && { pageState }) }
      const answer = await send(path, { find: { ...find, options } })
      assert.deepEqual(answer.codes, [])
      pages.push([...answer.body.data!.documents!])
      pageState = answer.body.data!.nextPageState
      if (!pageState) return pages
    }
    throw new Error('the pages do not end')
  }

  const finds: readonly (readonly [string, Find, number?])[] = [
    ['without a sort', {}],
    ['without a sort, with a projection', { projection: { text: 0 } }],
    ['with a filter on one value', { filter: { even: true } }, 30],
    [
      'with a filter on several values',
      { filter: { n: { $in: [...Array(40).keys()] } } },
      40,
    ],
    ['with a filter on a range', { filter: { n: { $gte: 10 } } }, 50],
    ['with a filter that no index decides', { filter: { $not: { n: 3 } } }, 59],
    ['with a filter on terms', { filter: { $lexical: { $match: 'word' } } }],
    ['sorted by an index', { sort: { n: 1 } }],
    [
      'sorted in descending order, with a projection',
      { sort: { n: -1 }, projection: { n: 1 } },
    ],
    ['sorted by two fields', { sort: { even: 1, n: -1 } }],
    ['sorted by id', { sort: { _id: 1 } }],
    [
      'sorted by id in descending order, with a filter',
      { sort: { _id: -1 }, filter: { n: { $gt: 4 } } },
      55,
    ],
    [
      'sorted, with a filter that half of the documents match',
      { sort: { n: 1 }, filter: { even: false } },
      30,
    ],
    ['with search fields in the projection', { projection: { '*': 1 } }],
    ['up to a limit', { options: { limit: 35 } }, 35],
    ['sorted up to a limit', { sort: { n: 1 }, options: { limit: 35 } }, 35],
    ['sorted after a skip', { sort: { n: 1 }, options: { skip: 25 } }, 35],
    ['sorted by terms', { sort: { $lexical: 'word' } }],
    [
      'sorted by terms up to a limit',
      { sort: { $lexical: 'word' }, options: { limit: 35 } },
      35,
    ],
  ]
  for (const [how, find, expected = count] of finds)
    test(`pages ${how} end early and omit nothing`, async () => {
      const pages = await pagesOf('/long', find)
      const ids = pages.flat().map(({ _id }) => _id)
      assert.equal(ids.length, expected)
      assert.equal(new Set(ids).size, expected)
      for (const [i, page] of pages.entries()) {
        assert(page.length <= 10, `${page.length} on a page`)
        if (i < pages.length - 1) assert.equal(page.length, 10)
      }
    })

  test('sorted pages stay in order', async () => {
    const numbers = (await pagesOf('/long', { sort: { n: 1 } })).flat().map(({ n }) => n)
    assert.deepEqual(numbers, [...Array(count).keys()])
    const ids = (await pagesOf('/long', { sort: { _id: -1 } })).flat().map(({ _id }) => _id)
    assert.deepEqual(ids, ids.toSorted().toReversed())
  })

  test('documents that are requested by id are paged too', async () => {
    const values = Array.from({ length: 25 }, (_, i) => documentOf(2 * i)._id)
    const pages = await pagesOf('/long', { filter: { _id: { $in: values } } })
    assert.deepEqual(
      pages.map(({ length }) => length),
      [10, 10, 5],
    )
    assert.deepEqual(
      pages.flat().map(({ _id }) => _id),
      values,
    )
  })

  test('pages of rows end early', async () => {
    for (const find of [
      {},
      { filter: { p: 1 } },
      { filter: { p: 1 }, sort: { c: -1 } },
      { sort: { n: 1 } },
    ]) {
      const pages = await pagesOf('/rows', find)
      const keys = pages.flat().map(({ c }) => c)
      assert.equal(new Set(keys).size, count)
      assert.equal(keys.length, count)
      assert(pages.every(({ length }) => length <= 10))
    }
  })

  test('rows sorted in memory stay in order across short pages', async () => {
    const numbers = (await pagesOf('/rows', { sort: { n: 1 } })).flat().map(({ n }) => n)
    assert.deepEqual(numbers, [...Array(count).keys()])
  })

  test('searches by vector are rejected when their results exceed the limit', async () => {
    const sort = { $vector: [1, 5] }
    for (const options of [{ limit: 30 }, {}]) {
      const answer = await send('/long', { find: { sort, options } })
      assert.equal(answer.http, 200)
      assert.deepEqual(answer.codes, ['REPLY_TOO_LARGE'])
      assert.equal(answer.body.data, undefined)
    }
    const few = await send('/long', { find: { sort, options: { limit: 9 } } })
    assert.equal(few.body.data!.documents!.length, 9)
    assert.deepEqual((await send('/long', { findOne: { sort } })).codes, [])
    // A result of exactly the maximum size is accepted; one more character is rejected.
    await send('', {
      createCollection: {
        name: 'edge',
        options: {
          vector: { dimension: 2, metric: 'cosine' },
          indexing: { deny: ['text'] },
        },
      },
    })
    const around = JSON.stringify({ _id: 'a0', text: '' }).length
    const insert = (i: number, length: number) =>
      send('/edge', {
        insertOne: {
          document: { _id: `a${i}`, text: 'x'.repeat(length - around), $vector: [1, i] },
        },
      })
    for (let i = 0; i < 5; i++) await insert(i, 2_000)
    const search = { find: { sort: { $vector: [1, 1] }, options: { limit: 6 } } }
    assert.equal((await send('/edge', search)).body.data!.documents!.length, 5)
    await insert(5, around)
    assert.deepEqual((await send('/edge', search)).codes, ['REPLY_TOO_LARGE'])
  })

  test('updates of many documents are not limited', async () => {
    let pageState: unknown
    let modified = 0
    for (let i = 0; i < 10; i++) {
      const { body } = await send('/long', {
        updateMany: { filter: {}, update: { $set: { seen: 1 } }, options: { pageState } },
      })
      modified += body.status!['modifiedCount'] as number
      pageState = body.status!['nextPageState']
      if (pageState === undefined) break
    }
    assert.equal(modified, count)
  })

  test('lists of definitions beyond the limit are rejected, and lists of names still work', async () => {
    await send('', { createCollection: { name: 'wordy', options: wordy(20_000) } })
    const explain = { options: { explain: true } }
    const { codes, body } = await server.command('/default_keyspace', {
      findCollections: explain,
    })
    assert.deepEqual(codes, ['REPLY_TOO_LARGE'])
    assert.match(
      body.errors![0]!.message,
      /more than 10,?000 characters .* Leave out options\.explain/,
    )
    const names = await send('', { findCollections: {} })
    assert((names.body.status!['collections'] as string[]).includes('wordy'))
    for (const command of ['listTables', 'listTypes'])
      assert.deepEqual((await send('', { [command]: explain })).codes, [])
    assert.deepEqual((await send('/rows', { listIndexes: explain })).codes, [])
  })
})

test('lists of keyspaces beyond the limit are rejected', async (context) => {
  const small = { ...limits, documentLengthMax: 1_000, replySizeMax: 1_000 }
  const server = await startServer({ limits: small, durable: false })
  context.after(() => server.close())
  const create = (n: number) =>
    server.command('', { createKeyspace: { name: `k${n}`.padEnd(48, '_') } })
  for (let n = 0; n < 15; n++) assert.deepEqual((await create(n)).codes, [])
  const few = await server.command('', { findKeyspaces: {} })
  assert.equal((few.body.status!['keyspaces'] as string[]).length, 16)
  for (let n = 15; n < 20; n++) await create(n)
  for (const command of ['findKeyspaces', 'findNamespaces']) {
    const { codes, body } = await server.command('', { [command]: {} })
    assert.deepEqual(codes, ['REPLY_TOO_LARGE'])
    assert.match(body.errors![0]!.message, /names of the keyspaces/)
  }
})

/** Options whose JSON has about `length` characters. */
function wordy(length: number) {
  const stopwords = 'x'.repeat(length)
  const filters = [{ name: 'stop', args: { words: stopwords } }]
  return {
    lexical: { enabled: true, analyzer: { tokenizer: { name: 'standard' }, filters } },
  }
}
