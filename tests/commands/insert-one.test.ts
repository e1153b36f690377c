import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { Collections } from './collections.ts'

describe('insertOne', () => {
  const collections = new Collections()

  test('inserts a document and returns its _id', async () => {
    const books = await collections.create()
    const { status } = await books.run({
      insertOne: { document: { _id: 'a', title: 'Emma' } },
    })
    assert.deepEqual(status, { insertedIds: ['a'] })
    assert.deepEqual(await books.all(), [{ _id: 'a', title: 'Emma' }])
  })

  test('accepts ids of every type and returns them as sent', async () => {
    const books = await collections.create()
    for (const _id of [
      'text',
      1,
      1.5,
      -7,
      true,
      false,
      null,
      { $date: 1700000000000 },
      { $uuid: '0190C5A0-8D4C-7F3B-9A57-0242AC120002' },
      { $objectId: '0123456789ABCDEF01234567' },
    ]) {
      const { status } = await books.run({ insertOne: { document: { a: 1, _id } } })
      assert.deepEqual(status, { insertedIds: [_id] })
      const { data } = await books.run({ findOne: { filter: { _id } } })
      assert.deepEqual(data!.document, { _id, a: 1 })
      assert.deepEqual(Object.keys(data!.document), ['_id', 'a'])
    }
  })

  test('rejects invalid ids and returns an empty list of inserted ids', async () => {
    const books = await collections.create()
    for (const [_id, code] of [
      ['', 'SHRED_BAD_DOCID_VALUE'],
      [[], 'SHRED_BAD_DOCID_TYPE'],
      [{ a: 1 }, 'SHRED_BAD_DOCID_TYPE'],
      [{ $uuid: 'x' }, 'SHRED_BAD_DOCID_TYPE'],
      [{ $foo: 'x' }, 'SHRED_BAD_DOCID_TYPE'],
      [{ $binary: 'AAAA' }, 'SHRED_BAD_DOCID_TYPE'],
    ] as const) {
      const error = await books.refuse({ insertOne: { document: { _id } } }, code)
      assert.deepEqual(error.status, { insertedIds: [] })
      assert.equal(error.documentIds, undefined)
      assert.deepEqual([error.family, error.scope], ['REQUEST', 'DOCUMENT'])
    }
  })

  const generated: readonly (readonly [string | undefined, string | undefined, RegExp])[] =
    [
      [
        undefined,
        undefined,
        /^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/,
      ],
      ['uuid', '$uuid', /^[\da-f]{8}-[\da-f]{4}-4/],
      ['uuidv6', '$uuid', /^[\da-f]{8}-[\da-f]{4}-6/],
      ['uuidv7', '$uuid', /^[\da-f]{8}-[\da-f]{4}-7/],
      ['objectId', '$objectId', /^[\da-f]{24}$/],
    ]
  for (const [type, wrapper, pattern] of generated)
    test(`generates an _id of the ${type ?? 'default'} type`, async () => {
      const books = await collections.create(
        [],
        type === undefined ? {} : { defaultId: { type } },
      )
      const { status } = await books.run({ insertOne: { document: { title: 'Emma' } } })
      const [id] = status!['insertedIds'] as [string | Record<string, string>]
      const text = wrapper === undefined ? id : (id as Record<string, string>)[wrapper]
      assert.match(text as string, pattern)
      assert.deepEqual(await books.all(), [{ _id: id, title: 'Emma' }])
      // An _id in the request may have another type than generated _ids.
      await books.run({ insertOne: { document: { _id: 5 } } })
    })

  test('rejects an existing _id, which the error contains, and keeps the existing document', async () => {
    const books = await collections.create([{ _id: 'a', n: 1 }])
    const error = await books.refuse(
      { insertOne: { document: { _id: 'a', n: 2 } } },
      'DOCUMENT_ALREADY_EXISTS',
    )
    assert.match(error.message, /"a"/)
    assert.deepEqual(error.documentIds, ['a'])
    assert.deepEqual(error.status, { insertedIds: [] })
    assert.deepEqual(await books.all(), [{ _id: 'a', n: 1 }])
  })

  test('treats a UUID and its plain text as the same _id', async () => {
    const uuid = '0190c5a0-8d4c-7f3b-9a57-0242ac120002'
    const books = await collections.create([{ _id: { $uuid: uuid } }])
    await books.refuse(
      { insertOne: { document: { _id: uuid } } },
      'DOCUMENT_ALREADY_EXISTS',
    )
  })

  test('keeps every digit, the order of keys, and the names of built-in properties', async () => {
    const books = await collections.create()
    const document =
      '{"_id":1,"10":1,"2":2,"__proto__":3,"constructor":{"toString":4},' +
      '"long":12345678901234567890.123456789,"tiny":1e-400,"a.b":{"&":[1,{"$date":5}]}}'
    await books.send(`{"insertOne":{"document":${document}}}`)
    const { text } = await books.send({ findOne: {} })
    assert.equal(text, `{"data":{"document":${document}}}`)
  })

  test('rejects null and other non-object values as documents', async () => {
    const books = await collections.create()
    for (const document of [null, 5, 'text', [], [{ _id: 1 }]]) {
      const error = await books.refuse(
        { insertOne: { document } },
        'SHRED_BAD_DOCUMENT_TYPE',
      )
      assert.deepEqual(error.status, { insertedIds: [] })
    }
  })

  test('rejects invalid fields, and the error contains the _id of the document', async () => {
    const books = await collections.create()
    for (const [fields, code] of [
      [{ '': 1 }, 'SHRED_BAD_FIELD_NAME'],
      [{ '*': 1 }, 'SHRED_BAD_FIELD_NAME'],
      [{ a: { $b: 1 } }, 'SHRED_BAD_FIELD_NAME'],
      [{ $unknown: 1 }, 'SHRED_BAD_FIELD_NAME'],
      [{ a: { $date: 'x' } }, 'SHRED_BAD_EJSON_VALUE'],
      [{ a: Array(1001).fill(1) }, 'SHRED_DOC_LIMIT_VIOLATION'],
      [{ a: 'x'.repeat(8001) }, 'SHRED_DOC_LIMIT_VIOLATION'],
    ] as const) {
      const error = await books.refuse(
        { insertOne: { document: { _id: 7, ...fields } } },
        code,
      )
      assert.deepEqual(error.documentIds, [7])
      assert.deepEqual(error.status, { insertedIds: [] })
    }
  })

  test('accepts a document of four million characters and no more', async () => {
    const books = await collections.create([], { indexing: { deny: ['text'] } })
    const fitting = 4_000_000 - '{"_id":1,"text":""}'.length
    await books.run({ insertOne: { document: { _id: 1, text: 'x'.repeat(fitting) } } })
    const error = await books.refuse(
      { insertOne: { document: { _id: 2, text: 'x'.repeat(fitting + 1) } } },
      'SHRED_DOC_LIMIT_VIOLATION',
    )
    assert.match(error.message, /4000001.*4000000/)
  })

  test('accepts numbers of 100 characters, and rejects the whole request for a longer number', async () => {
    const books = await collections.create()
    const insert = (digits: number) =>
      `{"insertOne":{"document":{"n":1.${'1'.repeat(digits - 2)}}}}`
    assert.deepEqual((await books.send(insert(100))).codes, [])
    const error = await books.refuse(insert(101), 'SHRED_DOC_LIMIT_VIOLATION')
    assert.equal(error.status, undefined)
  })

  test('returns search fields only if the projection includes them', async () => {
    const books = await collections.create([], {
      vector: { dimension: 2, metric: 'cosine' },
    })
    const document = { _id: 1, a: 1, $vector: [0.1, 0.25], $lexical: 'some words' }
    await books.run({ insertOne: { document } })
    assert.deepEqual(await books.all(), [{ _id: 1, a: 1 }])
    assert.deepEqual(await books.all({ projection: { '*': 1 } }), [document])
    assert.deepEqual(await books.all({ projection: { $vector: 1 } }), [
      { _id: 1, a: 1, $vector: [0.1, 0.25] },
    ])
  })

  test('returns a vector in the form in which it was sent', async () => {
    const books = await collections.create([], {
      vector: { dimension: 2, metric: 'cosine' },
    })
    const $vector = { $binary: 'PczMzT6AAAA=' }
    await books.run({ insertOne: { document: { _id: 1, $vector } } })
    assert.deepEqual(await books.all({ projection: { $vector: 1 } }), [{ _id: 1, $vector }])
  })

  test('rejects invalid vectors, and the error contains the _id of the document', async () => {
    const books = await collections.create([], {
      vector: { dimension: 2, metric: 'cosine' },
    })
    for (const [$vector, code] of [
      [[], 'SHRED_BAD_VECTOR_SIZE'],
      [[1, 'x'], 'SHRED_BAD_VECTOR_VALUE'],
      ['text', 'SHRED_BAD_DOCUMENT_VECTOR_TYPE'],
      [{ $binary: '?' }, 'SHRED_BAD_BINARY_VECTOR_VALUE'],
      [[1, 2, 3], 'INVALID_VECTOR_LENGTH'],
      [[0, 0], 'SHRED_BAD_VECTOR_VALUE'],
    ] as const) {
      const error = await books.refuse(
        { insertOne: { document: { _id: 1, $vector } } },
        code,
      )
      assert.deepEqual(error.documentIds, [1])
      assert.deepEqual(error.status, { insertedIds: [] })
    }
    await books.run({ insertOne: { document: { _id: 1, $vector: null } } })
  })

  test('rejects the whole command for search fields that are invalid or not supported by the collection', async () => {
    const plain = await collections.create([], { lexical: { enabled: false } })
    const vectors = await collections.create([], {
      vector: { dimension: 2, metric: 'cosine' },
    })
    for (const [books, document, code] of [
      [plain, { $vector: [1, 2] }, 'VECTOR_SEARCH_NOT_SUPPORTED'],
      [plain, { $vectorize: 'text' }, 'EMBEDDING_SERVICE_NOT_CONFIGURED'],
      [vectors, { $vectorize: 'text' }, 'EMBEDDING_SERVICE_NOT_CONFIGURED'],
      [vectors, { $vectorize: 5 }, 'INVALID_VECTORIZE_VALUE_TYPE'],
      [vectors, { $vectorize: 'a', $vector: [1, 2] }, 'INVALID_USAGE_OF_VECTORIZE'],
      [vectors, { $hybrid: 'text' }, 'EMBEDDING_SERVICE_NOT_CONFIGURED'],
      [vectors, { $hybrid: 'text', $lexical: 'text' }, 'HYBRID_FIELD_CONFLICT'],
      [vectors, { $hybrid: 5 }, 'HYBRID_FIELD_UNSUPPORTED_VALUE_TYPE'],
      [vectors, { $hybrid: { a: 1 } }, 'HYBRID_FIELD_UNKNOWN_SUBFIELDS'],
      [
        vectors,
        { $hybrid: { $lexical: 1 } },
        'HYBRID_FIELD_UNSUPPORTED_SUBFIELD_VALUE_TYPE',
      ],
    ] as const) {
      const error = await books.refuse({ insertOne: { document } }, code)
      assert.equal(error.status, undefined)
    }
    const lexical = await plain.refuse(
      { insertOne: { document: { _id: 1, $lexical: 'text' } } },
      'LEXICAL_NOT_ENABLED_FOR_COLLECTION',
    )
    assert.deepEqual(lexical.status, { insertedIds: [] })
    assert.deepEqual(await plain.all(), [])
    assert.deepEqual(await vectors.all(), [])
  })

  test('expands a $hybrid of null to $vectorize and $lexical of null', async () => {
    const books = await collections.create()
    await books.run({ insertOne: { document: { _id: 1, $hybrid: null } } })
    assert.deepEqual(await books.all({ projection: { '*': 1 } }), [
      { _id: 1, $vector: null, $vectorize: null, $lexical: null },
    ])
  })

  test('requires a document and accepts no options', async () => {
    const books = await collections.create()
    const error = await books.refuse({ insertOne: {} }, 'COMMAND_FIELD_VALUE_INVALID')
    assert.match(error.message, /command\.document/)
    await books.refuse(
      { insertOne: { document: {}, options: { ordered: true } } },
      'COMMAND_ACCEPTS_NO_OPTIONS',
    )
    await books.run({ insertOne: { document: {}, options: {} } })
    await books.refuse({ insertOne: { document: {}, doc: 1 } }, 'COMMAND_FIELD_UNKNOWN')
  })

  test('inserts a document that is still there after a restart', async () => {
    const books = await collections.create()
    const document = {
      _id: { $uuid: '0190c5a0-8d4c-7f3b-9a57-0242ac120002' },
      a: [1, null],
    }
    await books.run({ insertOne: { document } })
    await collections.restart()
    assert.deepEqual(await books.all(), [document])
    await books.refuse({ insertOne: { document } }, 'DOCUMENT_ALREADY_EXISTS')
  })
})
