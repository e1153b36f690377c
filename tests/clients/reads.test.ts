import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import {
  CollectionFindCursor,
  TooManyDocumentsToCountError,
  type Collection,
} from '@datastax/astra-db-ts'
import {
  assertUnchangeable,
  numbered,
  refusal,
  Service,
  thrown,
  type Document,
} from './client.ts'

const service = await Service.start()
const documents = numbered(157)
const collection = await service.collection(documents)

describe('a cursor of find', () => {
  test('returns every document once, on several pages', async () => {
    const cursor = collection.find({})
    assert(cursor instanceof CollectionFindCursor)
    assert.equal(cursor.state, 'idle')
    const found = await cursor.toArray()
    assert.deepEqual(byId(found), documents)
    assert.equal(cursor.state, 'closed')
    assert.equal(cursor.consumed(), 157)
  })

  test('can be iterated, and is closed when the loop ends early', async () => {
    const ids = new Set<unknown>()
    for await (const { _id } of collection.find({})) ids.add(_id)
    assert.equal(ids.size, 157)
    const cursor = collection.find({})
    const seen: Document[] = []
    for await (const document of cursor) if (seen.push(document) === 30) break
    assert.equal(cursor.consumed(), 30)
    assert.equal(cursor.state, 'closed')
  })

  test('passes each document to a function until the function returns false', async () => {
    let count = 0
    await collection.find({}).forEach(() => {
      count++
    })
    assert.equal(count, 157)
    count = 0
    await collection.find({}).forEach(() => ++count < 45)
    assert.equal(count, 45)
  })

  test('returns documents one by one', async () => {
    const cursor = collection.find({ n: { $lt: 23 } }, { sort: { n: 1 } })
    const ids: unknown[] = []
    while (await cursor.hasNext()) ids.push((await cursor.next())!._id)
    assert.deepEqual(ids, upTo(23))
    assert.equal(await cursor.next(), null)
    assert.equal(await cursor.hasNext(), false)
  })

  test('returns the buffered documents', async () => {
    const cursor = collection.find({}, { sort: { n: 1 } })
    assert.deepEqual(cursor.consumeBuffer(), [])
    assert.deepEqual(await cursor.next(), documents[0])
    assert.equal(cursor.buffered(), 19)
    assert.deepEqual(cursor.consumeBuffer(3), documents.slice(1, 4))
    assert.equal(cursor.buffered(), 16)
    assert.deepEqual(await cursor.toArray(), documents.slice(4))
  })

  test('starts again when rewound', async () => {
    const cursor = collection.find({}, { sort: { n: -1 } })
    for (let i = 0; i < 25; i++) await cursor.next()
    cursor.rewind()
    assert.equal(cursor.consumed(), 0)
    assert.deepEqual(await cursor.toArray(), documents.toReversed())
  })

  test('can be cloned', async () => {
    const cursor = collection.find({ even: true }, { sort: { n: 1 }, limit: 33 })
    const first = await cursor.toArray()
    assert.equal(first.length, 33)
    assert.deepEqual(await cursor.clone().toArray(), first)
  })

  test('maps documents', async () => {
    const cursor = collection
      .find({}, { sort: { n: 1 } })
      .map(({ n }) => Number(n) + 1)
      .map((n) => `no. ${n}`)
    assert.deepEqual(
      await cursor.toArray(),
      upTo(157).map((n) => `no. ${n + 1}`),
    )
  })

  test('accepts filter, sort, skip, limit and projection from its methods', async () => {
    const cursor = collection
      .find({})
      .filter({ even: false })
      .sort({ n: -1 })
      .skip(10)
      .limit(45)
      .project<{ n: number }>({ n: 1, _id: 0 })
      .map(({ n }) => n)
    const odd = upTo(157).filter((n) => n % 2 === 1)
    assert.deepEqual(await cursor.toArray(), odd.toReversed().slice(10, 55))
  })

  test('cannot be changed after it has started', async () => {
    await assertUnchangeable(collection.find({}))
  })

  for (const limit of [1, 19, 20, 21, 40, 156, 157, 158])
    test(`returns at most ${limit} documents in total when the limit is ${limit}`, async () => {
      const expected = Math.min(limit, 157)
      const found = await collection.find({}, { limit }).toArray()
      assert.equal(new Set(found.map(({ _id }) => _id)).size, expected)
      const sorted = await collection.find({}, { limit, sort: { n: 1 } }).toArray()
      assert.deepEqual(sorted, documents.slice(0, expected))
    })

  test('treats a limit of 0 as no limit', async () => {
    assert.equal((await collection.find({}).limit(0).toArray()).length, 157)
  })

  test('returns the documents with a hundred listed ids', async () => {
    const wanted = upTo(100).map((n) => n + 50)
    const found = await collection.find({ _id: { $in: wanted } }).toArray()
    assert.deepEqual(byId(found), documents.slice(50, 150))
  })

  test('returns an empty result when nothing matches', async () => {
    const cursor = collection.find({ n: -1 })
    assert.equal(await cursor.hasNext(), false)
    assert.deepEqual(await collection.find({ n: -1 }).toArray(), [])
  })
})

describe('sorts', () => {
  for (const [name, sort, expected] of [
    ['in ascending order', { n: 1 }, documents],
    ['in descending order', { n: -1 }, documents.toReversed()],
    ['by id', { _id: -1 }, documents.toReversed()],
    [
      'by two fields',
      { even: -1, n: 1 },
      [...documents.filter(({ even }) => even), ...documents.filter(({ even }) => !even)],
    ],
    [
      'with ties broken by id',
      { even: 1 },
      [...documents.filter(({ even }) => !even), ...documents.filter(({ even }) => even)],
    ],
    ['by a field that no document has', { absent: -1 }, documents],
  ] as const)
    test(`order documents across pages ${name}`, async () => {
      assert.deepEqual(await collection.find({}, { sort }).toArray(), expected)
    })

  test('apply skip only to the first page', async () => {
    for (const skip of [0, 1, 20, 35, 156, 157, 500]) {
      const found = await collection.find({}, { sort: { n: 1 }, skip }).toArray()
      assert.deepEqual(found, documents.slice(skip))
    }
  })

  test('order values of different types', async () => {
    const mixed = [
      { _id: 0 },
      { _id: 1, v: null },
      { _id: 2, v: -1 },
      { _id: 3, v: 20 },
      { _id: 4, v: '10' },
      { _id: 5, v: 'a' },
      { _id: 6, v: false },
      { _id: 7, v: true },
      { _id: 8, v: new Date(0) },
      { _id: 9, v: new Date(1) },
    ]
    const types = await service.collection(mixed.toReversed())
    assert.deepEqual(await types.find({}, { sort: { v: 1 } }).toArray(), mixed)
    const down = await types.find({}, { sort: { v: -1 } }).toArray()
    assert.deepEqual(down, mixed.toReversed())
  })

  test('are required for skip', async () => {
    const error = await refusal(collection.find({}).skip(1).toArray())
    assert.equal(error.errorCode, 'COMMAND_FIELD_VALUE_INVALID')
  })
})

describe('pages', () => {
  for (const options of [{}, { sort: { n: -1 as const } }])
    test(`are fetched one by one with the options ${JSON.stringify(options)}`, async () => {
      const cursor = collection.find({}, options)
      const sizes: number[] = []
      const found: Document[] = []
      for (;;) {
        const { result, nextPageState } = await cursor.fetchNextPage()
        sizes.push(result.length)
        found.push(...result)
        if (nextPageState === null) break
      }
      assert.deepEqual(sizes, [20, 20, 20, 20, 20, 20, 20, 17])
      assert.deepEqual(byId(found), documents)
      assert.deepEqual((await cursor.fetchNextPage()).result, [])
    })

  test('continue from the page state of another cursor', async () => {
    const options = { sort: { n: 1 as const }, limit: 100 }
    const first = await collection.find({}, options).fetchNextPage()
    assert.deepEqual(first.result, documents.slice(0, 20))
    const initialPageState = first.nextPageState!
    const rest = await collection.find({}, { ...options, initialPageState }).toArray()
    assert.deepEqual(rest, documents.slice(20, 100))
    const again = collection.find({}, options).initialPageState(initialPageState)
    assert.deepEqual(await again.toArray(), rest)
  })

  test('are rejected with the page state of another query', async () => {
    const { nextPageState } = await collection.find({}).fetchNextPage()
    const other = collection.find({ even: true }).initialPageState(nextPageState!)
    await refusal(other.toArray())
    await refusal(collection.find({}).initialPageState('no page at all').toArray())
  })

  test('do not end with an empty page', async () => {
    const forty = await service.collection(numbered(40))
    const cursor = forty.find({})
    assert.notEqual((await cursor.fetchNextPage()).nextPageState, null)
    assert.equal((await cursor.fetchNextPage()).nextPageState, null)
  })

  test('continue after their documents are deleted', async () => {
    const shrinking = await service.collection(numbered(45))
    const seen: unknown[] = []
    for await (const { _id } of shrinking.find({}, { sort: { n: 1 } })) {
      seen.push(_id)
      await shrinking.deleteOne({ _id })
    }
    assert.deepEqual(seen, upTo(45))
    assert.equal(await shrinking.countDocuments({}, 10), 0)
  })
})

describe('filters', () => {
  const people = [
    { _id: 'a', name: 'Ann', age: 30, tags: ['x', 'y'], at: new Date(1000), pet: null },
    { _id: 'b', name: 'Bob', age: 40, tags: ['y'], address: { city: 'Berlin', zip: 1 } },
    { _id: 'c', name: 'Cid', age: 50, tags: [], 'dotted.name': 1, 'a&b': 2 },
  ]
  let few: Collection<Document>
  before(async () => {
    few = await service.collection(people)
  })

  for (const [filter, ids] of [
    [{}, 'abc'],
    [{ name: 'Bob' }, 'b'],
    [{ age: { $gt: 30 } }, 'bc'],
    [{ age: { $gte: 30, $lt: 50 } }, 'ab'],
    [{ age: { $lte: 40 }, name: { $ne: 'Ann' } }, 'b'],
    [{ name: { $in: ['Ann', 'Cid', 'Dee'] } }, 'ac'],
    [{ name: { $nin: ['Ann', 'Cid'] } }, 'b'],
    [{ tags: 'y' }, 'ab'],
    [{ tags: { $all: ['x', 'y'] } }, 'a'],
    [{ tags: { $size: 0 } }, 'c'],
    [{ 'tags.0': 'y' }, 'b'],
    [{ pet: null }, 'a'],
    [{ pet: { $exists: false } }, 'bc'],
    [{ 'address.city': 'Berlin' }, 'b'],
    [{ address: { city: 'Berlin', zip: 1 } }, 'b'],
    [{ at: new Date(1000) }, 'a'],
    [{ at: { $lt: new Date(1001) } }, 'a'],
    [{ 'dotted&.name': 1 }, 'c'],
    [{ 'a&&b': 2 }, 'c'],
    [{ $or: [{ age: 30 }, { name: 'Cid' }] }, 'ac'],
    [{ $and: [{ age: { $gt: 30 } }, { tags: 'y' }] }, 'b'],
    [{ $not: { age: { $gt: 30 } } }, 'a'],
    [{ _id: 'c' }, 'c'],
  ] as const)
    test(`match documents by ${JSON.stringify(filter)}`, async () => {
      const found = await few.find(filter as Document, { sort: { _id: 1 } }).toArray()
      assert.deepEqual(
        found,
        people.filter(({ _id }) => ids.includes(_id)),
      )
    })

  test('that the server rejects close the cursor', async () => {
    const cursor = few.find({ age: { $near: 30 } })
    const error = await refusal(cursor.toArray())
    assert.equal(error.errorCode, 'FILTER_UNSUPPORTED_OPERATOR')
    assert(error.message.includes('$near'))
    assert.equal(cursor.state, 'closed')
  })
})

describe('projections', () => {
  const document = {
    _id: 'a',
    name: 'Ann',
    address: { city: 'Berlin', zip: 1 },
    list: [1, 2, 3, 4],
  }
  let one: Collection<Document>
  before(async () => {
    one = await service.collection([document])
  })

  for (const [projection, expected] of [
    [{ name: 1 }, { _id: 'a', name: 'Ann' }],
    [{ name: true, _id: false }, { name: 'Ann' }],
    [
      { list: 0, name: 0 },
      { _id: 'a', address: { city: 'Berlin', zip: 1 } },
    ],
    [
      { 'address.zip': 0, list: 0, name: 0 },
      { _id: 'a', address: { city: 'Berlin' } },
    ],
    [{ list: { $slice: -2 } }, { ...document, list: [3, 4] }],
    [
      { list: { $slice: [1, 2] }, name: 1 },
      { _id: 'a', name: 'Ann', list: [2, 3] },
    ],
    [{ '*': 1 }, document],
    [{ '*': 0 }, {}],
    [{}, document],
  ] as const)
    test(`select the returned fields: ${JSON.stringify(projection)}`, async () => {
      const options = { projection: structuredClone(projection) as Record<string, 0 | 1> }
      assert.deepEqual(await one.findOne({}, options), expected)
      assert.deepEqual(await one.find({}, options).toArray(), [expected])
    })
})

describe('findOne', () => {
  test('returns one document, or null when nothing matches', async () => {
    assert.deepEqual(await collection.findOne({ n: 77 }), documents[77])
    assert.equal(await collection.findOne({ n: 777 }), null)
  })

  test('returns the first document in sort order', async () => {
    assert.deepEqual(await collection.findOne({}, { sort: { n: -1 } }), documents[156])
    const sort = { even: 1, n: -1 } as const
    const found = await collection.findOne({}, { sort, projection: { n: 1, _id: 0 } })
    assert.deepEqual(found, { n: 155 })
  })

  test('accepts options of a vector search without a vector sort', async () => {
    const options = { includeSimilarity: true }
    assert.deepEqual(await collection.findOne({ n: 1 }, options), documents[1])
    const cursor = collection.find({ n: 1 }, { includeSortVector: true })
    assert.equal(await cursor.getSortVector(), null)
    assert.deepEqual(await cursor.toArray(), [documents[1]])
  })
})

describe('countDocuments', () => {
  test('counts all, some or no documents', async () => {
    assert.equal(await collection.countDocuments({}, 1000), 157)
    assert.equal(await collection.countDocuments({ even: true }, 1000), 79)
    assert.equal(await collection.countDocuments({ _id: { $in: [1, 2, -1] } }, 1000), 2)
    assert.equal(await collection.countDocuments({ n: -1 }, 1000), 0)
  })

  test('fails when the count exceeds the upper bound of the caller', async () => {
    assert.equal(await collection.countDocuments({}, 157), 157)
    const error = await thrown(
      TooManyDocumentsToCountError,
      collection.countDocuments({}, 156),
    )
    assert.equal(error.limit, 156)
    assert.equal(error.hitServerLimit, false)
  })

  test('fails when the count exceeds the upper bound of the service', async () => {
    const many = await service.collection()
    await many.insertMany(numbered(1000), { chunkSize: 100 })
    assert.equal(await many.countDocuments({}, 5000), 1000)
    await many.insertOne({})
    const error = await thrown(TooManyDocumentsToCountError, many.countDocuments({}, 5000))
    assert.equal(error.limit, 1000)
    assert.equal(error.hitServerLimit, true)
    assert.equal(await many.countDocuments({ n: { $lt: 900 } }, 5000), 900)
  })
})

test('estimatedDocumentCount returns an estimate', async () => {
  assert.equal(await collection.estimatedDocumentCount(), 157)
})

describe('distinct', () => {
  test('returns each value once', async () => {
    assert.deepEqual((await collection.distinct('even', {})).sort(), [false, true])
    const values = await collection.distinct('n', { even: true })
    assert.equal(values.length, 79)
  })

  test('returns values within lists and objects', async () => {
    const nested = await service.collection([
      { _id: 1, tags: ['a', 'b'], deep: { list: [{ v: 1 }, { v: 2 }] } },
      { _id: 2, tags: ['b', 'c'], deep: { list: [{ v: 2 }, { v: 3 }] } },
      { _id: 3 },
    ])
    assert.deepEqual((await nested.distinct('tags', {})).sort(), ['a', 'b', 'c'])
    assert.deepEqual((await nested.distinct('deep.list.v', {})).sort(), [1, 2, 3])
    assert.deepEqual((await nested.distinct('deep.list.0.v', {})).sort(), [1, 2])
    assert.deepEqual(await nested.distinct('tags.0', { _id: 2 }), ['b'])
  })
})

function upTo(count: number): number[] {
  return Array.from({ length: count }, (_, n) => n)
}

function byId(found: readonly Document[]): Document[] {
  return found.toSorted((a, b) => Number(a['_id']) - Number(b['_id']))
}
