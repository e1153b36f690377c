import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { Collections, numbered } from './collections.ts'

function idsOf(documents: readonly Record<string, unknown>[]): unknown[] {
  return documents.map(({ _id }) => _id)
}

describe('find', () => {
  const collections = new Collections()

  test('returns an empty page when the collection is empty', async () => {
    const books = await collections.create()
    const { text } = await books.send({ find: {} })
    assert.equal(text, '{"data":{"documents":[],"nextPageState":null}}')
  })

  test('returns matching documents as they were stored', async () => {
    const books = await collections.create([
      { b: 1, _id: 'x', a: { d: 1, c: [true, null] } },
      { _id: 'y', b: 2 },
    ])
    const { text } = await books.send({ find: { filter: { b: 1 } } })
    assert.equal(
      text,
      '{"data":{"documents":[{"_id":"x","b":1,"a":{"d":1,"c":[true,null]}}],' +
        '"nextPageState":null}}',
    )
  })

  test('treats absent, null and empty clauses alike', async () => {
    const books = await collections.create(numbered(3))
    for (const clauses of [{}, { filter: null, sort: null }, { filter: {}, sort: {} }])
      assert.equal((await books.all(clauses)).length, 3)
  })

  test('applies a projection', async () => {
    const books = await collections.create([{ _id: 1, a: 1, b: { c: 2, d: 3 } }])
    assert.deepEqual(await books.all({ projection: { 'b.c': 1 } }), [
      { _id: 1, b: { c: 2 } },
    ])
    assert.deepEqual(await books.all({ projection: { _id: 0, a: 0 } }), [
      { b: { c: 2, d: 3 } },
    ])
    assert.deepEqual(await books.all({ projection: { '*': 0 } }), [{}])
    await books.refuse({ find: { projection: null } }, 'UNSUPPORTED_PROJECTION_DEFINITION')
    await books.refuse({ find: { projection: { $x: 1 } } }, 'UNSUPPORTED_PROJECTION_PARAM')
  })

  test('returns 20 documents per page and no page state after the last page', async () => {
    for (const [count, sizes] of [
      [19, [19]],
      [20, [20]],
      [21, [20, 1]],
      [40, [20, 20]],
      [45, [20, 20, 5]],
    ] as const) {
      const books = await collections.create(numbered(count))
      for (const sort of [{}, { n: -1 }]) {
        const pages = await books.pages({ sort })
        assert.deepEqual(
          pages.map((page) => page.length),
          sizes,
        )
        assert.equal(new Set(idsOf(pages.flat())).size, count)
      }
    }
  })

  test('returns sorted pages in order, even when many documents have equal values', async () => {
    const books = await collections.create(
      Array.from({ length: 50 }, (_, i) => ({ _id: i, group: i % 3 })),
    )
    const expected = [2, 1, 0].flatMap((group) =>
      Array.from({ length: 50 }, (_, i) => i).filter((i) => i % 3 === group),
    )
    assert.deepEqual(idsOf(await books.all({ sort: { group: -1 } })), expected)
  })

  test('applies the limit to all pages together', async () => {
    const books = await collections.create(numbered(60))
    for (const sort of [undefined, { n: 1 }]) {
      const sizes = async (limit: number) =>
        (await books.pages({ sort }, { limit })).map((page) => page.length)
      assert.deepEqual(await sizes(1), [1])
      assert.deepEqual(await sizes(20), [20])
      assert.deepEqual(await sizes(21), [20, 1])
      assert.deepEqual(await sizes(45), [20, 20, 5])
      assert.deepEqual(await sizes(1000), [20, 20, 20])
    }
  })

  test('skips the first documents of a sort', async () => {
    const books = await collections.create(numbered(30))
    const find = { sort: { n: 1 } }
    const pages = await books.pages(find, { skip: 5 })
    assert.deepEqual(
      idsOf(pages.flat()),
      Array.from({ length: 25 }, (_, i) => i + 5),
    )
    assert.deepEqual(
      idsOf((await books.pages(find, { skip: 28, limit: 5 })).flat()),
      [28, 29],
    )
    assert.deepEqual(await books.pages(find, { skip: 30 }), [[]])
    assert.deepEqual(idsOf((await books.pages(find, { skip: 0, limit: 2 })).flat()), [0, 1])
  })

  test('accepts any positive limit and any non-negative skip', async () => {
    const books = await collections.create(numbered(1_500))
    for (const sort of [
      { even: 1 },
      { n: -1 },
      { _id: 1 },
      { missing: 1 },
      { even: 1, n: 1 },
    ])
      for (const skip of [1_500, 2 ** 32, Number.MAX_SAFE_INTEGER])
        for (const limit of [1, Number.MAX_SAFE_INTEGER])
          assert.deepEqual(await books.pages({ sort }, { skip, limit }), [[]])
  })

  test('rejects skip without a sort, even a skip of 0', async () => {
    const books = await collections.create()
    for (const sort of [undefined, {}]) {
      const error = await books.refuse(
        { find: { sort, options: { skip: 0 } } },
        'COMMAND_FIELD_VALUE_INVALID',
      )
      assert.match(error.message, /command\.options\.skip/)
    }
  })

  test('reports a limit below 1 and a skip below 0 together', async () => {
    const books = await collections.create()
    const { codes, body } = await books.send({
      find: { sort: { a: 1 }, options: { limit: 0, skip: -1 } },
    })
    assert.deepEqual(codes, ['COMMAND_FIELD_VALUE_INVALID', 'COMMAND_FIELD_VALUE_INVALID'])
    assert.equal(body.status, undefined)
    await books.refuse(
      { find: { options: { limit: 'many' } } },
      'REQUEST_STRUCTURE_MISMATCH',
    )
    await books.refuse({ find: { options: { limits: 1 } } }, 'COMMAND_FIELD_UNKNOWN')
  })

  test('returns all documents with the ids in a list on one page', async () => {
    const books = await collections.create(numbered(60))
    const $in = Array.from({ length: 50 }, (_, i) => i + 5)
    const pages = await books.pages({ filter: { _id: { $in } } })
    assert.equal(pages.length, 1)
    assert.deepEqual(new Set(idsOf(pages[0]!)), new Set($in))
  })

  test('accepts pagingState as an alias of pageState, and "" as no page state', async () => {
    const books = await collections.create(numbered(25))
    const { data } = await books.run({ find: { options: { pageState: '' } } })
    const rest = await books.run({
      find: { options: { pagingState: data!.nextPageState } },
    })
    assert.equal(rest.data!.documents!.length, 5)
  })

  test('rejects page states of other queries and forged page states', async () => {
    const books = await collections.create(numbered(50))
    const { data } = await books.run({ find: { filter: { n: { $gte: 0 } } } })
    const pageState = data!.nextPageState!
    for (const find of [
      { filter: { n: { $gte: 1 } }, options: { pageState } },
      { filter: { n: { $gte: 0 } }, sort: { n: 1 }, options: { pageState } },
      { options: { pageState: 'made up' } },
      { options: { pageState: pageState.slice(0, -8) } },
    ]) {
      const error = await books.refuse({ find }, 'COMMAND_FIELD_VALUE_INVALID')
      assert.match(error.message, /command\.options\.pageState/)
    }
    await books.refuse(
      { find: { options: { pageState: 5 } } },
      'REQUEST_STRUCTURE_MISMATCH',
    )
  })

  test('returns each document once while other documents are inserted and deleted between pages', async () => {
    const books = await collections.create(numbered(60))
    const first = await books.run({ find: {} })
    const seen = idsOf(first.data!.documents!)
    await books.run({ deleteOne: { filter: { _id: seen[0] } } })
    await books.insert({ _id: 'new' })
    const second = await books.run({
      find: { options: { pageState: first.data!.nextPageState } },
    })
    const third = await books.run({
      find: { options: { pageState: second.data!.nextPageState } },
    })
    for (const { data } of [second, third]) seen.push(...idsOf(data!.documents!))
    const numbers = seen.filter((id) => typeof id === 'number')
    assert.equal(numbers.length, 60)
    assert.equal(new Set(numbers).size, 60)
  })

  test('returns a sortVector of null with includeSortVector when it does not sort by a vector', async () => {
    const books = await collections.create(numbered(30))
    const { data, status } = await books.run({
      find: { options: { includeSortVector: true, includeSimilarity: true } },
    })
    assert.deepEqual(status, { sortVector: null })
    assert.equal(data!.documents!.length, 20)
    assert.equal(typeof data!.nextPageState, 'string')
  })

  test('rejects invalid filters and sorts, and unindexed paths', async () => {
    const books = await collections.create([], { indexing: { deny: ['hidden'] } })
    for (const [clauses, code] of [
      [{ filter: 5 }, 'FILTER_UNSUPPORTED_DATA_TYPE'],
      [{ filter: { a: { $regex: 'x' } } }, 'FILTER_UNSUPPORTED_OPERATOR'],
      [{ filter: { hidden: 1 } }, 'FILTER_PATH_UNINDEXED'],
      [{ sort: 5 }, 'SORT_CLAUSE_INVALID'],
      [{ sort: { a: 'asc' } }, 'SORT_CLAUSE_VALUE_INVALID'],
      [{ sort: { $a: 1 } }, 'SORT_CLAUSE_PATH_INVALID'],
      [{ sort: { hidden: 1 } }, 'SORT_CLAUSE_PATH_UNINDEXED'],
    ] as const)
      await books.refuse({ find: clauses }, code)
  })

  test('reports errors of the sort first, then of the filter, then of the projection', async () => {
    const books = await collections.create([], { indexing: { deny: ['hidden'] } })
    const sort = { a: 'asc' }
    const filter = { a: { $regex: 'x' } }
    const projection = { $x: 1 }
    await books.refuse({ find: { sort, filter, projection } }, 'SORT_CLAUSE_VALUE_INVALID')
    await books.refuse(
      { find: { sort: { hidden: 1 }, filter, projection } },
      'FILTER_UNSUPPORTED_OPERATOR',
    )
    await books.refuse(
      { find: { sort: { hidden: 1 }, projection } },
      'SORT_CLAUSE_PATH_UNINDEXED',
    )
    await books.refuse({ find: { filter, projection } }, 'FILTER_UNSUPPORTED_OPERATOR')
  })
})

describe('find with configured limits', () => {
  const collections = new Collections({ pageSize: 3, sortedDocumentsMax: 10 })

  test('returns pages of the configured size', async () => {
    const books = await collections.create(numbered(7))
    assert.deepEqual(
      (await books.pages()).map((page) => page.length),
      [3, 3, 1],
    )
  })

  test('rejects a sort of more documents than configured', async () => {
    const books = await collections.create(numbered(11))
    const error = await books.refuse(
      { find: { sort: { n: 1 } } },
      'OVERLOADED_SORT_ROW_LIMIT',
    )
    assert.match(error.message, /10/)
    assert.equal(
      (await books.all({ sort: { n: 1 }, filter: { n: { $gt: 0 } } })).length,
      10,
    )
    assert.equal((await books.all()).length, 11)
  })
})
