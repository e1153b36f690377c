/**
 * Embedding services that collections request, checked against the providers that a server offers.
 */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { fromPlain } from '../../src/json/plain.ts'
import type { JsonObject } from '../../src/json/value.ts'
import { embeddingTable } from '../../src/providers/embedding-table.ts'
import { resolveEmbeddingService } from '../../src/providers/embedding-service.ts'
import { offerEmbeddings } from '../../src/providers/offered-embeddings.ts'
import {
  defaultProviderSettings,
  type ProviderSettings,
} from '../../src/providers/provider-settings.ts'

interface Given {
  readonly provider: string
  readonly modelName?: string
  readonly parameters?: object
  readonly authentication?: Readonly<Record<string, string>>
}

function resolve(
  given: Given,
  dimension?: number,
  settings: Partial<ProviderSettings> = {},
) {
  const { provider, modelName, parameters, authentication } = given
  return resolveEmbeddingService(
    {
      provider,
      modelName,
      parameters: parameters && (fromPlain(parameters) as JsonObject),
      authentication: authentication && new Map(Object.entries(authentication)),
    },
    dimension,
    offerEmbeddings({ ...defaultProviderSettings, ...settings }),
  )
}

function refuses(attempt: () => unknown, code: string, ...named: string[]): void {
  assert.throws(attempt, (error: Error & { code: string }) => {
    assert.equal(error.code, code, error.message)
    for (const name of named) assert(error.message.includes(name), error.message)
    return true
  })
}

const bad = 'INVALID_CREATE_COLLECTION_OPTIONS'

describe('the table of embedding services', () => {
  for (const [name, { models, defaultModel, parameters, batchSize }] of Object.entries(
    embeddingTable,
  ))
    test(`has a consistent entry for ${name}`, () => {
      const names = models.map((model) => model.name)
      assert.equal(new Set(names).size, names.length)
      assert(defaultModel === undefined || names.includes(defaultModel))
      assert(batchSize >= 1)
      for (const { name, dimension, parameters: own } of models) {
        const known = [...parameters, ...own].map((parameter) => parameter.name)
        assert.equal(new Set(known).size, known.length, name)
        if (dimension.kind === 'fixed') assert(dimension.value > 0)
        else if (dimension.byDefault !== undefined && dimension.kind === 'range')
          assert(
            dimension.byDefault >= dimension.min && dimension.byDefault <= dimension.max,
          )
      }
    })

  test('has the dimensions of the reference server', () => {
    for (const [provider, modelName, dimension, parameters] of [
      ['openai', 'text-embedding-3-small', 1536],
      ['openai', 'text-embedding-3-large', 3072],
      [
        'azureOpenAI',
        'text-embedding-3-large',
        1536,
        { resourceName: 'r', deploymentId: 'd' },
      ],
      ['bedrock', 'amazon.titan-embed-text-v2:0', 1024, { region: 'us-east-1' }],
      ['huggingface', 'BAAI/bge-base-en-v1.5', 768],
      ['nvidia', 'NV-Embed-QA', 1024],
      ['jinaAI', 'jina-embeddings-v2-base-zh', 768],
      ['jinaAI', 'jina-embeddings-v3', 1024, { task: 'separation', late_chunking: true }],
      ['voyageAI', 'voyage-code-2', 1536, { autoTruncate: false }],
      ['mistral', 'mistral-embed', 1024],
      ['upstageAI', 'solar-embedding-1-large', 4096],
    ] as const)
      assert.equal(
        resolve({ provider, modelName, ...(parameters && { parameters }) }).dimension,
        dimension,
        modelName,
      )
  })
})

describe('a service', () => {
  test('may name any model if its provider has no known models and the dimension is stated', () => {
    const parameters = { baseUrl: 'https://models.example.com/v1' }
    const given = { provider: 'openaiCompatible', modelName: 'acme/best:7b', parameters }
    assert.deepEqual(resolve(given, 500), { dimension: 500, service: given })
    refuses(() => resolve(given), bad, 'dimension', 'acme/best:7b')
    refuses(() => resolve({ ...given, modelName: '' }, 500), bad, 'model')
    refuses(() => resolve({ provider: given.provider, parameters }, 500), bad, 'modelName')
    refuses(() => resolve(given, 4097), bad, '4097')
  })

  test('may name a known model, or another model if the dimension is stated', () => {
    assert.equal(
      resolve({ provider: 'ollama', modelName: 'nomic-embed-text' }).dimension,
      768,
    )
    const other = { provider: 'ollama', modelName: 'nomic-embed-text:v1.5' }
    assert.equal(resolve(other, 768).service.modelName, 'nomic-embed-text:v1.5')
  })

  test('cannot name a model when its endpoint defines the model', () => {
    const parameters = { baseUrl: 'https://tei.example.com' }
    const provider = 'textEmbeddingsInference'
    assert.deepEqual(resolve({ provider, parameters }, 384), {
      dimension: 384,
      service: { provider, modelName: 'endpoint-defined-model', parameters },
    })
    refuses(() => resolve({ provider, parameters, modelName: 'm' }, 384), bad, '"m"')
  })

  test('requires a URL when the operator set none', () => {
    const given = { provider: 'openaiCompatible', modelName: 'm' }
    refuses(() => resolve(given, 2), bad, 'baseUrl')
    const embeddingUrls = new Map([['openaiCompatible', 'http://10.0.0.1/v1']])
    assert.deepEqual(resolve(given, 2, { embeddingUrls }).service, given)
  })

  test('cannot point into the private network', () => {
    for (const baseUrl of ['http://localhost:8000', 'http://169.254.169.254', 'nonsense']) {
      const given = { provider: 'ollama', modelName: 'all-minilm', parameters: { baseUrl } }
      refuses(() => resolve(given), bad, 'baseUrl')
    }
    const parameters = { baseUrl: 'http://localhost:8000' }
    const given = { provider: 'ollama', modelName: 'all-minilm', parameters }
    assert.deepEqual(resolve(given, 384, { privateProviders: true }).service, given)
  })

  test('cannot have parameters that would change the host', () => {
    const given = { provider: 'bedrock', modelName: 'amazon.titan-embed-text-v1' }
    for (const region of ['evil.com/', 'a.b', 'a@b', ''])
      refuses(() => resolve({ ...given, parameters: { region } }), bad, 'region')
  })

  test('may name a stored secret of the server, and no other secret', () => {
    const given = { provider: 'openai', modelName: 'text-embedding-3-small' }
    const authentication = { providerKey: 'team' }
    refuses(() => resolve({ ...given, authentication }), bad, 'providerKey')
    const embeddingKeys = new Map([['openai.team', 'k']])
    assert.deepEqual(
      resolve({ ...given, authentication }, undefined, { embeddingKeys }).service
        .authentication,
      { providerKey: 'team.providerKey' },
    )
    refuses(
      () =>
        resolve({ ...given, authentication: { providerKey: 'other' } }, undefined, {
          embeddingKeys,
        }),
      'VECTORIZE_CREDENTIAL_INVALID',
      ...['openai', 'other'],
    )
    refuses(
      () => resolve({ provider: 'mistral', authentication }, undefined, { embeddingKeys }),
      bad,
      'mistral',
    )
  })

  test('cannot use a model that has reached its end of life', () => {
    const given = {
      provider: 'vertexai',
      modelName: 'textembedding-gecko@003',
      parameters: { projectId: 'p' },
    }
    refuses(() => resolve(given), 'END_OF_LIFE_AI_MODEL', 'gecko')
  })
})
