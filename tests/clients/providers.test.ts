import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { refusal, Service } from './client.ts'

const service = await Service.start()
const admin = service.connect().admin({ environment: 'hcd' })

describe('providers', () => {
  test('include embedding providers', async () => {
    const { embeddingProviders } = await admin.findEmbeddingProviders()
    const { openai } = embeddingProviders
    assert.equal(openai!.displayName, 'OpenAI')
    assert(openai!.supportedAuthentication.HEADER.enabled)
    const [large] = openai!.models
    assert.equal(large!.name, 'text-embedding-3-large')
    assert.equal(large!.apiModelSupport.status, 'SUPPORTED')
    assert.deepEqual(large!.parameters[0]!.validation, { numericRange: [256, 3072] })
  })

  test('include reranking providers', async () => {
    const { rerankingProviders } = await admin.findRerankingProviders()
    const [[name, provider]] = Object.entries(rerankingProviders).filter(
      ([, { isDefault }]) => isDefault,
    ) as [[string, (typeof rerankingProviders)[string]]]
    assert.equal(name, 'nvidia')
    assert.equal(provider.models.find((model) => model.isDefault)!.properties, null)
  })

  test('can be chosen for a collection', async () => {
    const collection = await service.connect().createCollection('with_openai', {
      vector: {
        metric: 'cosine',
        service: {
          provider: 'openai',
          modelName: 'text-embedding-3-small',
          parameters: { organizationId: 'org-1' },
        },
      },
    })
    assert.partialDeepStrictEqual((await collection.options()).vector, {
      dimension: 1536,
      service: { provider: 'openai', modelName: 'text-embedding-3-small' },
    })
  })

  test('cannot be in the private network of the server', async () => {
    const error = await refusal(
      service.connect().createCollection('with_neighbour', {
        vector: {
          dimension: 3,
          service: {
            provider: 'openaiCompatible',
            modelName: 'any',
            parameters: { baseUrl: 'http://127.0.0.1:9200' },
          },
        },
      }),
    )
    assert.equal(error.errorCode, 'INVALID_CREATE_COLLECTION_OPTIONS')
    assert(error.message.includes('127.0.0.1'))
  })
})
