/** $vectorize over HTTP, with a provider that speaks the protocol of OpenAI. */
import assert from 'node:assert/strict'
import { beforeEach, describe, test } from 'node:test'
import { defaultProviderSettings } from '../../src/providers/provider-settings.ts'
import { FakeProvider, type Answer, type Asked } from '../providers/fake-provider.ts'
import { Collections, type Target } from './collections.ts'

const provider = await FakeProvider.start()

const colors = ['red', 'green', 'blue']

/** The reply of the provider: for each text, a vector with the counts of the colors. */
function countColors({ body }: Asked): Answer {
  const { input } = body as { input: string[] }
  const data = input.map((text, index) => ({
    index,
    embedding: colors.map((color) => text.split(color).length - 1),
  }))
  return { body: { data, model: 'colors', usage: { prompt_tokens: 1, total_tokens: 1 } } }
}

/** The texts of each request to the provider since its answer was set. */
function askedTexts(): unknown[] {
  return provider.asked.map(({ body }) => (body as { input: unknown }).input)
}

const withService = {
  vector: {
    dimension: 3,
    metric: 'cosine',
    service: { provider: 'openai', modelName: 'text-embedding-3-small' },
  },
}

const everything = { sort: { _id: 1 }, projection: { '*': 1 } }

const collections = new Collections(
  {},
  {
    providers: {
      ...defaultProviderSettings,
      embeddingUrls: new Map([['openai', `${provider.url}/`]]),
      embeddingKeys: new Map([['openai', 'key-of-the-server']]),
    },
  },
)

beforeEach(() => provider.answers(countColors))

async function paintings(documents: readonly object[] = []): Promise<Target> {
  const target = await collections.create(documents, withService)
  provider.answers(countColors)
  return target
}

describe('$vectorize in inserts', () => {
  test('is embedded with one request for all texts of a command', async () => {
    const target = await paintings()
    await target.insert(
      { _id: 1, $vectorize: 'red and blue' },
      { _id: 2 },
      { _id: 3, $hybrid: 'green' },
    )
    assert.deepEqual(askedTexts(), [['red and blue', 'green']])
    assert.deepEqual(await target.all(everything), [
      { _id: 1, $vector: [1, 0, 1], $vectorize: 'red and blue' },
      { _id: 2 },
      { _id: 3, $vector: [0, 1, 0], $vectorize: 'green', $lexical: 'green' },
    ])
    assert.deepEqual(await target.all({ sort: { _id: 1 } }), [
      { _id: 1 },
      { _id: 2 },
      { _id: 3 },
    ])
    await target.run({ insertOne: { document: { $vectorize: 'blue' } } })
    assert.equal(provider.asked.length, 2)
  })

  test('is not embedded when null or blank', async () => {
    const target = await paintings()
    await target.insert({ _id: 1, $vectorize: null }, { _id: 2, $vectorize: ' ' })
    assert.deepEqual(askedTexts(), [])
    assert.deepEqual(await target.all(everything), [
      { _id: 1, $vector: null, $vectorize: null },
      { _id: 2, $vector: null, $vectorize: ' ' },
    ])
  })

  test('makes the whole command fail with the reason when the provider fails', async () => {
    const target = await paintings()
    const documents = [{ _id: 1 }, { _id: 2, $vectorize: 'red' }]
    for (const [answer, code] of [
      [{ status: 429, body: {} }, 'EMBEDDING_PROVIDER_RATE_LIMITED'],
      [{ status: 500, body: {} }, 'EMBEDDING_PROVIDER_SERVER_ERROR'],
      [
        { body: { data: [{ index: 0, embedding: [1] }] } },
        'EMBEDDING_PROVIDER_UNEXPECTED_RESPONSE',
      ],
    ] as const)
      for (const ordered of [true, false]) {
        provider.answers(answer)
        const error = await target.refuse(
          { insertMany: { documents, options: { ordered } } },
          code,
        )
        assert.equal(error.family, 'SERVER')
        assert.equal(error.scope, 'EMBEDDING_PROVIDER')
        assert.equal(error.status, undefined)
      }
    assert.deepEqual(await target.all(), [])
  })

  test('makes the whole command fail when it is invalid or unsupported', async () => {
    const target = await paintings()
    const plain = await collections.create([], { vector: { dimension: 3 } })
    for (const [to, document, code] of [
      [target, { $vectorize: 5 }, 'INVALID_VECTORIZE_VALUE_TYPE'],
      [target, { $vectorize: 'red', $vector: null }, 'INVALID_USAGE_OF_VECTORIZE'],
      [target, { $hybrid: 'red', $vectorize: 'red' }, 'HYBRID_FIELD_CONFLICT'],
      [plain, { $vectorize: 'red' }, 'EMBEDDING_SERVICE_NOT_CONFIGURED'],
    ] as const) {
      const documents = [{ _id: 1 }, document]
      const error = await to.refuse({ insertMany: { documents } }, code)
      assert.equal(error.status, undefined)
    }
    assert.deepEqual(askedTexts(), [])
    assert.deepEqual(await target.all(), [])
  })

  test('is embedded with the API key of the request, or of the server if the request has none', async () => {
    const target = await paintings()
    const body = { insertOne: { document: { $vectorize: 'red' } } }
    await target.send(body, { 'x-embedding-api-key': 'key-of-the-caller' })
    await target.send(body)
    assert.deepEqual(
      provider.asked.map(({ headers }) => headers.authorization),
      ['Bearer key-of-the-caller', 'Bearer key-of-the-server'],
    )
  })
})

describe('$vectorize in updates', () => {
  test('is embedded only if the text changed', async () => {
    const target = await paintings([{ _id: 1, $vectorize: 'red' }])
    const set = ($set: object) => target.run({ updateOne: { update: { $set } } })
    const same = await set({ $vectorize: 'red' })
    assert.deepEqual(same.status, { matchedCount: 1, modifiedCount: 0 })
    await set({ a: 1 })
    assert.deepEqual(askedTexts(), [])
    await set({ $vectorize: 'blue', b: 1 })
    assert.deepEqual(askedTexts(), [['blue']])
    assert.deepEqual(await target.all(everything), [
      { _id: 1, a: 1, b: 1, $vector: [0, 0, 1], $vectorize: 'blue' },
    ])
    await set({ $vectorize: null })
    await target.run({
      findOneAndReplace: { replacement: { $vectorize: '' } },
    })
    assert.equal(provider.asked.length, 1)
    await target.run({
      findOneAndReplace: { replacement: { $vectorize: 'green' } },
    })
    await target.run({
      findOneAndUpdate: { update: { $unset: { $vector: '' } } },
    })
    assert.deepEqual(await target.all(everything), [{ _id: 1 }])
  })

  test('is embedded with one request when an update changes many documents', async () => {
    const target = await paintings(
      Array.from({ length: 15 }, (_, _id) => ({ _id, $vectorize: colors[_id % 3] })),
    )
    const { status } = await target.run({
      updateMany: { update: { $set: { $vectorize: 'blue' } } },
    })
    assert.deepEqual(status, { matchedCount: 15, modifiedCount: 10 })
    assert.deepEqual(askedTexts(), [['blue']])
  })

  test('makes the whole command fail, without changes, when the provider fails', async () => {
    const documents = [
      { _id: 1, $vectorize: 'blue' },
      { _id: 2, $vectorize: 'red' },
    ]
    const target = await paintings(documents)
    const before = await target.all(everything)
    const update = { $set: { $vectorize: 'blue', a: 1 } }
    provider.answers({ status: 503, body: {} })
    for (const command of [
      { updateOne: { filter: { _id: 2 }, update } },
      { updateMany: { update } },
      { updateOne: { filter: { _id: 3 }, update, options: { upsert: true } } },
      { findOneAndUpdate: { filter: { _id: 2 }, update } },
      { findOneAndReplace: { filter: { _id: 2 }, replacement: { $vectorize: 'x' } } },
    ])
      await target.refuse(command, 'EMBEDDING_PROVIDER_SERVER_ERROR')
    assert.deepEqual(await target.all(everything), before)
  })

  test('is embedded for the document that an upsert inserts', async () => {
    const target = await paintings()
    const options = { upsert: true }
    await target.run({
      updateOne: {
        filter: { _id: 1 },
        update: { $setOnInsert: { $vectorize: 'red' } },
        options,
      },
    })
    await target.run({
      findOneAndReplace: {
        filter: { _id: 2 },
        replacement: { $vectorize: 'green' },
        options,
      },
    })
    assert.deepEqual(askedTexts(), [['red'], ['green']])
    assert.deepEqual(
      (await target.all(everything)).map(({ $vector }) => $vector),
      [
        [1, 0, 0],
        [0, 1, 0],
      ],
    )
  })
})

describe('$hybrid in a replacement', () => {
  const replace = (filter: object, replacement: object, options = {}) => ({
    findOneAndReplace: { filter, replacement, options },
  })

  test('fills $vectorize and $lexical, as in an insert', async () => {
    const target = await paintings([{ _id: 1, n: 1, $vectorize: 'blue', $lexical: 'sea' }])
    await target.run(replace({ _id: 1 }, { n: 2, $hybrid: 'red' }))
    const filled = { $vectorize: 'red', $lexical: 'red' }
    assert.deepEqual(await target.all(everything), [
      { _id: 1, n: 2, $vector: [1, 0, 0], ...filled },
    ])
    assert.deepEqual(askedTexts(), [['red']])
    const again = await target.run(replace({ _id: 1 }, { n: 2, $hybrid: 'red' }))
    assert.deepEqual(again.status, { matchedCount: 1, modifiedCount: 0 })
    assert.deepEqual(askedTexts(), [['red']])
    await target.run(
      replace({ _id: 1 }, { $hybrid: { $vectorize: 'green', $lexical: 'moss' } }),
    )
    assert.deepEqual(await target.all(everything), [
      { _id: 1, $vector: [0, 1, 0], $vectorize: 'green', $lexical: 'moss' },
    ])
  })

  test('fills both fields in the document that an upsert inserts', async () => {
    const target = await paintings()
    const command = replace({ _id: 2 }, { $hybrid: 'blue' }, { upsert: true })
    const { status } = await target.run(command)
    assert.equal(status!['upsertedId'], 2)
    assert.deepEqual(await target.all(everything), [
      { _id: 2, $vector: [0, 0, 1], $vectorize: 'blue', $lexical: 'blue' },
    ])
  })

  test('is rejected together with the fields that it fills, and the error names the replacement', async () => {
    const target = await paintings([{ _id: 1, n: 1 }])
    for (const field of ['$vectorize', '$lexical']) {
      const error = await target.refuse(
        replace({ _id: 1 }, { $hybrid: 'red', [field]: 'red' }),
        'HYBRID_FIELD_CONFLICT',
      )
      assert.match(error.message, /the replacement/)
    }
    assert.deepEqual(await target.all(everything), [{ _id: 1, n: 1 }])
  })
})

describe('a sort by $vectorize', () => {
  const documents = [
    { _id: 'red', n: 1, $vectorize: 'red' },
    { _id: 'mixed', n: 2, $vectorize: 'red blue blue' },
    { _id: 'blue', n: 1, $vectorize: 'blue' },
    { _id: 'none', n: 1 },
  ]

  test('searches by the vector of the text and returns it', async () => {
    const target = await paintings(documents)
    const sort = { $vectorize: 'blue blue' }
    const { data, status } = await target.run({
      find: { sort, options: { includeSimilarity: true, includeSortVector: true } },
    })
    assert.deepEqual(askedTexts(), [['blue blue']])
    // The cosine of [1, 0, 2] and [0, 0, 2] is 2 / √5.
    for (const [i, [id, expected]] of (
      [
        ['blue', 1],
        ['mixed', 0.947214],
        ['red', 0.5],
      ] as const
    ).entries()) {
      const { _id, $similarity } = data!.documents![i]!
      assert.equal(_id, id)
      assert(Math.abs(($similarity as number) - expected) < 1e-5, String($similarity))
    }
    assert.equal(data!.nextPageState, null)
    assert.deepEqual(status, { sortVector: [0, 0, 2] })
    const one = await target.run({
      findOne: { sort, filter: { n: 2 }, options: { includeSortVector: true } },
    })
    assert.equal(one.data!.document!['_id'], 'mixed')
    assert.deepEqual(one.status, { sortVector: [0, 0, 2] })
  })

  test('selects the document in commands that change one document', async () => {
    const target = await paintings(documents)
    const sort = { $vectorize: 'blue' }
    const update = { $set: { hit: true } }
    const updated = await target.run({
      findOneAndUpdate: { sort, update, options: { returnDocument: 'after' } },
    })
    assert.deepEqual(updated.data!.document, { _id: 'blue', n: 1, hit: true })
    await target.run({ updateOne: { sort, filter: { n: 2 }, update } })
    await target.run({ deleteOne: { sort, filter: {} } })
    const replaced = await target.run({ findOneAndReplace: { sort, replacement: {} } })
    assert.deepEqual(replaced.data!.document, { _id: 'mixed', n: 2, hit: true })
    const deleted = await target.run({ findOneAndDelete: { sort } })
    assert.equal(deleted.data!.document!['_id'], 'red')
    assert.equal(provider.asked.length, 5)
  })

  test('rejects a limit above the maximum, and skip', async () => {
    const target = await paintings(documents)
    const sort = { $vectorize: 'blue' }
    const { data } = await target.run({ find: { sort, options: { limit: 1000 } } })
    assert.equal(data!.documents!.length, 3)
    for (const [options, code] of [
      [{ limit: 1001 }, 'COMMAND_FIELD_VALUE_INVALID'],
      [{ skip: 0 }, 'COMMAND_FIELD_VALUE_INVALID'],
      [{ skip: 1 }, 'COMMAND_FIELD_VALUE_INVALID'],
      [{ pageState: 'x' }, 'SORT_CLAUSE_INVALID'],
    ] as const)
      await target.refuse({ find: { sort, options } }, code)
    assert.equal(provider.asked.length, 1)
  })

  test('does not call the provider when the command has another error', async () => {
    const target = await paintings(documents)
    const sort = { $vectorize: 'blue' }
    for (const [find, code] of [
      [{ sort: { $vectorize: '' } }, 'SORT_CLAUSE_VALUE_INVALID'],
      [{ sort: { ...sort, n: 1 } }, 'SORT_CLAUSE_INVALID'],
      [{ sort, filter: { n: { $regex: 'x' } } }, 'FILTER_UNSUPPORTED_OPERATOR'],
      [{ sort, projection: { $x: 1 } }, 'UNSUPPORTED_PROJECTION_PARAM'],
    ] as const)
      await target.refuse({ find }, code)
    assert.deepEqual(askedTexts(), [])
  })

  test('reports a failure of the provider', async () => {
    const target = await paintings(documents)
    provider.answers({ status: 401, body: { error: { message: 'who are you?' } } })
    const error = await target.refuse(
      { find: { sort: { $vectorize: 'blue' } } },
      'EMBEDDING_PROVIDER_CLIENT_ERROR',
    )
    assert.match(error.message, /who are you\?/)
  })
})
