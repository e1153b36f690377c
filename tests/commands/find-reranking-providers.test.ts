import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { defaultProviderSettings } from '../../src/providers/provider-settings.ts'
import { startServer, type TestServer } from '../harness.ts'

interface Provider {
  readonly isDefault: boolean
  readonly models: readonly { readonly name: string; readonly isDefault: boolean }[]
}

describe('findRerankingProviders', () => {
  let server: TestServer
  before(async () => (server = await startServer({ durable: false })))
  after(() => server.close())

  async function list(
    fields: object = {},
    from = server,
  ): Promise<Record<string, Provider>> {
    const answer = await from.command('', { findRerankingProviders: fields })
    assert.deepEqual(answer.codes, [], answer.text)
    return answer.body.status!['rerankingProviders'] as Record<string, Provider>
  }

  test('lists a provider with all its properties', async () => {
    const { nvidia, cohere } = await list()
    assert.deepEqual(nvidia, {
      isDefault: true,
      displayName: 'Nvidia',
      supportedAuthentication: { NONE: { enabled: true, tokens: [] } },
      models: [
        {
          name: 'nvidia/llama-3.2-nv-rerankqa-1b-v2',
          apiModelSupport: { status: 'SUPPORTED' },
          isDefault: true,
          url: 'https://us-west-2.api-dev.ai.datastax.com/nvidia/v1/ranking',
          properties: null,
        },
      ],
    })
    assert.partialDeepStrictEqual(cohere, {
      isDefault: false,
      supportedAuthentication: {
        NONE: { enabled: false, tokens: [] },
        HEADER: {
          enabled: true,
          tokens: [{ accepted: 'reranking-api-key', forwarded: 'Authorization' }],
        },
      },
    })
  })

  test('lists exactly one default provider and one default model', async () => {
    const providers = Object.values(await list())
    assert.equal(providers.filter(({ isDefault }) => isDefault).length, 1)
    const models = providers.flatMap(({ models }) => models)
    assert.equal(models.filter(({ isDefault }) => isDefault).length, 1)
  })

  test('lists a self-hosted service once it has a URL', async () => {
    assert(!('textEmbeddingsInference' in (await list())))
    const rerankingUrls = new Map([
      ['textEmbeddingsInference', 'http://gpu.internal/rerank'],
    ])
    const other = await startServer({
      providers: { ...defaultProviderSettings, rerankingUrls },
    })
    const providers = await list({}, other)
    assert('textEmbeddingsInference' in providers)
    assert(!JSON.stringify(providers).includes('gpu.internal'))
    await other.close()
  })

  test('lists models by status', async () => {
    const count = async (options: unknown) =>
      (await list({ options }))['nvidia']!.models.length
    for (const options of [null, {}, { filterModelStatus: 'supported' }])
      assert.equal(await count(options), 1)
    assert.equal(await count({ filterModelStatus: 'DEPRECATED' }), 0)
    const answer = await server.command('', {
      findRerankingProviders: { options: { filterModelStatus: 'OLD' } },
    })
    assert.deepEqual(answer.codes, ['COMMAND_FIELD_VALUE_INVALID'])
  })

  test('is rejected when reranking is switched off', async () => {
    const answer = await server.command(
      '',
      { findRerankingProviders: {} },
      { 'Feature-Flag-reranking': 'false' },
    )
    assert.deepEqual(answer.codes, ['RERANKING_FEATURE_NOT_ENABLED'])
  })
})
