/** The exact requests to each embedding service, and the vectors that are read from its replies. */
import { ownCaller } from '../../src/caller/caller.ts'
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { embeddingTable } from '../../src/providers/embedding-table.ts'
import type { EmbedRequest } from '../../src/providers/models.ts'
import { embedRequest, FakeProvider, modelsWith, vectorOf } from './fake-provider.ts'

const texts = ['one', 'three']
const vectors = texts.map(vectorOf)

/** A reply whose vectors are not in the order of the texts. Their indexes state this order. */
const openAiReply = {
  data: [
    { index: 1, embedding: vectors[1] },
    { index: 0, embedding: vectors[0] },
  ],
  model: 'any',
  usage: { prompt_tokens: 1, total_tokens: 1 },
}

interface Protocol {
  readonly provider: string
  readonly modelName: string
  readonly parameters?: Readonly<Record<string, unknown>>
  readonly credentials?: EmbedRequest['credentials']
  /**
   * Path of the URL that the operator sets. The test appends it to the address of the fake provider.
   */
  readonly url: string
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body: unknown
  readonly searchBody?: unknown
  readonly reply: unknown
  readonly texts?: readonly string[]
}

const bearer = { authorization: 'Bearer the-key' }

const protocols: readonly Protocol[] = [
  {
    provider: 'openai',
    modelName: 'text-embedding-3-small',
    parameters: { organizationId: 'org-1', projectId: 'proj-1' },
    url: '/v1/',
    path: '/v1/embeddings',
    headers: { ...bearer, 'openai-organization': 'org-1', 'openai-project': 'proj-1' },
    body: { input: texts, model: 'text-embedding-3-small', dimensions: 2 },
    reply: openAiReply,
  },
  {
    provider: 'openai',
    modelName: 'text-embedding-ada-002',
    url: '/v1',
    path: '/v1/embeddings',
    body: { input: texts, model: 'text-embedding-ada-002' },
    reply: openAiReply,
  },
  {
    provider: 'azureOpenAI',
    modelName: 'text-embedding-3-large',
    parameters: { resourceName: 'mine', deploymentId: 'dep.1' },
    url: '/{resourceName}/deployments/{deploymentId}/embeddings?api-version=2024-02-01',
    path: '/mine/deployments/dep.1/embeddings?api-version=2024-02-01',
    headers: { 'api-key': 'the-key' },
    body: { input: texts, model: 'text-embedding-3-large', dimensions: 2 },
    reply: openAiReply,
  },
  {
    provider: 'bedrock',
    modelName: 'amazon.titan-embed-text-v2:0',
    parameters: { region: 'eu-west-1' },
    credentials: { embeddingAccessId: 'AKID', embeddingSecretId: 'secret' },
    url: '',
    path: '/model/amazon.titan-embed-text-v2%3A0/invoke',
    body: { inputText: 'one', dimensions: 2 },
    reply: { embedding: vectors[0], inputTextTokenCount: 1 },
    texts: ['one'],
  },
  {
    provider: 'bedrock',
    modelName: 'amazon.titan-embed-text-v1',
    parameters: { region: 'eu-west-1' },
    credentials: { embeddingAccessId: 'AKID', embeddingSecretId: 'secret' },
    url: '/base/',
    path: '/base/model/amazon.titan-embed-text-v1/invoke',
    body: { inputText: 'one' },
    reply: { embedding: vectors[0], inputTextTokenCount: 1 },
    texts: ['one'],
  },
  {
    provider: 'huggingface',
    modelName: 'BAAI/bge-small-en-v1.5',
    url: '/models/{modelId}/pipeline/feature-extraction',
    path: '/models/BAAI/bge-small-en-v1.5/pipeline/feature-extraction',
    headers: bearer,
    body: { inputs: texts, options: { waitForModel: true } },
    reply: vectors,
  },
  {
    provider: 'huggingfaceDedicated',
    modelName: 'endpoint-defined-model',
    url: '/embeddings',
    path: '/embeddings',
    headers: bearer,
    body: { input: texts },
    reply: openAiReply,
  },
  {
    provider: 'nvidia',
    modelName: 'NV-Embed-QA',
    url: '/v1/embeddings',
    path: '/v1/embeddings',
    headers: bearer,
    body: { input: texts, model: 'NV-Embed-QA', input_type: 'passage' },
    searchBody: { input: texts, model: 'NV-Embed-QA', input_type: 'query' },
    reply: openAiReply,
  },
  {
    provider: 'jinaAI',
    modelName: 'jina-embeddings-v3',
    parameters: { task: 'retrieval.passage', late_chunking: true },
    url: '/v1/embeddings',
    path: '/v1/embeddings',
    headers: bearer,
    body: {
      input: texts,
      model: 'jina-embeddings-v3',
      dimensions: 2,
      task: 'retrieval.passage',
      late_chunking: true,
    },
    reply: openAiReply,
  },
  {
    provider: 'jinaAI',
    modelName: 'jina-embeddings-v2-base-de',
    url: '/',
    path: '/',
    body: { input: texts, model: 'jina-embeddings-v2-base-de' },
    reply: openAiReply,
  },
  {
    provider: 'voyageAI',
    modelName: 'voyage-2',
    parameters: { autoTruncate: false },
    url: '/v1/embeddings',
    path: '/v1/embeddings',
    headers: bearer,
    body: { input: texts, model: 'voyage-2', input_type: 'document', truncation: false },
    searchBody: { input: texts, model: 'voyage-2', input_type: 'query', truncation: false },
    reply: openAiReply,
  },
  {
    provider: 'voyageAI',
    modelName: 'voyage-3.5-lite',
    url: '/v1/embeddings',
    path: '/v1/embeddings',
    body: {
      input: texts,
      model: 'voyage-3.5-lite',
      input_type: 'document',
      output_dimension: 2,
    },
    reply: openAiReply,
  },
  {
    provider: 'mistral',
    modelName: 'mistral-embed',
    url: '/v1/embeddings',
    path: '/v1/embeddings',
    headers: bearer,
    body: { input: texts, model: 'mistral-embed', encoding_format: 'float' },
    reply: openAiReply,
  },
  {
    provider: 'upstageAI',
    modelName: 'solar-embedding-1-large',
    url: '/v1/solar/embeddings',
    path: '/v1/solar/embeddings',
    headers: bearer,
    body: { input: 'one', model: 'solar-embedding-1-large-passage' },
    searchBody: { input: 'one', model: 'solar-embedding-1-large-query' },
    reply: { data: [{ index: 0, embedding: vectors[0] }] },
    texts: ['one'],
  },
  {
    provider: 'vertexai',
    modelName: 'text-embedding-005',
    parameters: { projectId: 'my-project', autoTruncate: true },
    url: '/projects/{projectId}/models',
    path: '/projects/my-project/models/text-embedding-005:predict',
    headers: bearer,
    body: {
      instances: texts.map((content) => ({ content, task_type: 'RETRIEVAL_DOCUMENT' })),
      parameters: { autoTruncate: true },
    },
    searchBody: {
      instances: texts.map((content) => ({ content, task_type: 'RETRIEVAL_QUERY' })),
      parameters: { autoTruncate: true },
    },
    reply: { predictions: vectors.map((values) => ({ embeddings: { values } })) },
  },
  {
    provider: 'cohere',
    modelName: 'embed-v4.0',
    url: '/v2/',
    path: '/v2/embed',
    headers: bearer,
    body: {
      texts,
      model: 'embed-v4.0',
      input_type: 'search_document',
      embedding_types: ['float'],
      output_dimension: 2,
    },
    searchBody: {
      texts,
      model: 'embed-v4.0',
      input_type: 'search_query',
      embedding_types: ['float'],
      output_dimension: 2,
    },
    reply: { id: 'x', embeddings: { float: vectors }, meta: {} },
  },
  {
    provider: 'google',
    modelName: 'gemini-embedding-001',
    url: '/v1beta/models',
    path: '/v1beta/models/gemini-embedding-001:batchEmbedContents',
    headers: { 'x-goog-api-key': 'the-key' },
    body: {
      requests: texts.map((text) => ({
        model: 'models/gemini-embedding-001',
        content: { parts: [{ text }] },
        taskType: 'RETRIEVAL_DOCUMENT',
        outputDimensionality: 2,
      })),
    },
    reply: { embeddings: vectors.map((values) => ({ values })) },
  },
  {
    provider: 'openaiCompatible',
    modelName: 'what/ever:latest',
    url: '/v1',
    path: '/v1/embeddings',
    headers: bearer,
    body: { input: texts, model: 'what/ever:latest' },
    reply: openAiReply,
  },
  {
    provider: 'openaiCompatible',
    modelName: 'bendable',
    parameters: { sendDimension: true },
    url: '/v1',
    path: '/v1/embeddings',
    body: { input: texts, model: 'bendable', dimensions: 2 },
    reply: { data: vectors.map((embedding) => ({ embedding })) },
  },
  {
    provider: 'ollama',
    modelName: 'nomic-embed-text:latest',
    url: '',
    path: '/api/embed',
    body: { model: 'nomic-embed-text:latest', input: texts },
    reply: { model: 'any', embeddings: vectors, total_duration: 5 },
  },
  {
    provider: 'textEmbeddingsInference',
    modelName: 'endpoint-defined-model',
    parameters: { autoTruncate: true },
    url: '/tei/',
    path: '/tei/embed',
    body: { inputs: texts, truncate: true },
    reply: vectors,
  },
]

describe('an embedding service', async () => {
  const fake = await FakeProvider.start()

  test('has a case in this test for each provider', () => {
    assert.deepEqual(
      new Set(protocols.map(({ provider }) => provider)),
      new Set(Object.keys(embeddingTable)),
    )
  })

  for (const protocol of protocols) {
    const { provider, modelName, parameters, credentials, path, headers, reply } = protocol
    test(`from ${provider} is called in its protocol, with the model ${modelName}`, async () => {
      const models = modelsWith({
        embeddingUrls: new Map([[provider, fake.url + protocol.url]]),
      })
      fake.answers({ body: reply })
      const service = { provider, modelName, ...(parameters && { parameters }) }
      const asked = protocol.texts ?? texts
      for (const purpose of ['index', 'search'] as const) {
        const request = embedRequest(service, {
          texts: asked,
          purpose,
          ...(credentials && { credentials }),
        })
        assert.deepEqual(
          (await models.embed(request)).map((vector) => [...vector]),
          asked.map(vectorOf),
        )
      }
      const [forIndex, forSearch] = fake.asked
      assert.equal(forIndex!.path, path)
      assert.deepEqual(forIndex!.body, protocol.body)
      assert.deepEqual(forSearch!.body, protocol.searchBody ?? searchBodyOf(protocol))
      assert.equal(forIndex!.headers['content-type'], 'application/json')
      for (const [name, value] of Object.entries(headers ?? {}))
        assert.equal(forIndex!.headers[name], value, name)
      assert.equal(fake.asked.length, 2)
    })
  }

  test('that requires signatures receives a signature, and not the secret', async () => {
    const models = modelsWith({ embeddingUrls: new Map([['bedrock', fake.url]]) })
    fake.answers({ body: { embedding: vectors[0] } })
    await models.embed(
      embedRequest(
        {
          provider: 'bedrock',
          modelName: 'amazon.titan-embed-text-v1',
          parameters: { region: 'eu-west-1' },
        },
        { credentials: { embeddingAccessId: 'AKID', embeddingSecretId: 'very-secret' } },
      ),
    )
    const { authorization } = fake.asked[0]!.headers
    assert.match(
      authorization!,
      /^AWS4-HMAC-SHA256 Credential=AKID\/\d{8}\/eu-west-1\/bedrock\/aws4_request, SignedHeaders=content-type;host;x-amz-date, Signature=[0-9a-f]{64}$/,
    )
    assert(!JSON.stringify(fake.asked).includes('very-secret'))
  })

  test('never receives the token of the request', async () => {
    const models = modelsWith({
      embeddingUrls: new Map([['nvidia', fake.url]]),
      rerankingUrls: new Map([['nvidia', fake.url]]),
    })
    fake.answers({ body: { data: [{ index: 0, embedding: vectors[0] }] } })
    const credentials = { token: 'database-token' }
    const service = { provider: 'nvidia', modelName: 'NV-Embed-QA' }
    await models.embed(embedRequest(service, { credentials }))
    fake.answer = () => ({ body: { rankings: [{ index: 0, logit: 1 }] } })
    await models.rerank({
      service: { provider: 'nvidia', modelName: 'nvidia/llama-3.2-nv-rerankqa-1b-v2' },
      query: 'q',
      passages: ['p'],
      credentials,
      caller: ownCaller(),
    })
    assert.equal(fake.asked.length, 2)
    assert(!JSON.stringify(fake.asked).includes('database-token'))
  })
})

/** The body of a search. Some services expect another input type than for documents. */
function searchBodyOf({ body }: Protocol): unknown {
  return JSON.parse(
    JSON.stringify(body)
      .replaceAll('RETRIEVAL_DOCUMENT', 'RETRIEVAL_QUERY')
      .replace('"input_type":"document"', '"input_type":"query"'),
  )
}
