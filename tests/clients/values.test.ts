import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import {
  BigNumber,
  DataAPIVector,
  escapeFieldNames,
  ObjectId,
  UUID,
  vector,
  type Collection,
  type SomeId,
} from '@datastax/astra-db-ts'
import { everything, refusal, Service, type Document } from './client.ts'

const service = await Service.start()

describe('ids', () => {
  let collection: Collection<Document>
  before(async () => {
    collection = await service.collection([{ _id: 'other' }])
  })

  for (const id of [
    'text',
    'ünï✓code 🙂',
    ' ',
    '$and',
    'a.b/c?d=e&f',
    '0',
    0,
    -1.5,
    1e300,
    9007199254740991,
    true,
    false,
    null,
    new Date(0),
    new Date('2026-01-31T12:34:56.789Z'),
    new Date(-1),
    new UUID('4e1a9d2c-6b3f-4a58-9c07-1f2e3d4c5b6a'),
    UUID.v1(),
    UUID.v6(),
    UUID.v7(),
    new ObjectId('65f1c2d3e4a5b6c7d8e9f0a1'),
    new ObjectId(),
  ] as const)
    test(`can be ${typeof id} ${JSON.stringify(id)}`, async () => {
      assert.deepEqual(await collection.insertOne({ _id: id, v: 1 }), { insertedId: id })
      assert.deepEqual(await collection.findOne({ _id: id }), { _id: id, v: 1 })
      assert.deepEqual(await collection.find({ _id: { $in: [id] } }).toArray(), [
        { _id: id, v: 1 },
      ])
      const error = await refusal(collection.insertOne({ _id: id }))
      assert.equal(error.errorCode, 'DOCUMENT_ALREADY_EXISTS')
      const options = { returnDocument: 'after' } as const
      assert.deepEqual(
        await collection.findOneAndUpdate({ _id: id }, { $set: { v: 2 } }, options),
        { _id: id, v: 2 },
      )
      assert.deepEqual(await collection.deleteOne({ _id: id }), { deletedCount: 1 })
      assert.deepEqual(await everything(collection), [{ _id: 'other' }])
    })

  test('are distinct when their types differ', async () => {
    const ids: SomeId[] = [0, '0', false, null, new Date(0)]
    const { insertedIds } = await collection.insertMany(
      ids.map((_id) => ({ _id })),
      { ordered: true },
    )
    assert.deepEqual(insertedIds, ids)
    for (const _id of ids) assert.deepEqual(await collection.findOne({ _id }), { _id })
  })

  test('cannot be lists or objects', async () => {
    for (const _id of [[1], { a: 1 }]) {
      const error = await refusal(collection.insertOne({ _id: _id as unknown as string }))
      assert.equal(error.errorCode, 'SHRED_BAD_DOCID_TYPE')
    }
  })
})

describe('values', () => {
  test('are returned unchanged', async () => {
    const document = {
      _id: 'all',
      nothing: null,
      yes: true,
      no: false,
      empty: '',
      text: 'line\nbreak "quoted" \\ \u0000 \u2028 🙂 é',
      zero: 0,
      fraction: 0.1,
      tiny: 5e-324,
      huge: 1.7976931348623157e308,
      safe: Number.MIN_SAFE_INTEGER,
      date: new Date(1_700_000_000_123),
      uuid: new UUID('4e1a9d2c-6b3f-4a58-9c07-1f2e3d4c5b6a'),
      objectId: new ObjectId('65f1c2d3e4a5b6c7d8e9f0a1'),
      list: [1, 'a', null, [[]], {}, new Date(0)],
      object: { a: { b: { c: [{ d: {} }] } } },
    }
    const collection = await service.collection([document])
    assert.deepEqual(await collection.findOne({}), document)
    await collection.replaceOne({}, { ...document, _id: undefined })
    assert.deepEqual(await collection.findOne({}), document)
  })

  test('keep the order of their fields', async () => {
    const collection = await service.collection([{ z: 1, a: { y: 1, b: 2 }, _id: 1 }])
    const found = (await collection.findOne({}))!
    assert.deepEqual(Object.keys(found), ['_id', 'z', 'a'])
    assert.deepEqual(Object.keys(found['a'] as object), ['y', 'b'])
  })

  test('may have any field names', async () => {
    const names = ['a.b', 'a&b', 'constructor', 'toString', 'length', '10', ' ', 'é', '#']
    const document = Object.fromEntries(names.map((name, i) => [name, i]))
    const collection = await service.collection([{ _id: 1, ...document, in: document }])
    assert.deepEqual(await collection.findOne({}), { _id: 1, ...document, in: document })
    for (const [i, name] of names.entries())
      for (const path of [escapeFieldNames(name), escapeFieldNames('in', name)]) {
        const projection = { [path]: 1, _id: 0 } as const
        const found = await collection.findOne({ [path]: i }, { projection })
        const shown = { [name]: i }
        assert.deepEqual(found, path.startsWith('in.') ? { in: shown } : shown)
        await collection.updateOne({}, { $inc: { [path]: 1 } })
        assert.equal(await collection.countDocuments({ [path]: i + 1 }, 10), 1)
      }
  })

  test('are omitted when undefined', async () => {
    const collection = await service.collection([{ _id: 1, a: undefined, b: 1 }])
    assert.deepEqual(await collection.findOne({}), { _id: 1, b: 1 })
  })

  test('may be texts of 8000 bytes when indexed, and longer texts otherwise', async () => {
    const text = 'x'.repeat(8000)
    const list = Array.from({ length: 1000 }, (_, i) => i)
    const collection = await service.collection([{ _id: 1, text, list }])
    assert.deepEqual(await collection.findOne({}), { _id: 1, text, list })
    const error = await refusal(collection.insertOne({ text: `${text}x` }))
    assert.equal(error.errorCode, 'SHRED_DOC_LIMIT_VIOLATION')
    const loose = await service.collection([], { indexing: { deny: ['text'] } })
    const longer = 'é'.repeat(500_000)
    await loose.insertOne({ _id: 1, text: longer })
    assert.deepEqual(await loose.findOne({}), { _id: 1, text: longer })
  })
})

describe('big numbers', () => {
  const big = 123456789012345678901234567890n
  const precise = BigNumber('-0.1234567890123456789012345678901234567890')
  const serdes = {
    enableBigNumbers: {
      '*': 'number',
      big: 'bigint',
      'deep.*': 'bigint',
      precise: 'bignumber',
      text: 'string',
    },
  } as const

  test('keep every digit', async () => {
    const collection = await service.collection([], { serdes })
    const document = { _id: 1, big, deep: { a: -big, b: 1n }, precise, small: 0.5 }
    await collection.insertMany([document])
    assert.deepEqual(await collection.findOne({}), document)
    assert.deepEqual(await collection.find({}).toArray(), [document])
  })

  test('are compared and counted with every digit', async () => {
    const collection = await service.collection(
      [
        { _id: 1, big },
        { _id: 2, big: big + 1n },
        { _id: 3, big: big - 1n },
      ],
      { serdes },
    )
    assert.deepEqual(await collection.findOne({ big: big + 1n }), {
      _id: 2,
      big: big + 1n,
    })
    assert.deepEqual(await collection.find({ big: { $gt: big } }).toArray(), [
      { _id: 2, big: big + 1n },
    ])
    const sorted = await collection.find({}, { sort: { big: 1 } }).toArray()
    assert.deepEqual(
      sorted.map(({ _id }) => _id),
      [3, 1, 2],
    )
    await collection.updateOne({ _id: 1 }, { $inc: { big: 2 } })
    await collection.updateOne({ _id: 1 }, { $set: { text: big } })
    assert.deepEqual(await collection.findOne({ _id: 1 }), {
      _id: 1,
      big: big + 2n,
      text: BigNumber(big.toString()).toString(),
    })
  })

  test('can be ids', async () => {
    const enableBigNumbers = () => 'bigint' as const
    const collection = await service.collection([], { serdes: { enableBigNumbers } })
    const ids = [big, big + 1n, 7n]
    const inserted = await collection.insertMany(
      ids.map((_id) => ({ _id })),
      { ordered: true },
    )
    assert.deepEqual(inserted.insertedIds, ids)
    for (const _id of ids) assert.deepEqual(await collection.findOne({ _id }), { _id })
    const error = await refusal(collection.insertOne({ _id: big }))
    assert.equal(error.errorCode, 'DOCUMENT_ALREADY_EXISTS')
  })

  test('keep their digits when a client that reads plain numbers changes another field', async () => {
    const exact = await service.collection([{ _id: 1, big }], { serdes })
    const plain = service.connect().collection<Document>(exact.name)
    assert.deepEqual(await plain.findOne({}), { _id: 1, big: Number(big) })
    await plain.updateOne({}, { $set: { other: 1 } })
    assert.equal((await exact.findOne({}))!['big'], big)
  })

  test('are rejected beyond a hundred digits', async () => {
    const collection = await service.collection([], { serdes })
    const limit = BigInt('9'.repeat(100))
    await collection.insertOne({ _id: 1, big: limit })
    assert.deepEqual(await collection.findOne({}), { _id: 1, big: limit })
    const error = await refusal(collection.insertOne({ _id: 2, big: limit * 10n }))
    assert.equal(error.errorCode, 'SHRED_DOC_LIMIT_VIOLATION')
  })
})

describe('$vector', () => {
  const options = { vector: { dimension: 3, metric: 'cosine' } } as const
  const numbers = [0.25, -1, 3]

  for (const [name, given] of [
    ['a list', numbers],
    ['a DataAPIVector', vector(numbers)],
    ['a Float32Array', new Float32Array(numbers)],
    ['base64', { $binary: vector(numbers).asBase64() }],
  ] as const)
    test(`is stored when given as ${name}`, async () => {
      const collection = await service.collection([{ _id: 1, $vector: given }], options)
      assert.deepEqual(await collection.findOne({}), { _id: 1 })
      for (const projection of [{ $vector: 1 }, { '*': 1 }] as const) {
        const found = await collection.findOne({}, { projection })
        assert(found!['$vector'] instanceof DataAPIVector)
        assert.deepEqual(found!['$vector'].asArray(), numbers)
      }
    })

  test('is set, replaced and removed', async () => {
    const collection = await service.collection([{ _id: 1 }, { _id: 2 }], options)
    const project = { projection: { $vector: 1 } } as const
    await collection.updateOne({ _id: 1 }, { $set: { $vector: vector(numbers) } })
    const found = (await collection.findOne({ $vector: { $exists: true } }, project))!
    assert.equal(found._id, 1)
    assert.deepEqual((found['$vector'] as DataAPIVector).asArray(), numbers)
    await collection.updateOne({ _id: 1 }, { $set: { $vector: [1, 2, 3] } })
    const changed = (await collection.findOne({ _id: 1 }, project))!
    assert.deepEqual((changed['$vector'] as DataAPIVector).asArray(), [1, 2, 3])
    await collection.updateOne({ _id: 1 }, { $unset: { $vector: '' } })
    assert.deepEqual(await collection.findOne({ _id: 1 }, project), { _id: 1 })
  })

  test('must have the dimension of the collection', async () => {
    const collection = await service.collection([], options)
    const error = await refusal(collection.insertOne({ $vector: [1, 2] }))
    assert.equal(error.errorCode, 'INVALID_VECTOR_LENGTH')
  })

  test('requires a collection with vectors', async () => {
    const collection = await service.collection()
    const error = await refusal(collection.insertOne({ $vector: numbers }))
    assert.equal(error.errorCode, 'VECTOR_SEARCH_NOT_SUPPORTED')
  })
})

describe('$vectorize', () => {
  test('requires an embedding service', async () => {
    const collection = await service.collection([], { vector: { dimension: 3 } })
    for (const attempt of [
      () => collection.insertOne({ $vectorize: 'text' }),
      () => collection.updateOne({}, { $set: { $vectorize: 'text' } }, { upsert: true }),
      () => collection.findOne({}, { sort: { $vectorize: 'text' } }),
    ]) {
      const error = await refusal(attempt())
      assert.equal(error.errorCode, 'EMBEDDING_SERVICE_NOT_CONFIGURED')
    }
  })
})

describe('$lexical', () => {
  let collection: Collection<Document>
  before(async () => {
    collection = await service.collection([{ _id: 1, $lexical: 'the quick brown fox' }])
  })

  test('is stored, and returned only if the projection includes it', async () => {
    assert.deepEqual(await collection.findOne({}), { _id: 1 })
    const expected = { _id: 1, $lexical: 'the quick brown fox' }
    for (const projection of [{ $lexical: 1 }, { '*': 1 }] as const)
      assert.deepEqual(await collection.findOne({}, { projection }), expected)
  })

  test('is set and removed', async () => {
    await collection.updateOne({ _id: 1 }, { $set: { $lexical: 'a lazy dog' } })
    assert.deepEqual(await everything(collection), [{ _id: 1, $lexical: 'a lazy dog' }])
    await collection.updateOne({ _id: 1 }, { $unset: { $lexical: '' } })
    assert.deepEqual(await everything(collection), [{ _id: 1 }])
  })

  test('requires a collection with lexical search', async () => {
    const without = await service.collection([], { lexical: { enabled: false } })
    const error = await refusal(without.insertOne({ $lexical: 'text' }))
    assert.equal(error.errorCode, 'LEXICAL_NOT_ENABLED_FOR_COLLECTION')
  })
})
