import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { Collections, numbered } from './collections.ts'

describe('insertMany', () => {
  const collections = new Collections()

  test('inserts documents of any shapes and lists their ids in the order sent', async () => {
    const books = await collections.create()
    const { status } = await books.run({
      insertMany: { documents: [{ _id: 'b', a: 1 }, { title: 'Emma' }, { _id: 3, b: [] }] },
    })
    const [first, second, third] = status!['insertedIds'] as unknown[]
    assert.deepEqual([first, third], ['b', 3])
    assert.equal(typeof second, 'string')
    assert.equal((await books.all()).length, 3)
  })

  test('accepts 100 documents and no more', async () => {
    const books = await collections.create()
    await books.run({ insertMany: { documents: numbered(100) } })
    const error = await books.refuse(
      { insertMany: { documents: numbered(101) } },
      'COMMAND_FIELD_VALUE_INVALID',
    )
    assert.match(error.message, /command\.documents.*101.*100/)
    assert.equal(error.status, undefined)
    assert.equal((await books.all()).length, 100)
  })

  test('requires at least one document', async () => {
    const books = await collections.create()
    await books.refuse({ insertMany: { documents: [] } }, 'COMMAND_FIELD_VALUE_INVALID')
    await books.refuse({ insertMany: {} }, 'COMMAND_FIELD_VALUE_INVALID')
    await books.refuse({ insertMany: { documents: {} } }, 'REQUEST_STRUCTURE_MISMATCH')
    await books.refuse(
      { insertMany: { documents: [{}], options: { order: true } } },
      'COMMAND_FIELD_UNKNOWN',
    )
    await books.refuse(
      { insertMany: { documents: [{}], options: { ordered: 'yes' } } },
      'REQUEST_STRUCTURE_MISMATCH',
    )
  })

  const mixed = [
    { _id: 1 },
    { _id: 0, first: false },
    { _id: 'bad', $x: 1 },
    'text',
    { _id: 2 },
    { _id: 2, again: true },
    { _id: '' },
    { _id: 4 },
  ]
  const failed = [
    ['DOCUMENT_ALREADY_EXISTS', [0]],
    ['SHRED_BAD_FIELD_NAME', ['bad']],
    ['SHRED_BAD_DOCUMENT_TYPE', undefined],
    ['DOCUMENT_ALREADY_EXISTS', [2]],
    ['SHRED_BAD_DOCID_VALUE', undefined],
  ]

  test('inserts valid documents and reports the invalid documents in order', async () => {
    const books = await collections.create([{ _id: 0, first: true }])
    const { body } = await books.send({ insertMany: { documents: mixed } })
    assert.deepEqual(body.status, { insertedIds: [1, 2, 4] })
    assert.deepEqual(
      body.errors!.map(({ errorCode, documentIds }) => [errorCode, documentIds]),
      failed,
    )
    assert.deepEqual(await books.sorted(), [
      { _id: 0, first: true },
      { _id: 1 },
      { _id: 2 },
      { _id: 4 },
    ])
  })

  test('stops at the first failure when ordered', async () => {
    const books = await collections.create([{ _id: 0, first: true }])
    const { body } = await books.send({
      insertMany: { documents: mixed, options: { ordered: true } },
    })
    assert.deepEqual(body.status, { insertedIds: [1] })
    assert.deepEqual(
      body.errors!.map(({ errorCode }) => errorCode),
      ['DOCUMENT_ALREADY_EXISTS'],
    )
    assert.deepEqual(await books.sorted(), [{ _id: 0, first: true }, { _id: 1 }])
  })

  test('writes the documents before an invalid one when ordered', async () => {
    const books = await collections.create()
    const { body } = await books.send({
      insertMany: {
        documents: [{ _id: 1 }, { _id: 2, $x: 1 }, { _id: 3 }],
        options: { ordered: true },
      },
    })
    assert.deepEqual(body.status, { insertedIds: [1] })
    assert.deepEqual(await books.all(), [{ _id: 1 }])
  })

  test('returns a response for each document with returnDocumentResponses', async () => {
    const books = await collections.create([{ _id: 0 }])
    const { body } = await books.send({
      insertMany: { documents: mixed, options: { returnDocumentResponses: true } },
    })
    assert.deepEqual(body.status, {
      documentResponses: [
        { _id: 1, status: 'OK' },
        { _id: 0, status: 'ERROR', errorsIdx: 0 },
        { _id: 'bad', status: 'ERROR', errorsIdx: 1 },
        { status: 'ERROR', errorsIdx: 2 },
        { _id: 2, status: 'OK' },
        { _id: 2, status: 'ERROR', errorsIdx: 3 },
        { status: 'ERROR', errorsIdx: 4 },
        { _id: 4, status: 'OK' },
      ],
    })
    assert.equal(body.errors!.length, 5)
  })

  test('reports skipped documents in the responses when ordered', async () => {
    const books = await collections.create()
    const { body } = await books.send({
      insertMany: {
        documents: [{ _id: 'd1' }, { _id: 'd1' }, { _id: 'd2' }, {}],
        options: { ordered: true, returnDocumentResponses: true },
      },
    })
    assert.deepEqual(body.status, {
      documentResponses: [
        { _id: 'd1', status: 'OK' },
        { _id: 'd1', status: 'ERROR', errorsIdx: 0 },
        { _id: 'd2', status: 'SKIPPED' },
        { status: 'SKIPPED' },
      ],
    })
  })

  test('returns a response for each document when none fails', async () => {
    const books = await collections.create()
    const answer = await books.send({
      insertMany: { documents: [{ _id: 1 }], options: { returnDocumentResponses: true } },
    })
    assert.equal(answer.text, '{"status":{"documentResponses":[{"_id":1,"status":"OK"}]}}')
  })

  test('returns an empty list of ids when all documents are invalid', async () => {
    const books = await collections.create()
    const { body } = await books.send({ insertMany: { documents: [{ $x: 1 }, 5] } })
    assert.deepEqual(body.status, { insertedIds: [] })
    assert.equal(body.errors!.length, 2)
  })

  test('inserts nothing when a search field is not supported by the collection or has an invalid value', async () => {
    const books = await collections.create()
    for (const [bad, code] of [
      [{ $vector: [1] }, 'VECTOR_SEARCH_NOT_SUPPORTED'],
      [{ $vectorize: 'text' }, 'EMBEDDING_SERVICE_NOT_CONFIGURED'],
      [{ $vectorize: {} }, 'INVALID_VECTORIZE_VALUE_TYPE'],
      [{ $vectorize: null, $vector: null }, 'INVALID_USAGE_OF_VECTORIZE'],
      [{ $hybrid: 1 }, 'HYBRID_FIELD_UNSUPPORTED_VALUE_TYPE'],
    ] as const) {
      const error = await books.refuse({ insertMany: { documents: [{}, {}, bad] } }, code)
      assert.equal(error.status, undefined)
    }
    assert.deepEqual(await books.all(), [])
  })

  test('succeeds for exactly one of concurrent inserts of an _id', async () => {
    const books = await collections.create()
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, n) =>
        books.send({ insertMany: { documents: [{ _id: 'same', n }, { _id: `own${n}` }] } }),
      ),
    )
    const won = answers.filter(({ codes }) => codes.length === 0)
    assert.equal(won.length, 1)
    assert.equal((await books.all()).length, 11)
  })
})
