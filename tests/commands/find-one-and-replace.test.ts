import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { Collections, numbered } from './collections.ts'

describe('findOneAndReplace', () => {
  const collections = new Collections()

  test('replaces all fields except the _id, and returns the document before the change', async () => {
    const books = await collections.create([{ _id: 1, a: 1, b: 2 }])
    const { text } = await books.send({
      findOneAndReplace: { filter: { a: 1 }, replacement: { c: 3 } },
    })
    assert.equal(
      text,
      '{"data":{"document":{"_id":1,"a":1,"b":2}},' +
        '"status":{"matchedCount":1,"modifiedCount":1}}',
    )
    assert.deepEqual(await books.all(), [{ _id: 1, c: 3 }])
    assert.deepEqual(await books.all({ filter: { a: 1 } }), [])
  })

  test('returns the document after the change with returnDocument "after", _id first', async () => {
    const books = await collections.create([{ _id: 1, a: 1 }])
    const { text } = await books.send({
      findOneAndReplace: {
        replacement: { b: 1, _id: 1, a: 2 },
        options: { returnDocument: 'after' },
      },
    })
    assert.match(text, /"document":\{"_id":1,"b":1,"a":2\}/)
  })

  test('counts a replacement with equal fields in the same order as no change', async () => {
    const books = await collections.create([{ _id: 1, a: 1, b: 2, $lexical: 'x' }])
    const replace = async (replacement: object) =>
      (await books.run({ findOneAndReplace: { replacement } })).status
    const same = { matchedCount: 1, modifiedCount: 0 }
    const changed = { matchedCount: 1, modifiedCount: 1 }
    assert.deepEqual(await replace({ a: 1, b: 2, $lexical: 'x' }), same)
    assert.deepEqual(await replace({ $lexical: 'x', a: 1.0, b: 2, _id: 1 }), same)
    assert.deepEqual(await replace({ b: 2, a: 1, $lexical: 'x' }), changed)
    assert.deepEqual(await replace({ b: 2, a: 1, $lexical: 'y' }), changed)
    assert.deepEqual(await replace({ b: 2, a: 1 }), changed)
    assert.deepEqual(await books.all({ projection: { '*': 1 } }), [{ _id: 1, b: 2, a: 1 }])
  })

  test('also replaces search fields, and removes omitted search fields', async () => {
    const books = await collections.create([{ _id: 1, $vector: [1, 2], $lexical: 'x' }], {
      vector: { dimension: 2, metric: 'cosine' },
    })
    const { data } = await books.run({
      findOneAndReplace: {
        replacement: { $vector: [0.1, 4] },
        projection: { '*': 1 },
        options: { returnDocument: 'after' },
      },
    })
    assert.deepEqual(data!.document, { _id: 1, $vector: [0.1, 4] })
    await books.run({ findOneAndReplace: { replacement: { a: 1 } } })
    assert.deepEqual(await books.all({ projection: { '*': 1 } }), [{ _id: 1, a: 1 }])
  })

  test('rejects an _id that differs from the _id of the found document', async () => {
    const uuid = '0190c5a0-8d4c-7f3b-9a57-0242ac120002'
    const books = await collections.create([{ _id: { $uuid: uuid } }])
    const error = await books.refuse(
      { findOneAndReplace: { replacement: { _id: 2 } } },
      'DOCUMENT_REPLACE_DIFFERENT_DOCID',
    )
    assert.match(error.message, new RegExp(`${uuid}.* 2`))
    // The plain text of a UUID denotes the same _id.
    await books.run({ findOneAndReplace: { replacement: { _id: uuid, a: 1 } } })
    assert.deepEqual(await books.all(), [{ _id: { $uuid: uuid }, a: 1 }])
  })

  test('upserts the replacement, with the _id of the filter or a generated _id', async () => {
    const books = await collections.create()
    const upsert = async (filter: object, replacement: object) =>
      await books.send({
        findOneAndReplace: {
          filter,
          replacement,
          options: { upsert: true, returnDocument: 'after' },
        },
      })
    const first = await upsert({ _id: 1, a: 1 }, { b: 1 })
    assert.equal(
      first.text,
      '{"data":{"document":{"_id":1,"b":1}},' +
        '"status":{"matchedCount":0,"modifiedCount":0,"upsertedId":1}}',
    )
    const second = await upsert({ a: 1 }, { b: 2, _id: 2 })
    assert.deepEqual(second.body.data!.document, { _id: 2, b: 2 })
    const third = await upsert({ a: 1 }, { b: 3 })
    assert.equal(typeof third.body.status!['upsertedId'], 'string')
    const fourth = await upsert({ _id: 4 }, { _id: 5 })
    assert.deepEqual(fourth.codes, ['DOCUMENT_REPLACE_DIFFERENT_DOCID'])
    const fifth = await upsert({ _id: 6 }, { _id: 6 })
    assert.equal(fifth.body.status!['upsertedId'], 6)
    // A document with this _id exists, but does not match the other condition of the filter.
    const sixth = await upsert({ _id: 6, a: 1 }, { b: 6 })
    assert.deepEqual(sixth.body, {
      data: { document: null },
      status: { matchedCount: 0, modifiedCount: 0 },
    })
    assert.equal((await books.all()).length, 4)
  })

  test('applies a sort, and a projection to the returned document only', async () => {
    const books = await collections.create(numbered(3))
    const { data } = await books.run({
      findOneAndReplace: { sort: { n: -1 }, projection: { '*': 0 }, replacement: { x: 1 } },
    })
    assert.deepEqual(data!.document, {})
    assert.deepEqual((await books.sorted())[2], { _id: 2, x: 1 })
  })

  test('returns null when nothing matches', async () => {
    const books = await collections.create()
    const { data, status } = await books.run({ findOneAndReplace: { replacement: {} } })
    assert.deepEqual(data, { document: null })
    assert.deepEqual(status, { matchedCount: 0, modifiedCount: 0 })
  })

  test('rejects replacements that would be invalid documents', async () => {
    const books = await collections.create([{ _id: 1 }], {
      vector: { dimension: 2, metric: 'cosine' },
    })
    for (const [replacement, code] of [
      [{ $x: 1 }, 'SHRED_BAD_FIELD_NAME'],
      [{ $hybrid: 'text' }, 'EMBEDDING_SERVICE_NOT_CONFIGURED'],
      [{ $hybrid: 5 }, 'HYBRID_FIELD_UNSUPPORTED_VALUE_TYPE'],
      [{ $hybrid: { text: 'x' } }, 'HYBRID_FIELD_UNKNOWN_SUBFIELDS'],
      [{ $hybrid: 'x', $lexical: 'x' }, 'HYBRID_FIELD_CONFLICT'],
      [{ a: 'x'.repeat(8001) }, 'SHRED_DOC_LIMIT_VIOLATION'],
      [{ $vector: [1] }, 'INVALID_VECTOR_LENGTH'],
      [{ $vector: [1, 2], $vectorize: 'x' }, 'INVALID_USAGE_OF_VECTORIZE'],
      [{ $vectorize: 'x' }, 'EMBEDDING_SERVICE_NOT_CONFIGURED'],
      [{ _id: '' }, 'SHRED_BAD_DOCID_VALUE'],
      [{ _id: [] }, 'SHRED_BAD_DOCID_TYPE'],
    ] as const)
      await books.refuse({ findOneAndReplace: { replacement } }, code)
    await books.refuse({ findOneAndReplace: {} }, 'COMMAND_FIELD_VALUE_INVALID')
    await books.refuse(
      { findOneAndReplace: { replacement: 'text' } },
      'REQUEST_STRUCTURE_MISMATCH',
    )
    assert.deepEqual(await books.all(), [{ _id: 1 }])
  })
})
