import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { Collections, numbered } from './collections.ts'

describe('updateOne', () => {
  const collections = new Collections()

  test('updates one document and returns counts of 1', async () => {
    const books = await collections.create([{ _id: 1, a: 1 }])
    const { text } = await books.send({
      updateOne: { filter: { a: 1 }, update: { $set: { b: 2 }, $unset: { a: '' } } },
    })
    assert.equal(text, '{"status":{"matchedCount":1,"modifiedCount":1}}')
    assert.deepEqual(await books.all(), [{ _id: 1, b: 2 }])
  })

  test('updates the first document in the order of the sort', async () => {
    const books = await collections.create(numbered(5))
    await books.run({
      updateOne: {
        filter: { even: true },
        sort: { n: -1 },
        update: { $set: { last: true } },
      },
    })
    assert.deepEqual(await books.all({ filter: { last: true } }), [
      { _id: 4, n: 4, even: true, last: true },
    ])
  })

  test('counts an unchanged match as matched and not as modified', async () => {
    const books = await collections.create([{ _id: 1, a: 1 }])
    for (const update of [
      { $set: { a: 1 } },
      {},
      { $unset: { b: 1 } },
      { $inc: { a: 0 } },
    ]) {
      const { status } = await books.run({ updateOne: { filter: { _id: 1 }, update } })
      assert.deepEqual(status, { matchedCount: 1, modifiedCount: 0 })
    }
  })

  test('returns counts of 0 when nothing matches', async () => {
    const books = await collections.create([{ _id: 1 }])
    const { status } = await books.run({
      updateOne: { filter: { _id: 2 }, update: { $set: { a: 1 } } },
    })
    assert.deepEqual(status, { matchedCount: 0, modifiedCount: 0 })
  })

  test('makes the document findable by its new values and not by its old values', async () => {
    const books = await collections.create([{ _id: 1, tags: ['a', 'b'], n: 1 }])
    await books.run({
      updateOne: {
        filter: { tags: 'a' },
        update: { $set: { tags: ['c'] }, $inc: { n: 1 } },
      },
    })
    assert.equal((await books.all({ filter: { tags: 'a' } })).length, 0)
    assert.equal((await books.all({ filter: { tags: 'c', n: 2 } })).length, 1)
  })

  test('keeps the _id as the first field, and search fields unchanged', async () => {
    const books = await collections.create(
      [{ _id: 1, a: 1, $vector: [0.1, 2], $lexical: 'words' }],
      { vector: { dimension: 2, metric: 'cosine' } },
    )
    await books.run({ updateOne: { update: { $set: { a: 2 } } } })
    const { text } = await books.send({ findOne: { projection: { '*': 1 } } })
    assert.equal(
      text,
      '{"data":{"document":{"_id":1,"a":2,"$vector":[0.1,2.0],"$lexical":"words"}}}',
    )
  })

  test('sets and unsets search fields', async () => {
    const books = await collections.create([{ _id: 1 }], {
      vector: { dimension: 2, metric: 'cosine' },
    })
    const update = async (update: object) => {
      const { status } = await books.run({ updateOne: { update } })
      const [document] = await books.all({ projection: { '*': 1 } })
      return [status!['modifiedCount'], document]
    }
    assert.deepEqual(await update({ $set: { $vector: [1, 2] } }), [
      1,
      { _id: 1, $vector: [1, 2] },
    ])
    assert.deepEqual(await update({ $set: { $vector: [1, 2] } }), [
      0,
      { _id: 1, $vector: [1, 2] },
    ])
    assert.deepEqual(await update({ $set: { $lexical: 'a' }, $unset: { $vector: 1 } }), [
      1,
      { _id: 1, $lexical: 'a' },
    ])
    assert.deepEqual(await update({ $set: { $vectorize: '' } }), [
      1,
      { _id: 1, $vector: null, $vectorize: '', $lexical: 'a' },
    ])
    assert.deepEqual(await update({ $set: { $vector: [3, 4] } }), [
      1,
      { _id: 1, $vector: [3, 4], $lexical: 'a' },
    ])
  })

  test('rejects invalid search fields like an insert', async () => {
    const books = await collections.create([{ _id: 1 }], {
      vector: { dimension: 2, metric: 'cosine' },
    })
    const plain = await collections.create([{ _id: 1 }], { lexical: { enabled: false } })
    for (const [target, $set, code] of [
      [books, { $vector: [1] }, 'INVALID_VECTOR_LENGTH'],
      [books, { $vector: [0, 0] }, 'SHRED_BAD_VECTOR_VALUE'],
      [books, { $vector: 'x' }, 'SHRED_BAD_DOCUMENT_VECTOR_TYPE'],
      [books, { $vector: [1, 2], $vectorize: 'a' }, 'INVALID_USAGE_OF_VECTORIZE'],
      [books, { $vectorize: 'text' }, 'EMBEDDING_SERVICE_NOT_CONFIGURED'],
      [books, { $vectorize: 5 }, 'INVALID_VECTORIZE_VALUE_TYPE'],
      [books, { $lexical: 5 }, 'SHRED_BAD_DOCUMENT_LEXICAL_TYPE'],
      [plain, { $vector: [1] }, 'VECTOR_SEARCH_NOT_SUPPORTED'],
      [plain, { $lexical: 'a' }, 'LEXICAL_NOT_ENABLED_FOR_COLLECTION'],
    ] as const) {
      const error = await target.refuse({ updateOne: { update: { $set } } }, code)
      assert.equal(error.status, undefined)
      assert.deepEqual(await target.all({ projection: { '*': 1 } }), [{ _id: 1 }])
    }
  })

  test('rejects an update whose result would be invalid, and changes nothing', async () => {
    const books = await collections.create([{ _id: 1, list: Array(1000).fill(0) }])
    for (const [update, code] of [
      [{ $push: { list: 1 } }, 'SHRED_DOC_LIMIT_VIOLATION'],
      [{ $set: { text: 'x'.repeat(8001) } }, 'SHRED_DOC_LIMIT_VIOLATION'],
      [{ $set: { a: { $b: 1 } } }, 'SHRED_BAD_FIELD_NAME'],
      [{ $set: { a: { $date: 'x' } } }, 'SHRED_BAD_EJSON_VALUE'],
      [{ $set: { '*': 1 } }, 'SHRED_BAD_FIELD_NAME'],
    ] as const)
      await books.refuse({ updateOne: { update } }, code)
    assert.deepEqual(await books.all(), [{ _id: 1, list: Array(1000).fill(0) }])
  })

  test('rejects invalid updates, even when nothing matches', async () => {
    const books = await collections.create()
    for (const [update, code] of [
      ['x', 'UNSUPPORTED_UPDATE_DATA_TYPE'],
      [{ $set: 5 }, 'UNSUPPORTED_UPDATE_DATA_TYPE'],
      [{ a: 5 }, 'UNSUPPORTED_UPDATE_OPERATION'],
      [{ $bit: { a: [] } }, 'UNSUPPORTED_UPDATE_OPERATION'],
      [{ $set: { _id: 1 } }, 'UNSUPPORTED_UPDATE_OPERATOR_FOR_DOC_ID'],
      [{ $inc: { a: 'x' } }, 'UNSUPPORTED_UPDATE_OPERATION_PARAM'],
    ] as const)
      await books.refuse({ updateOne: { filter: { _id: 1 }, update } }, code)
    await books.refuse({ updateOne: { filter: { _id: 1 } } }, 'COMMAND_FIELD_VALUE_INVALID')
    await books.refuse(
      { updateOne: { filter: { a: { $x: 1 } }, update: { a: 1 } } },
      'FILTER_UNSUPPORTED_OPERATOR',
    )
    await books.refuse(
      { updateOne: { update: {}, options: { returnDocument: 'after' } } },
      'COMMAND_FIELD_UNKNOWN',
    )
  })

  test('rejects an update that does not fit the matched document', async () => {
    const books = await collections.create([{ _id: 1, text: 'x' }])
    await books.refuse(
      { updateOne: { update: { $inc: { text: 1 } } } },
      'UNSUPPORTED_UPDATE_OPERATION_TARGET',
    )
    await books.refuse(
      { updateOne: { update: { $set: { 'text.a': 1 } } } },
      'UNSUPPORTED_UPDATE_OPERATION_PATH',
    )
  })

  test('upserts a document built from the equalities of the filter and the update', async () => {
    const books = await collections.create()
    const { status } = await books.run({
      updateOne: {
        filter: { _id: 'new', a: 1, 'b.c': { $eq: null }, d: { $gt: 5 }, $and: [{ e: 1 }] },
        update: { $set: { f: 2 }, $setOnInsert: { g: 3 }, $inc: { n: 1 } },
        options: { upsert: true },
      },
    })
    assert.deepEqual(status, { matchedCount: 0, modifiedCount: 0, upsertedId: 'new' })
    assert.deepEqual(await books.all(), [
      { _id: 'new', a: 1, b: { c: null }, n: 1, f: 2, g: 3 },
    ])
  })

  test('upserts with a generated _id, or the _id in $setOnInsert', async () => {
    const books = await collections.create([], { defaultId: { type: 'uuidv7' } })
    const upsert = async (update: object) =>
      (
        await books.run({
          updateOne: { filter: { x: 1 }, update, options: { upsert: true } },
        })
      ).status!
    const made = await upsert({ $unset: { x: 1 } })
    assert.match(
      (made['upsertedId'] as { $uuid: string }).$uuid,
      /^[\da-f]{8}-[\da-f]{4}-7/,
    )
    const given = await upsert({ $setOnInsert: { _id: null } })
    assert.deepEqual(given, { matchedCount: 0, modifiedCount: 0, upsertedId: null })
    assert.deepEqual(await books.all({ filter: { x: 1 } }), [{ _id: null, x: 1 }])
  })

  test('upserts the _id of the filter in the form in which it was sent', async () => {
    const books = await collections.create()
    const _id = { $uuid: '0190C5A0-8D4C-7F3B-9A57-0242AC120002' }
    const { status } = await books.run({
      updateOne: { filter: { _id }, update: {}, options: { upsert: true } },
    })
    assert.deepEqual(status!['upsertedId'], _id)
    assert.deepEqual(await books.all(), [{ _id }])
  })

  test('does not insert when something matches', async () => {
    const books = await collections.create([{ _id: 1, a: 1 }])
    const { status } = await books.run({
      updateOne: {
        filter: { a: 1 },
        update: { $setOnInsert: { b: 1 } },
        options: { upsert: true },
      },
    })
    assert.deepEqual(status, { matchedCount: 1, modifiedCount: 0 })
    assert.equal((await books.all()).length, 1)
  })

  test('neither updates nor inserts when the _id exists and another condition does not match', async () => {
    const books = await collections.create([{ _id: 1, a: 1 }])
    const { status } = await books.run({
      updateOne: {
        filter: { _id: 1, a: 2 },
        update: { $set: { b: 1 } },
        options: { upsert: true },
      },
    })
    assert.deepEqual(status, { matchedCount: 0, modifiedCount: 0 })
    assert.deepEqual(await books.all(), [{ _id: 1, a: 1 }])
  })

  for (const filter of [{ _id: 1 }, { name: 'counter' }])
    test(`applies 50 concurrent increments by ${Object.keys(filter)[0]!}`, async () => {
      const books = await collections.create([{ _id: 1, name: 'counter', n: 0 }])
      await Promise.all(
        Array.from({ length: 50 }, async () => {
          const { status } = await books.run({
            updateOne: { filter, update: { $inc: { n: 1 } } },
          })
          assert.deepEqual(status, { matchedCount: 1, modifiedCount: 1 })
        }),
      )
      assert.deepEqual(await books.all(), [{ _id: 1, name: 'counter', n: 50 }])
    })

  test('inserts one document in concurrent upserts of an _id, and the other upserts update it', async () => {
    const books = await collections.create()
    const answers = await Promise.all(
      Array.from({ length: 20 }, () =>
        books.run({
          updateOne: {
            filter: { _id: 'x' },
            update: { $inc: { n: 1 } },
            options: { upsert: true },
          },
        }),
      ),
    )
    const inserted = answers.filter(({ status }) => status!['upsertedId'] === 'x')
    assert.equal(inserted.length, 1)
    assert.deepEqual(await books.all(), [{ _id: 'x', n: 20 }])
  })

  test('updates each document for only one of several concurrent requests', async () => {
    const books = await collections.create(
      Array.from({ length: 5 }, (_, i) => ({ _id: i, state: 'free' })),
    )
    const answers = await Promise.all(
      Array.from({ length: 12 }, () =>
        books.run({
          updateOne: {
            filter: { state: 'free' },
            update: { $set: { state: 'taken' }, $inc: { times: 1 } },
          },
        }),
      ),
    )
    const taken = answers.filter(({ status }) => status!['modifiedCount'] === 1).length
    const documents = await books.all({ filter: { state: 'taken' } })
    assert.equal(documents.length, taken)
    assert(documents.every(({ times }) => times === 1))
  })

  test('makes a change that is still there after a restart', async () => {
    const books = await collections.create([{ _id: 1, a: 1 }])
    await books.run({ updateOne: { filter: { _id: 1 }, update: { $set: { a: 2 } } } })
    await collections.restart()
    assert.deepEqual(await books.all({ filter: { a: 2 } }), [{ _id: 1, a: 2 }])
    assert.deepEqual(await books.all({ filter: { a: 1 } }), [])
  })
})
