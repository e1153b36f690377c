/** Sorts by $vector, in all commands that accept them. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { Collections, numbered, type Target } from './collections.ts'

const binary = (...numbers: number[]) => {
  const bytes = Buffer.alloc(numbers.length * 4)
  for (const [i, number] of numbers.entries()) bytes.writeFloatBE(number, i * 4)
  return { $binary: bytes.toString('base64') }
}

const plane = { vector: { dimension: 2, metric: 'cosine' } }

/** Documents sorted by their distance to [1, 0]; the last two have no vector. */
const compass = [
  { _id: 'east', n: 1, $vector: [1, 0] },
  { _id: 'north-east', n: 2, $vector: [1, 1] },
  { _id: 'north', n: 1, $vector: [0, 2] },
  { _id: 'west', n: 2, $vector: [-3, 0] },
  { _id: 'nowhere', n: 1 },
  { _id: 'nowhere else', n: 2, $vector: null },
]

const east = { $vector: [1, 0] }

async function idsOf(target: Target, find: object): Promise<unknown[]> {
  const { data } = await target.run({ find })
  assert.equal(data!.nextPageState, null)
  return data!.documents!.map(({ _id }) => _id)
}

describe('a sort by $vector', () => {
  const collections = new Collections()

  test('returns the most similar documents first, and none without a vector', async () => {
    const places = await collections.create(compass, plane)
    assert.deepEqual(await idsOf(places, { sort: east }), [
      'east',
      'north-east',
      'north',
      'west',
    ])
    assert.deepEqual(await idsOf(places, { sort: { $vector: binary(-1, -0.1) } }), [
      'west',
      'north',
      'north-east',
      'east',
    ])
  })

  test('returns an empty page when the collection is empty', async () => {
    const places = await collections.create([], plane)
    const { text } = await places.send({ find: { sort: east } })
    assert.equal(text, '{"data":{"documents":[],"nextPageState":null}}')
    const one = await places.send({ findOne: { sort: east } })
    assert.equal(one.text, '{"data":{"document":null}}')
  })

  test('returns the most similar documents that match the filter', async () => {
    const places = await collections.create(compass, plane)
    for (const [filter, expected] of [
      [{ n: 2 }, ['north-east', 'west']],
      [{ n: { $gt: 5 } }, []],
      [{ _id: 'west' }, ['west']],
      [{ _id: { $in: ['west', 'north', 'nowhere'] } }, ['north', 'west']],
      [{ $vector: { $exists: true }, n: 1 }, ['east', 'north']],
      [{ $or: [{ n: 1 }, { n: 2 }] }, ['east', 'north-east', 'north', 'west']],
    ] as const)
      assert.deepEqual(await idsOf(places, { sort: east, filter }), expected)
    const nearest = { sort: east, filter: { n: 2 }, options: { limit: 1 } }
    assert.deepEqual(await idsOf(places, nearest), ['north-east'])
  })

  test('returns the similarity of each metric, as computed by hand', async () => {
    const query = [0.15, 0.1, 0.1, 0.35, 0.55]
    const stored = [0.1, 0.05, 0.08, 0.3, 0.6]
    for (const [metric, expected] of [
      ['cosine', 0.994447],
      ['dot_product', 0.7315],
      ['euclidean', 0.989707],
    ] as const)
      for (const $vector of [stored, binary(...stored)]) {
        const vector = { dimension: 5, metric }
        const books = await collections.create([{ _id: 1, $vector }], { vector })
        for (const sent of [query, binary(...query)]) {
          const { data } = await books.run({
            find: { sort: { $vector: sent }, options: { includeSimilarity: true } },
          })
          const { $similarity } = data!.documents![0]!
          assert(Math.abs(($similarity as number) - expected) < 1e-6, String($similarity))
          assert(String($similarity).length <= 11, String($similarity))
        }
      }
  })

  test('returns the similarity under any projection, but only with includeSimilarity', async () => {
    const places = await collections.create([{ _id: 1, a: 1, $vector: [2, 0] }], plane)
    for (const [projection, shown] of [
      [undefined, '{"_id":1,"a":1,"$similarity":1.0}'],
      [{ '*': 0 }, '{"$similarity":1.0}'],
      [{ '*': 1 }, '{"_id":1,"a":1,"$vector":[2.0,0.0],"$similarity":1.0}'],
      [{ _id: 0, b: 1 }, '{"$similarity":1.0}'],
    ] as const) {
      const options = { includeSimilarity: true }
      const many = await places.send({ find: { sort: east, projection, options } })
      assert.equal(many.text, `{"data":{"documents":[${shown}],"nextPageState":null}}`)
      const one = await places.send({ findOne: { sort: east, projection, options } })
      assert.equal(one.text, `{"data":{"document":${shown}}}`)
    }
    const without = await places.run({ findOne: { sort: east } })
    assert.deepEqual(without.data!.document, { _id: 1, a: 1 })
    const options = { includeSimilarity: true }
    const unsorted = await places.run({ findOne: { options } })
    assert.deepEqual(unsorted.data!.document, { _id: 1, a: 1 })
    const sorted = await places.run({ findOne: { sort: { a: 1 }, options } })
    assert.deepEqual(sorted.data!.document, { _id: 1, a: 1 })
    for (const projection of [{ $similarity: 1 }, { $similarity: 0 }])
      await places.refuse(
        { find: { sort: east, projection } },
        'UNSUPPORTED_PROJECTION_PARAM',
      )
  })

  test('returns the sort vector in the same form, however the vector was sent', async () => {
    const places = await collections.create(compass, plane)
    const options = { includeSortVector: true }
    for (const $vector of [[0.1, 1e-7], binary(0.1, 1e-7)])
      for (const command of ['find', 'findOne']) {
        const { status } = await places.run({ [command]: { sort: { $vector }, options } })
        assert.deepEqual(status, { sortVector: [0.1, 1e-7] })
      }
    const none = await places.run({
      find: { sort: east, filter: { n: 9 }, options },
    })
    assert.deepEqual(none.data!.documents, [])
    assert.deepEqual(none.status, { sortVector: [1, 0] })
    const { status } = await places.run({ find: { sort: { n: 1 }, options } })
    assert.deepEqual(status, { sortVector: null })
  })

  test('is rejected when it is not a valid vector of the collection', async () => {
    const places = await collections.create(compass, plane)
    const plain = await collections.create(numbered(2))
    const cases: readonly (readonly [Target, object, string])[] = [
      [places, { $vector: [] }, 'SHRED_BAD_VECTOR_SIZE'],
      [places, { $vector: [1, 'x'] }, 'SHRED_BAD_VECTOR_VALUE'],
      [places, { $vector: [1, null] }, 'SHRED_BAD_VECTOR_VALUE'],
      [places, { $vector: 5 }, 'SORT_CLAUSE_VALUE_INVALID'],
      [places, { $vector: 1 }, 'SORT_CLAUSE_VALUE_INVALID'],
      [places, { $vector: 'text' }, 'SORT_CLAUSE_VALUE_INVALID'],
      [places, { $vector: null }, 'SORT_CLAUSE_VALUE_INVALID'],
      [places, { $vector: { $binary: 'AAA=' } }, 'SORT_CLAUSE_VALUE_INVALID'],
      [places, { $vector: { $binary: '?' } }, 'SORT_CLAUSE_VALUE_INVALID'],
      [places, { $vector: [1] }, 'INVALID_VECTOR_LENGTH'],
      [places, { $vector: [1, 2, 3] }, 'INVALID_VECTOR_LENGTH'],
      [places, { $vector: binary(1, 2, 3) }, 'INVALID_VECTOR_LENGTH'],
      [places, { $vector: [0, 0] }, 'SHRED_BAD_VECTOR_VALUE'],
      [places, { $vector: [1e-7, -1e-6] }, 'SHRED_BAD_VECTOR_VALUE'],
      [places, { $vector: [1, 2e17] }, 'SHRED_BAD_VECTOR_VALUE'],
      [places, { $vector: [1, 1e300] }, 'SHRED_BAD_VECTOR_VALUE'],
      [places, { $vector: binary(1, NaN) }, 'SHRED_BAD_VECTOR_VALUE'],
      [places, { $vector: binary(-Infinity, 1) }, 'SHRED_BAD_VECTOR_VALUE'],
      [places, { $vector: [1, 2], n: 1 }, 'SORT_CLAUSE_INVALID'],
      [places, { n: 1, $vector: [1, 2] }, 'SORT_CLAUSE_INVALID'],
      [places, { $vector: [1, 2], $lexical: 'x' }, 'SORT_CLAUSE_INVALID'],
      [plain, { $vector: [1, 2] }, 'VECTOR_SEARCH_NOT_SUPPORTED'],
      [plain, { $vectorize: 'text' }, 'EMBEDDING_SERVICE_NOT_CONFIGURED'],
      [places, { $vectorize: 'text' }, 'EMBEDDING_SERVICE_NOT_CONFIGURED'],
      [places, { $vectorize: ' ' }, 'SORT_CLAUSE_VALUE_INVALID'],
      [places, { $vectorize: 5 }, 'SORT_CLAUSE_VALUE_INVALID'],
    ]
    for (const [target, sort, code] of cases)
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
    assert.equal((await places.sorted()).length, compass.length)
  })

  test('accepts a zero vector unless the metric is cosine', async () => {
    for (const metric of ['euclidean', 'dot_product']) {
      const vector = { dimension: 2, metric }
      const places = await collections.create([{ _id: 1, $vector: [0, 0] }], { vector })
      assert.deepEqual(await idsOf(places, { sort: { $vector: [0, 0] } }), [1])
    }
  })

  test('returns one page of at most 1000 documents, the most similar first', async () => {
    const places = await collections.create(
      Array.from({ length: 1010 }, (_, n) => ({ _id: n, $vector: [1, n] })),
      { vector: { dimension: 2, metric: 'euclidean' } },
    )
    const upTo = (count: number) => Array.from({ length: count }, (_, n) => n)
    assert.deepEqual(await idsOf(places, { sort: east }), upTo(1000))
    const warningsOf = async (find: object) =>
      ((await places.run({ find })).status?.warnings ?? []).map(
        ({ errorCode, message }) => {
          assert.match(message, /only the nearest 1000 documents/)
          return errorCode
        },
      )
    // The reply warns only if it omits documents that match and that the limit allows.
    const truncated = ['VECTOR_SEARCH_RESULTS_TRUNCATED']
    assert.deepEqual(await warningsOf({ sort: east }), truncated)
    for (const limit of [1, 1000])
      assert.deepEqual(await warningsOf({ sort: east, options: { limit } }), [])
    const above = (least: number) => ({ sort: east, filter: { _id: { $gte: least } } })
    assert.deepEqual(await warningsOf(above(9)), truncated)
    assert.deepEqual(await warningsOf(above(10)), [])
    const { status } = await places.run({ findOne: { sort: east } })
    assert.equal(status, undefined)
    for (const limit of [1, 21, 1000])
      assert.deepEqual(await idsOf(places, { sort: east, options: { limit } }), upTo(limit))
    for (const [options, field] of [
      [{ limit: 1001 }, 'limit'],
      [{ skip: 0 }, 'skip'],
      [{ skip: 1, limit: 5 }, 'skip'],
    ] as const) {
      const error = await places.refuse(
        { find: { sort: east, options } },
        'COMMAND_FIELD_VALUE_INVALID',
      )
      assert.match(error.message, new RegExp(`command\\.options\\.${field}`))
    }
    const { data } = await places.run({ find: {} })
    await places.refuse(
      { find: { sort: east, options: { pageState: data!.nextPageState } } },
      'SORT_CLAUSE_INVALID',
    )
    assert.deepEqual(
      await idsOf(places, { sort: east, options: { limit: 1, pageState: '' } }),
      [0],
    )
  })

  test('finds documents regardless of the indexing option of the collection', async () => {
    for (const indexing of [{ deny: ['*'] }, { allow: ['n'] }]) {
      const places = await collections.create(compass, { ...plane, indexing })
      assert.equal((await idsOf(places, { sort: east })).length, 4)
    }
  })

  test('selects the document that updateOne and deleteOne change', async () => {
    const places = await collections.create(compass, plane)
    const { status } = await places.run({
      updateOne: { filter: { n: 2 }, sort: east, update: { $set: { hit: true } } },
    })
    assert.deepEqual(status, { matchedCount: 1, modifiedCount: 1 })
    const hit = await places.run({ findOne: { filter: { hit: true } } })
    assert.equal(hit.data!.document!['_id'], 'north-east')
    const deleted = await places.run({ deleteOne: { filter: {}, sort: east } })
    assert.deepEqual(deleted.status, { deletedCount: 1 })
    assert.deepEqual(await idsOf(places, { sort: east }), ['north-east', 'north', 'west'])
  })

  test('selects the document that findOneAnd commands change and return', async () => {
    const places = await collections.create(compass, plane)
    const updated = await places.run({
      findOneAndUpdate: {
        sort: { $vector: [-1, 0] },
        update: { $set: { $vector: [5, 0] } },
        projection: { $vector: 1 },
        options: { returnDocument: 'after' },
      },
    })
    assert.deepEqual(updated.data!.document, { _id: 'west', n: 2, $vector: [5, 0] })
    // Both documents point east now, and the _id breaks the tie.
    assert.deepEqual((await idsOf(places, { sort: east })).slice(0, 2), ['east', 'west'])
    const replaced = await places.run({
      findOneAndReplace: { sort: east, filter: { n: 1 }, replacement: { n: 7 } },
    })
    assert.equal(replaced.data!.document!['_id'], 'east')
    const deleted = await places.run({ findOneAndDelete: { sort: east } })
    assert.equal(deleted.data!.document!['_id'], 'west')
    assert.deepEqual(await idsOf(places, { sort: east }), ['north-east', 'north'])
    const nothing = await places.run({
      findOneAndDelete: { sort: east, filter: { n: 7 } },
    })
    assert.equal(nothing.data!.document, null)
    assert.deepEqual(nothing.status, { deletedCount: 0 })
  })

  test('applies the updates of all concurrent requests', async () => {
    const places = await collections.create(compass, plane)
    const update = { $inc: { hits: 1 } }
    await Promise.all(
      Array.from({ length: 20 }, () => places.run({ updateOne: { sort: east, update } })),
    )
    const { data } = await places.run({ findOne: { filter: { _id: 'east' } } })
    assert.equal(data!.document!['hits'], 20)
  })

  test('allows an upsert when nothing is found', async () => {
    const places = await collections.create(compass, plane)
    const { status } = await places.run({
      updateOne: {
        filter: { _id: 'south' },
        sort: east,
        update: { $set: { $vector: [0, -1] } },
        options: { upsert: true },
      },
    })
    assert.deepEqual(status, { matchedCount: 0, modifiedCount: 0, upsertedId: 'south' })
    assert.deepEqual(await idsOf(places, { sort: { $vector: [0, -1] } }), [
      'south',
      'east',
      'west',
      'north-east',
      'north',
    ])
  })

  test('finds earlier writes immediately', async () => {
    const places = await collections.create(compass, plane)
    const first = async () =>
      (await idsOf(places, { sort: east, options: { limit: 1 } }))[0]
    const set = (_id: string, $set: object) =>
      places.run({ updateOne: { filter: { _id }, update: { $set } } })
    await set('east', { $vector: null })
    assert.equal(await first(), 'north-east')
    await set('nowhere', { $vector: [10, 1] })
    assert.equal(await first(), 'nowhere')
    await places.run({ deleteMany: { filter: { n: 1 } } })
    assert.equal(await first(), 'north-east')
    await places.run({ deleteMany: {} })
    assert.equal(await first(), undefined)
  })

  test('returns the same documents after a restart', async () => {
    const places = await collections.create(compass, plane)
    await collections.restart()
    assert.deepEqual(await idsOf(places, { sort: east, options: { limit: 2 } }), [
      'east',
      'north-east',
    ])
  })
})

describe('a sort by $vector on a server with a configured limit', () => {
  const collections = new Collections({ vectorLimitMax: 2 })

  test('returns no more documents than the limit', async () => {
    const places = await collections.create(compass, plane)
    assert.deepEqual(await idsOf(places, { sort: east }), ['east', 'north-east'])
    await places.refuse(
      { find: { sort: east, options: { limit: 3 } } },
      'COMMAND_FIELD_VALUE_INVALID',
    )
  })
})
