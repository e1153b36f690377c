/** Errors that suggest a valid alternative, using the names of the request. */
import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { Collections } from './collections.ts'
import { LetterModels, lettersCollection } from './letter-models.ts'

const models = await LetterModels.start()
after(() => models.close())

describe('a command sent to the wrong path', () => {
  const collections = new Collections()

  for (const [path, command, right] of [
    ['/library', 'find', '/v1/library/<collection or table>'],
    ['', 'insertOne', '/v1/<keyspace>/<collection or table>'],
    ['/library', 'countDocuments', '/v1/library/<collection>'],
    ['/library', 'createIndex', '/v1/library/<table>'],
    ['/library/books', 'createCollection', '/v1/library'],
    ['/a%20b/books', 'createTable', '/v1/a%20b'],
    ['', 'createCollection', '/v1/<keyspace>'],
    ['', 'dropIndex', '/v1/<keyspace>'],
    ['/library', 'createKeyspace', '/v1'],
    ['/library/books', 'findEmbeddingProviders', '/v1'],
  ] as const)
    test(`is rejected with an error that names the right path: ${command} to /v1${path}`, async () => {
      const { codes, body } = await collections.server.command(path, { [command]: {} })
      assert.deepEqual(codes, ['COMMAND_UNKNOWN'])
      const { message } = body.errors![0]!
      assert(message.includes(`Send it to ${right}. Known commands:`), message)
    })

  test('is rejected without a hint about the path when the command does not exist', async () => {
    const { body } = await collections.server.command('/library', { findAll: {} })
    const { message } = body.errors![0]!
    assert(
      message.startsWith('"findAll" is not a Keyspace Command. Known commands:'),
      message,
    )
  })
})

describe('a search that the collection does not support', () => {
  const collections = new Collections({}, { providers: models.settings })
  const plain = { lexical: { enabled: false }, rerank: { enabled: false } }

  test('is rejected with a list of the supported searches', async () => {
    for (const [options, offered] of [
      [plain, 'this collection supports no searches'],
      [{}, 'supports the searches $lexical'],
      [{ ...plain, vector: { dimension: 2 } }, 'supports the searches $vector'],
      [{ vector: { dimension: 2 } }, 'supports the searches $vector, $lexical'],
      [lettersCollection, 'the searches $vector, $vectorize, $lexical'],
    ] as const) {
      const target = await collections.create([], options)
      const { message } = await target.refuse(
        { find: { sort: { $score: 1 } } },
        'SORT_CLAUSE_PATH_INVALID',
      )
      assert(message.includes(offered), message)
    }
  })

  test('is rejected with a hint to findAndRerank when a find sorts by $hybrid', async () => {
    for (const [options, said] of [
      [{ vector: { dimension: 2 } }, 'the collection must have reranking'],
      [{}, 'the collection must have vectors and lexical search'],
      [{ ...plain, vector: { dimension: 2 } }, 'the collection must have vectors'],
    ] as const) {
      const target = await collections.create([], options)
      const { message } = await target.refuse(
        { find: { sort: { $hybrid: 'x' } } },
        'SORT_CLAUSE_PATH_INVALID',
      )
      assert(message.includes('findAndRerank') && message.includes(said), message)
    }
  })

  test('is rejected with a hint to another search only if the collection supports that search', async () => {
    const code = 'EMBEDDING_SERVICE_NOT_CONFIGURED'
    for (const [options, offered] of [
      [{}, false],
      [{ vector: { dimension: 2 } }, true],
    ] as const) {
      const target = await collections.create([], options)
      for (const command of [
        { find: { sort: { $vectorize: 'x' } } },
        { insertOne: { document: { $vectorize: 'x' } } },
        { insertOne: { document: { $hybrid: 'x' } } },
      ]) {
        const { message } = await target.refuse(command, code)
        assert.equal(message.includes('Send $vector instead'), offered, message)
      }
    }
    const vectors = await collections.create([], { ...plain, vector: { dimension: 2 } })
    const rerank = { provider: 'local', modelName: 'x' }
    const { message } = await vectors.refuse(
      { findAndRerank: { sort: { $hybrid: 'x' }, options: { rerank } } },
      'UNSUPPORTED_VECTORIZE_SORT_FOR_COLLECTION',
    )
    assert(message.includes('Send {"$vector": …} instead'), message)
    await vectors.refuse(
      { find: { filter: { $lexical: 'x' } } },
      'LEXICAL_NOT_ENABLED_FOR_COLLECTION',
    )
  })

  test('is not suggested in errors of a filter, projection or update', async () => {
    const target = await collections.create([], plain)
    for (const [command, code] of [
      [{ find: { filter: { $foo: 1 } } }, 'FILTER_INVALID_EXPRESSION'],
      [{ find: { projection: { $foo: 1 } } }, 'UNSUPPORTED_PROJECTION_PARAM'],
      [{ find: { projection: { a: 1, b: 0 } } }, 'UNSUPPORTED_PROJECTION_PARAM'],
      [{ updateOne: { update: { $set: { $foo: 1 } } } }, 'SHRED_BAD_FIELD_NAME'],
    ] as const) {
      const { message } = await target.refuse(command, code)
      assert(!/\$(?:vector|vectorize|lexical|hybrid)\b/.test(message), message)
    }
  })
})

describe('a value that is too large to index', () => {
  const collections = new Collections()
  const long = 'x'.repeat(8001)

  for (const [what, document, path] of [
    ['a string', { a: long }, 'a'],
    ['a string in an array of objects', { a: [{ 'b.c&': long }] }, 'a.b&.c&&'],
    ['an array', { a: { b: Array(1001).fill(1) } }, 'a.b'],
    [
      'an object',
      { a: Object.fromEntries(Array.from({ length: 1001 }, (_, i) => [`f${i}`, 1])) },
      'a',
    ],
  ] as const)
    test(`is rejected with advice on storing it unindexed: ${what}`, async () => {
      const target = await collections.create()
      const { message } = await target.refuse(
        { insertOne: { document } },
        'SHRED_DOC_LIMIT_VIOLATION',
      )
      const hint = `{"indexing": {"deny": ["${path}"]}}`
      assert(message.includes(hint), message)
      const other = await collections.create([], { indexing: { deny: [path] } })
      await other.run({ insertOne: { document } })
    })

  test('is rejected with the maximum size when it is an _id, which is always indexed', async () => {
    const target = await collections.create()
    const _id = 'x'.repeat(9_000)
    const upsert = {
      filter: { _id },
      update: { $set: { a: 1 } },
      options: { upsert: true },
    }
    for (const command of [{ insertOne: { document: { _id } } }, { updateOne: upsert }]) {
      const { message } = await target.refuse(command, 'SHRED_DOC_LIMIT_VIOLATION')
      assert.match(
        message,
        /9000; the maximum is 8000\. Send a shorter _id, which is always indexed/,
      )
      assert(!message.includes('deny'), message)
    }
  })
})
