import assert from 'node:assert/strict'
import { ownCaller } from '../../src/caller/caller.ts'
import { describe, test } from 'node:test'
import type { LocalModels } from '../../src/providers/local/local-model-types.ts'
import { rerankingProviders } from '../../src/providers/reranking-providers.ts'
import {
  embedRequest,
  FakeProvider,
  modelsWith,
  rerankRequest,
  type Answer,
} from './fake-provider.ts'

const passages = ['one', 'three']
const nvidia = { provider: 'nvidia', modelName: 'nvidia/llama-3.2-nv-rerankqa-1b-v2' }
const cohere = { provider: 'cohere', modelName: 'rerank-v3.5' }

/** Results in the order of their scores. Their indexes state the order of the passages. */
const sorted = [
  { index: 1, relevance_score: 0.9 },
  { index: 0, relevance_score: 0.1 },
]

const protocols = [
  {
    ...nvidia,
    body: {
      model: nvidia.modelName,
      query: { text: 'question' },
      passages: [{ text: 'one' }, { text: 'three' }],
      truncate: 'NONE',
    },
    reply: {
      rankings: [
        { index: 1, logit: 4.5 },
        { index: 0, logit: -3.25 },
      ],
    },
    scores: [-3.25, 4.5],
  },
  {
    ...cohere,
    body: { model: 'rerank-v3.5', query: 'question', documents: passages },
    reply: { id: 'x', results: sorted, meta: {} },
    scores: [0.1, 0.9],
  },
  {
    provider: 'jinaAI',
    modelName: 'jina-reranker-v2-base-multilingual',
    body: {
      model: 'jina-reranker-v2-base-multilingual',
      query: 'question',
      documents: passages,
      return_documents: false,
    },
    reply: { model: 'x', results: sorted, usage: { total_tokens: 1 } },
    scores: [0.1, 0.9],
  },
  {
    provider: 'voyageAI',
    modelName: 'rerank-2.5',
    body: { model: 'rerank-2.5', query: 'question', documents: passages },
    reply: { object: 'list', data: sorted },
    scores: [0.1, 0.9],
  },
  {
    provider: 'textEmbeddingsInference',
    modelName: 'endpoint-defined-model',
    body: { query: 'question', texts: passages },
    reply: sorted.map(({ index, relevance_score: score }) => ({ index, score })),
    scores: [0.1, 0.9],
  },
]

describe('reranking', async () => {
  const fake = await FakeProvider.start()
  const rerankingUrls = new Map(
    [...rerankingProviders.keys()].map((name) => [name, `${fake.url}/${name}/path`]),
  )
  const models = modelsWith({ rerankingUrls })

  test('with each provider has a case in this test', () => {
    assert.deepEqual(
      protocols.map(({ provider }) => provider),
      [...rerankingProviders.keys()],
    )
  })

  for (const { provider, modelName, body, reply, scores } of protocols)
    test(`calls ${provider} in its protocol`, async () => {
      fake.answers({ body: reply })
      assert.deepEqual(
        await models.rerank(rerankRequest({ provider, modelName }, { passages })),
        scores,
      )
      const [asked] = fake.asked
      assert.equal(asked!.path, `/${provider}/path`)
      assert.deepEqual(asked!.body, body)
      assert.equal(asked!.headers.authorization, 'Bearer the-key')
    })

  test('sends no request for an empty list', async () => {
    fake.answers({ body: {} })
    assert.deepEqual(await models.rerank(rerankRequest(nvidia, { passages: [] })), [])
    assert.equal(fake.asked.length, 0)
  })

  test('splits many passages into batches and keeps their order', async () => {
    fake.answers(({ body }) => {
      const { passages } = body as { passages: { text: string }[] }
      const rankings = passages
        .map(({ text }, index) => ({ index, logit: Number(text) }))
        .toReversed()
      return { body: { rankings }, afterMs: passages[0]!.text === '0' ? 30 : 1 }
    })
    const many = Array.from({ length: 64 }, (_, i) => String(i))
    assert.deepEqual(
      await models.rerank(rerankRequest(nvidia, { passages: many })),
      many.map(Number),
    )
    assert.equal(fake.asked.length, 7)
    assert(fake.runningMost <= 4)
  })

  const failures: [string, Answer, string, string, ...string[]][] = [
    [
      'a rejection by the provider',
      { status: 401, body: { message: 'bad key' } },
      'RERANKING_PROVIDER_CLIENT_ERROR',
      ...(['SCHEMA', 'cohere', '401', 'bad key'] as const),
    ],
    [
      'a rate limit',
      { status: 429, body: {} },
      'RERANKING_PROVIDER_RATE_LIMITED',
      'SCHEMA',
      '429',
    ],
    [
      'status 500',
      { status: 500, body: {} },
      'RERANKING_PROVIDER_SERVER_ERROR',
      'SCHEMA',
      '500',
    ],
    ['a closed connection', 'hang up', 'RERANKING_PROVIDER_SERVER_ERROR', 'SCHEMA', 'none'],
    [
      'a timeout of the provider',
      { status: 504, body: {} },
      'RERANKING_PROVIDER_TIMEOUT',
      'RERANKING_PROVIDER',
      '504',
    ],
    ...(
      [
        ['an answer that is not JSON', { body: 'no' }],
        ['another content type', { contentType: 'text/html', body: '{}' }],
        ['an answer without results', { body: {} }],
        ['too few scores', { body: { results: [sorted[1]] } }],
        ['two scores of one passage', { body: { results: [sorted[0], sorted[0]] } }],
        [
          'results without scores',
          { body: { results: [0, 1].map((index) => ({ index })) } },
        ],
      ] as [string, Answer][]
    ).map(([name, answer]): [string, Answer, string, string] => [
      name,
      answer,
      'RERANKING_PROVIDER_UNEXPECTED_RESPONSE',
      'SCHEMA',
    ]),
  ]
  for (const [name, answer, code, scope, ...named] of failures)
    test(`fails with ${name}`, async () => {
      fake.answers(answer)
      await assert.rejects(
        models.rerank(rerankRequest(cohere)),
        (error: Error & { code: string; scope: string }) => {
          assert.deepEqual([error.code, error.scope], [code, scope], error.message)
          for (const part of ['cohere', ...named]) assert(error.message.includes(part))
          return true
        },
      )
    })

  test('requires a key when the provider does, and uses the key of the server', async () => {
    fake.answers({ body: { results: sorted } })
    for (const credentials of [{}, { rerankingKey: '' }, { token: 'database-token' }])
      await assert.rejects(models.rerank(rerankRequest(cohere, { credentials })), {
        code: 'RERANKING_PROVIDER_AUTHENTICATION_KEY_NOT_PROVIDED',
        message: /cohere.*reranking-api-key/,
      })
    const keyed = modelsWith({ rerankingUrls, rerankingKeys: new Map([['cohere', 'own']]) })
    await keyed.rerank(rerankRequest(cohere, { credentials: {} }))
    await keyed.rerank(rerankRequest(cohere))
    assert.deepEqual(
      fake.asked.map(({ headers }) => headers.authorization),
      ['Bearer own', 'Bearer the-key'],
    )
  })

  test('is rejected for services that the server does not offer', async () => {
    const plain = modelsWith()
    for (const service of [
      { provider: 'acme', modelName: 'x' },
      { ...cohere, modelName: 'x' },
      { provider: 'textEmbeddingsInference', modelName: 'endpoint-defined-model' },
      { provider: 'local', modelName: 'all-MiniLM-L6-v2-late-interaction' },
      nvidia,
    ])
      await assert.rejects(plain.rerank(rerankRequest(service)), {
        code: 'RERANKING_SERVICE_TYPE_UNAVAILABLE',
      })
  })

  describe('with the built-in model', () => {
    const local: LocalModels = {
      embed: (texts) =>
        Promise.resolve(texts.map((text) => new Float32Array([text.length]))),
      rerank: (_query, given) => Promise.resolve(given.map((text) => text.length)),
      close: () => Promise.resolve(),
    }

    test('uses it for the default service until the operator sets a URL, and logs the replacement once', async () => {
      const logged: string[] = []
      const log = (_level: string, message: string) => logged.push(message)
      const built = modelsWith({}, { local, log })
      for (let i = 0; i < 3; i++)
        assert.deepEqual(await built.rerank(rerankRequest(nvidia)), [3, 5])
      assert.equal(logged.length, 1)
      assert.match(logged[0]!, /built-in.*nvidia.*--reranking-urls/)
      fake.answers({ body: protocols[0]!.reply })
      const remote = modelsWith({ rerankingUrls }, { local, log })
      assert.deepEqual(await remote.rerank(rerankRequest(nvidia)), [-3.25, 4.5])
      assert.equal(logged.length, 1)
    })

    test('reports it as the reranker when it answers for another service', () => {
      const builtIn = { provider: 'local', modelName: 'all-MiniLM-L6-v2-late-interaction' }
      const cohere = { provider: 'cohere', modelName: 'rerank-v3.5' }
      const built = modelsWith({}, { local })
      assert.deepEqual(built.answeringReranker(nvidia), builtIn)
      assert.deepEqual(built.answeringReranker(builtIn), builtIn)
      assert.deepEqual(built.answeringReranker(cohere), cohere)
      const remote = modelsWith({ rerankingUrls }, { local })
      assert.deepEqual(remote.answeringReranker(nvidia), nvidia)
      assert.deepEqual(modelsWith().answeringReranker(nvidia), nvidia, 'nobody answers')
    })

    test('offers it under the provider "local"', async () => {
      const built = modelsWith({}, { local })
      const service = { provider: 'local', modelName: 'all-MiniLM-L6-v2-late-interaction' }
      assert.deepEqual(await built.rerank(rerankRequest(service)), [3, 5])
      assert(built.rerankingProviders.has('local'))
      assert(!modelsWith().rerankingProviders.has('local'))
    })

    test('is available together with embeddings by the built-in model', async () => {
      const built = modelsWith({}, { local })
      const [vector] = await built.embed({
        service: { provider: 'local', modelName: 'all-MiniLM-L6-v2' },
        dimension: 384,
        texts: ['four'],
        purpose: 'search',
        credentials: {},
        caller: ownCaller(),
      })
      assert.deepEqual([...vector!], [4])
      await assert.rejects(
        built.embed(embedRequest({ provider: 'local', modelName: 'another' })),
        { code: 'EMBEDDING_PROVIDER_UNAVAILABLE', message: /another.*all-MiniLM-L6-v2/ },
      )
      assert.deepEqual(built.embeddingProviders.get('local')?.models[0]?.dimension, {
        kind: 'fixed',
        value: 384,
      })
      assert(!modelsWith().embeddingProviders.has('local'))
    })
  })
})
