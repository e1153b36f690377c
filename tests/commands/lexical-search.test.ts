/** Sorts by $lexical and filters by $match, in all commands that accept them. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { Collections, type Target } from './collections.ts'

const monkeys = [
  { _id: 1, n: 1, $lexical: 'monkey' },
  { _id: 2, n: 2, $lexical: 'monkey bread is so tasty' },
  { _id: 3, n: 1, $lexical: 'monkey monkey monkey' },
  { _id: 4, n: 2, $lexical: 'Apes are no monkeys.' },
  { _id: 5, n: 1, $lexical: null },
  { _id: 6, n: 2 },
]

const fruits = [
  { _id: 1, $lexical: 'apple banana' },
  { _id: 2, $lexical: 'apple apple banana' },
  { _id: 3, $lexical: 'apple banana banana' },
  { _id: 4, $lexical: 'apple apple banana banana' },
  { _id: 5, $lexical: 'banana banana' },
]

const off = { lexical: { enabled: false } }

async function idsOf(target: Target, find: object): Promise<unknown[]> {
  const { data } = await target.run({ find })
  assert.equal(data!.nextPageState, null)
  return data!.documents!.map(({ _id }) => _id)
}

function match(terms: unknown): object {
  return { $lexical: { $match: terms } }
}

describe('a sort by $lexical', () => {
  const collections = new Collections()

  test('returns documents with every term by relevance, then documents with some terms', async () => {
    const zoo = await collections.create(monkeys)
    assert.deepEqual(await idsOf(zoo, { sort: { $lexical: 'monkey' } }), [3, 1, 2])
    assert.deepEqual(await idsOf(zoo, { sort: { $lexical: 'MONKEY, bread!' } }), [2, 3, 1])
    assert.deepEqual(await idsOf(zoo, { sort: { $lexical: 'monkey zebra' } }), [3, 1, 2])
    assert.deepEqual(await idsOf(zoo, { sort: { $lexical: 'lion zebra' } }), [])
    const basket = await collections.create(fruits)
    for (const $lexical of ['apple banana', 'banana apple', 'apple banana apple'])
      assert.deepEqual(await idsOf(basket, { sort: { $lexical } }), [2, 4, 1, 3, 5])
  })

  test('returns only documents with every term if the command or the server requires it', async () => {
    const zoo = await collections.create(monkeys)
    const sort = { $lexical: 'monkey bread' }
    const all = { lexicalOperator: 'all' }
    const any = { lexicalOperator: 'any' }
    assert.deepEqual(await idsOf(zoo, { sort, options: all }), [2])
    assert.deepEqual(await idsOf(zoo, { sort, options: any }), [2, 3, 1])
    const missing = { $lexical: 'monkey zebra' }
    const update = { $set: { seen: true } }
    const { data } = await zoo.run({ findOne: { sort: missing, options: all } })
    assert.equal(data!.document, null)
    for (const [command, options] of [
      ['updateOne', all],
      ['findOneAndUpdate', all],
      ['updateOne', any],
      ['findOneAndUpdate', {}],
    ] as const) {
      const { status } = await zoo.run({ [command]: { sort: missing, update, options } })
      assert.equal(status!['matchedCount'], options === all ? 0 : 1, command)
    }
    const replacement = { replaced: true }
    const { status } = await zoo.run({
      findOneAndReplace: { sort: missing, replacement, options: all },
    })
    assert.equal(status!['matchedCount'], 0)
    await zoo.refuse(
      { find: { sort, options: { lexicalOperator: 'each' } } },
      'COMMAND_FIELD_VALUE_INVALID',
    )
  })

  test('returns the documents with some terms after the last document with all terms', async () => {
    const zoo = await collections.create(
      Array.from({ length: 90 }, (_, _id) => ({
        _id,
        $lexical: _id % 3 === 0 ? 'ape tree' : _id % 3 === 1 ? 'ape' : 'bird',
      })),
    )
    const sort = { $lexical: 'tree ape' }
    const pages = await zoo.pages({ sort }, {})
    assert.deepEqual(
      pages.map(({ length }) => length),
      [20, 20, 20],
    )
    const third = (rest: number) => Array.from({ length: 30 }, (_, i) => 3 * i + rest)
    assert.deepEqual(
      pages.flat().map(({ _id }) => _id),
      [...third(0), ...third(1)],
    )
    const limited = await zoo.pages({ sort }, { limit: 33 })
    assert.deepEqual(limited.flat().at(-1), { _id: 7 })
    const { data } = await zoo.run({ find: { sort, options: { limit: 50 } } })
    const second = await zoo.run({
      find: { sort, options: { limit: 50, pageState: data!.nextPageState } },
    })
    const pageState = second.data!.nextPageState
    await zoo.refuse(
      { find: { sort, options: { limit: 50, pageState, lexicalOperator: 'all' } } },
      'COMMAND_FIELD_VALUE_INVALID',
    )
  })

  test('returns the most relevant documents that match the filter', async () => {
    const zoo = await collections.create(monkeys)
    const sort = { $lexical: 'monkey' }
    assert.deepEqual(await idsOf(zoo, { sort, filter: { n: 1 } }), [3, 1])
    assert.deepEqual(await idsOf(zoo, { sort, filter: { _id: 2 } }), [2])
    assert.deepEqual(await idsOf(zoo, { sort, filter: { n: 5 } }), [])
    assert.deepEqual(await idsOf(zoo, { sort, filter: match('tasty') }), [2])
  })

  test('returns pages up to the limit', async () => {
    const zoo = await collections.create(
      Array.from({ length: 1010 }, (_, _id) => ({ _id, $lexical: 'monkey' })),
    )
    const sort = { $lexical: 'monkey' }
    const pagesOf = async (options: object) =>
      (await zoo.pages({ sort }, options)).map((page) => page.map(({ _id }) => _id))
    for (const [limit, count = limit] of [
      [1],
      [20],
      [21],
      [101],
      [1009],
      [1010],
      [5000, 1010],
      [undefined, 1010],
    ]) {
      const pages = await pagesOf({ limit })
      assert.deepEqual(
        pages.flat(),
        Array.from({ length: count! }, (_, n) => n),
      )
      assert.equal(pages.length, Math.ceil(count! / 20))
    }
  })

  test('continues after the previous page when documents are written between pages', async () => {
    const texts = ['ape', 'ape ape', 'ape tree', 'ape ape tree', 'tree']
    const zoo = await collections.create(
      Array.from({ length: 150 }, (_, _id) => ({ _id, $lexical: texts[_id % 5]! })),
    )
    const sort = { $lexical: 'ape' }
    const expected = (await zoo.all({ sort })).map(({ _id }) => _id)
    assert.equal(expected.length, 120)
    const found: unknown[] = []
    let pageState: string | null | undefined
    for (let page = 0; pageState !== null; page++) {
      const { data } = await zoo.run({ find: { sort, options: { pageState } } })
      found.push(...data!.documents!.map(({ _id }) => _id))
      pageState = data!.nextPageState!
      // These writes change the counts that BM25 uses: texts, terms, and texts that contain the
      // term.
      const long = `ape ${'tree '.repeat(50)}`
      await zoo.insert({ _id: `new ${page}`, $lexical: page % 2 === 0 ? long : 'ape' })
      await zoo.run({
        updateOne: { filter: { _id: 4 }, update: { $set: { $lexical: long } } },
      })
      if (page === 3) await collections.restart()
    }
    assert.deepEqual(
      found.filter((id) => typeof id === 'number' && id !== 4),
      expected,
    )
  })

  test('rejects skip and page states of other queries', async () => {
    const zoo = await collections.create(
      Array.from({ length: 30 }, (_, _id) => ({ _id, $lexical: 'monkey bread' })),
    )
    const sort = { $lexical: 'monkey' }
    const { data } = await zoo.run({ find: { sort, options: { skip: 0 } } })
    const { message } = await zoo.refuse(
      { find: { sort, options: { skip: 1 } } },
      'COMMAND_FIELD_VALUE_INVALID',
    )
    assert.match(message, /command\.options\.skip/)
    const options = { pageState: data!.nextPageState }
    for (const find of [
      { sort: { $lexical: 'bread' }, options },
      { sort: { $lexical: 'monkey bread' }, options },
      { sort, filter: { n: 1 }, options },
      { sort: { _id: 1 }, options },
      { options },
      { sort, options: { pageState: 'x' } },
    ])
      await zoo.refuse({ find }, 'COMMAND_FIELD_VALUE_INVALID')
    assert.equal((await zoo.run({ find: { sort, options } })).data!.documents!.length, 10)
  })

  test('returns neither a similarity nor a vector', async () => {
    const zoo = await collections.create(monkeys)
    const options = { includeSimilarity: true, includeSortVector: true }
    const { text } = await zoo.send({ findOne: { sort: { $lexical: 'tasty' }, options } })
    assert.equal(text, '{"data":{"document":{"_id":2,"n":2}},"status":{"sortVector":null}}')
  })

  test('is rejected when it is not a text with terms, or the collection has no lexical search', async () => {
    const zoo = await collections.create(monkeys)
    const without = await collections.create([], off)
    for (const [target, sort, code] of [
      [zoo, { $lexical: 5 }, 'SORT_CLAUSE_INVALID'],
      [zoo, { $lexical: 1 }, 'SORT_CLAUSE_INVALID'],
      [zoo, { $lexical: null }, 'SORT_CLAUSE_INVALID'],
      [zoo, { $lexical: ['monkey'] }, 'SORT_CLAUSE_INVALID'],
      [zoo, { $lexical: 'monkey', n: 1 }, 'SORT_CLAUSE_INVALID'],
      [zoo, { n: 1, $lexical: 'monkey' }, 'SORT_CLAUSE_INVALID'],
      [zoo, { $lexical: '?!' }, 'SORT_CLAUSE_VALUE_INVALID'],
      [zoo, { $lexical: '' }, 'SORT_CLAUSE_VALUE_INVALID'],
      [without, { $lexical: 'monkey' }, 'LEXICAL_NOT_ENABLED_FOR_COLLECTION'],
    ] as const)
      for (const command of [
        { find: { sort } },
        { findOne: { sort } },
        { updateOne: { sort, update: {} } },
        { deleteOne: { filter: {}, sort } },
        { findOneAndUpdate: { sort, update: {} } },
        { findOneAndReplace: { sort, replacement: {} } },
        { findOneAndDelete: { sort } },
      ])
        await target.refuse(command, code)
  })

  test('selects the document in commands that change one document', async () => {
    const zoo = await collections.create(monkeys)
    const sort = { $lexical: 'monkey' }
    await zoo.run({ updateOne: { sort, update: { $set: { $lexical: 'ape' } } } })
    assert.deepEqual(await idsOf(zoo, { sort }), [1, 2])
    const updated = await zoo.run({
      findOneAndUpdate: { sort, update: { $unset: { $lexical: '' } } },
    })
    assert.equal(updated.data!.document!['_id'], 1)
    const replaced = await zoo.run({
      findOneAndReplace: { sort, replacement: { $lexical: 'monkey business' } },
    })
    assert.equal(replaced.data!.document!['_id'], 2)
    assert.deepEqual(await idsOf(zoo, { sort: { $lexical: 'business' } }), [2])
    await zoo.run({ deleteOne: { filter: {}, sort } })
    const deleted = await zoo.run({ findOneAndDelete: { sort } })
    assert.equal(deleted.data!.document, null)
    assert.deepEqual(await idsOf(zoo, { sort: { $lexical: 'ape' } }), [3])
  })

  test('selects a different document for each of several concurrent updates', async () => {
    const tasks = await collections.create(
      Array.from({ length: 5 }, (_, _id) => ({ _id, $lexical: 'open task' })),
    )
    const taken = await Promise.all(
      Array.from({ length: 8 }, () =>
        tasks.run({
          findOneAndUpdate: {
            sort: { $lexical: 'open' },
            update: { $set: { $lexical: 'closed task' } },
          },
        }),
      ),
    )
    const ids = taken.flatMap(({ data }) => data!.document?.['_id'] ?? [])
    assert.deepEqual(ids.toSorted(), [0, 1, 2, 3, 4])
  })

  test('uses the analyzer of the collection', async () => {
    const library = await collections.create(
      [
        { _id: 1, $lexical: 'The runner was running' },
        { _id: 2, $lexical: 'A walk in the park' },
      ],
      { lexical: { enabled: true, analyzer: 'english' } },
    )
    assert.deepEqual(await idsOf(library, { sort: { $lexical: 'run' } }), [1])
    assert.deepEqual(await idsOf(library, { filter: match('walking parks') }), [2])
    await library.refuse(
      { find: { sort: { $lexical: 'the' } } },
      'SORT_CLAUSE_VALUE_INVALID',
    )
  })

  test('finds earlier writes immediately, even after a restart', async () => {
    const zoo = await collections.create(monkeys)
    const sort = { $lexical: 'monkey' }
    await zoo.insert({ _id: 7, $lexical: 'Monkey! Monkey! Monkey! Monkey!' })
    assert.deepEqual(await idsOf(zoo, { sort }), [7, 3, 1, 2])
    await zoo.run({ deleteMany: { filter: { n: 1 } } })
    assert.deepEqual(await idsOf(zoo, { sort }), [7, 2])
    await collections.restart()
    assert.deepEqual(await idsOf(zoo, { sort }), [7, 2])
    await zoo.run({ deleteMany: {} })
    assert.deepEqual(await idsOf(zoo, { sort }), [])
  })
})

describe('$match', () => {
  const collections = new Collections()

  test('finds documents that contain every term, in any order', async () => {
    const basket = await collections.create(fruits)
    const found = async (filter: object) => (await idsOf(basket, { filter })).toSorted()
    assert.deepEqual(await found(match('banana apple')), [1, 2, 3, 4])
    assert.deepEqual(await found(match('BANANA')), [1, 2, 3, 4, 5])
    assert.deepEqual(await found(match('cherry')), [])
    assert.deepEqual(await found(match('apple cherry')), [])
  })

  test('can be combined with other conditions', async () => {
    const zoo = await collections.create(monkeys)
    const found = async (filter: object) => (await idsOf(zoo, { filter })).toSorted()
    assert.deepEqual(await found({ ...match('monkey'), n: 1 }), [1, 3])
    assert.deepEqual(await found({ $and: [match('monkey'), match('bread')] }), [2])
    assert.deepEqual(await found({ $or: [match('apes'), match('bread')] }), [2, 4])
    assert.deepEqual(await found({ $or: [match('apes'), { n: 1 }] }), [1, 3, 4, 5])
    assert.deepEqual(await found({ ...match('monkey'), _id: 3 }), [3])
    assert.deepEqual(await found({ ...match('monkey'), _id: { $in: [2, 3, 6] } }), [2, 3])
  })

  test('supports sorts and paging like any filter', async () => {
    const zoo = await collections.create(
      Array.from({ length: 50 }, (_, n) => ({
        _id: n,
        n,
        $lexical: n % 2 ? 'odd' : 'even',
      })),
    )
    const filter = match('odd')
    for (const sort of [undefined, { n: -1 }]) {
      const pages = await zoo.pages({ filter, sort })
      assert.deepEqual(
        pages.map((page) => page.length),
        [20, 5],
      )
      assert.equal(new Set(pages.flat().map(({ _id }) => _id)).size, 25)
    }
    const [first] = await zoo.pages({ filter, sort: { n: -1 } }, { limit: 2, skip: 1 })
    assert.deepEqual(
      first!.map(({ _id }) => _id),
      [47, 45],
    )
  })

  test('works in every command with a filter', async () => {
    const zoo = await collections.create(monkeys, {
      vector: { dimension: 2, metric: 'cosine' },
    })
    const filter = match('monkey')
    const counted = await zoo.run({ countDocuments: { filter } })
    assert.deepEqual(counted.status, { count: 3 })
    const one = await zoo.run({ findOne: { filter: match('bread') } })
    assert.equal(one.data!.document!['_id'], 2)
    const many = await zoo.run({
      updateMany: { filter, update: { $set: { seen: true, $vector: [1, 2] } } },
    })
    assert.deepEqual(many.status, { matchedCount: 3, modifiedCount: 3 })
    const near = await idsOf(zoo, { filter: match('tasty'), sort: { $vector: [1, 0] } })
    assert.deepEqual(near, [2])
    await zoo.run({
      updateOne: { filter: match('bread'), update: { $set: { $lexical: 'bread' } } },
    })
    assert.equal((await zoo.run({ countDocuments: { filter } })).status!['count'], 2)
    const deleted = await zoo.run({ deleteMany: { filter } })
    assert.deepEqual(deleted.status, { deletedCount: 2 })
    const left = await zoo.run({ findOneAndDelete: { filter: match('bread') } })
    assert.equal(left.data!.document!['_id'], 2)
  })

  test('is rejected with an invalid text, on other fields and within $not', async () => {
    const zoo = await collections.create(monkeys)
    const without = await collections.create([], off)
    const bad = 'FILTER_INVALID_EXPRESSION'
    for (const [target, filter, code] of [
      [zoo, match(5), bad],
      [zoo, match(null), bad],
      [zoo, match(['monkey']), bad],
      [zoo, { $not: match('monkey') }, bad],
      [zoo, { n: { $match: 'monkey' } }, bad],
      [zoo, { $vectorize: { $match: 'monkey' } }, bad],
      [zoo, { $lexical: 'monkey' }, bad],
      [zoo, { $lexical: { $eq: 'monkey' } }, bad],
      [zoo, { $lexical: { $exists: true } }, bad],
      [zoo, match('?!'), 'FILTER_INVALID_EXPRESSION'],
      [without, match('monkey'), 'LEXICAL_NOT_ENABLED_FOR_COLLECTION'],
    ] as const)
      for (const command of [
        { find: { filter } },
        { countDocuments: { filter } },
        { updateMany: { filter, update: {} } },
        { deleteMany: { filter } },
      ])
        await target.refuse(command, code)
  })
})

describe('a $lexical text', () => {
  const collections = new Collections()

  test('has at most 8192 bytes of terms, repeated terms included', async () => {
    const texts = await collections.create()
    const words = (count: number) => 'abcd '.repeat(count)
    await texts.insert({ _id: 1, $lexical: words(2048) })
    await texts.insert({ _id: 2, $lexical: `${'. '.repeat(50_000)}few words` })
    const { codes, body } = await texts.send({
      insertMany: {
        documents: [{ _id: 3, $lexical: words(2049) }, { _id: 4 }],
      },
    })
    assert.deepEqual(codes, ['LEXICAL_CONTENT_TOO_LONG'])
    assert.deepEqual(body.errors![0]!.documentIds, [3])
    assert.match(body.errors![0]!.message, /more than 8192 bytes/)
    assert.deepEqual(body.status, { insertedIds: [4] })
    await texts.refuse(
      {
        updateOne: {
          filter: { _id: 4 },
          update: { $set: { $lexical: words(2049) } },
        },
      },
      'LEXICAL_CONTENT_TOO_LONG',
    )
    assert.deepEqual(await idsOf(texts, { sort: { $lexical: 'abcd' } }), [1])
    assert.deepEqual(await idsOf(texts, { sort: { $lexical: 'few' } }), [2])
  })
})
