import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { defaultConfig } from '../../src/settings/config.ts'
import { defaultProviderSettings } from '../../src/providers/provider-settings.ts'
import { startServer, type TestServer } from '../harness.ts'

interface Provider {
  readonly displayName: string
  readonly url: string | null
  readonly supportedAuthentication: Record<string, { enabled: boolean; tokens: unknown[] }>
  readonly parameters: readonly { readonly name: string; readonly required: boolean }[]
  readonly models: readonly { readonly name: string; readonly parameters: unknown[] }[]
}

async function list(
  server: TestServer,
  fields: object = {},
): Promise<Record<string, Provider>> {
  const answer = await server.command('', { findEmbeddingProviders: fields })
  assert.deepEqual(answer.codes, [], answer.text)
  assert.deepEqual(Object.keys(answer.body), ['status'])
  return answer.body.status!['embeddingProviders'] as Record<string, Provider>
}

describe('findEmbeddingProviders', () => {
  let server: TestServer
  before(async () => (server = await startServer({ durable: false })))
  after(() => server.close())

  test('lists a provider with all its properties', async () => {
    const { openai } = await list(server)
    assert.deepEqual(
      {
        ...openai,
        parameters: openai!.parameters.slice(0, 1),
        models: openai!.models.slice(1),
      },
      {
        displayName: 'OpenAI',
        url: 'https://api.openai.com/v1/',
        supportedAuthentication: {
          NONE: { enabled: false, tokens: [] },
          HEADER: {
            enabled: true,
            tokens: [{ accepted: 'x-embedding-api-key', forwarded: 'Authorization' }],
          },
          SHARED_SECRET: {
            enabled: false,
            tokens: [{ accepted: 'providerKey', forwarded: 'Authorization' }],
          },
        },
        parameters: [
          {
            name: 'organizationId',
            type: 'STRING',
            required: false,
            defaultValue: null,
            validation: {},
            help: 'The organization to bill, if the key belongs to several.',
            displayName: 'Organization ID',
            hint: 'org-…',
          },
        ],
        models: [
          {
            name: 'text-embedding-3-small',
            apiModelSupport: { status: 'SUPPORTED' },
            vectorDimension: null,
            parameters: [
              {
                name: 'vectorDimension',
                type: 'number',
                required: true,
                defaultValue: '1536',
                validation: { numericRange: [2, 1536] },
                help: 'The number of elements of a vector. Set it as the dimension of the collection.',
              },
            ],
          },
          {
            name: 'text-embedding-ada-002',
            apiModelSupport: { status: 'SUPPORTED' },
            vectorDimension: 1536,
            parameters: [],
          },
        ],
      },
    )
  })

  test('lists providers without a URL, with a choice of dimensions, or with two keys', async () => {
    const { bedrock } = await list(server)
    assert.equal(bedrock!.url, null)
    assert.deepEqual(bedrock!.supportedAuthentication['HEADER']!.tokens, [
      { accepted: 'x-embedding-access-id', forwarded: 'aws_access_key_id' },
      { accepted: 'x-embedding-secret-id', forwarded: 'aws_secret_access_key' },
    ])
    assert.partialDeepStrictEqual(bedrock!.models[1]!.parameters[0], {
      name: 'vectorDimension',
      required: false,
      defaultValue: '1024',
      validation: { options: [256, 512, 1024] },
    })
  })

  test('lists all providers of the reference server, and self-hosted providers', async () => {
    const names = Object.keys(await list(server))
    for (const name of [
      ...['openai', 'azureOpenAI', 'bedrock', 'huggingface', 'huggingfaceDedicated'],
      ...['nvidia', 'jinaAI', 'voyageAI', 'mistral', 'upstageAI', 'vertexai', 'cohere'],
      ...['google', 'openaiCompatible', 'ollama', 'textEmbeddingsInference'],
    ])
      assert(names.includes(name), name)
  })

  test('sorts models by name', async () => {
    for (const { models } of Object.values(await list(server))) {
      const names = models.map(({ name }) => name)
      assert.deepEqual(names, names.toSorted())
    }
  })

  test('lists supported models by default, all models, or models of one status', async () => {
    const names = async (fields: object) =>
      (await list(server, fields))['vertexai']!.models.map(({ name }) => name)
    const supported = ['text-embedding-005', 'text-multilingual-embedding-002']
    const ended = ['textembedding-gecko@003']
    for (const fields of [{}, { options: null }])
      assert.deepEqual(await names(fields), supported)
    for (const options of [{}, { filterModelStatus: null }, { filterModelStatus: '' }])
      assert.deepEqual(await names({ options }), [...supported, ...ended])
    for (const filterModelStatus of ['SUPPORTED', 'supported', 'Supported'])
      assert.deepEqual(await names({ options: { filterModelStatus } }), supported)
    assert.deepEqual(await names({ options: { filterModelStatus: 'DEPRECATED' } }), [])
    assert.deepEqual(await names({ options: { filterModelStatus: 'end_of_life' } }), ended)
  })

  test('includes the message about the status of a model', async () => {
    const { vertexai } = await list(server, { options: {} })
    assert.deepEqual(
      vertexai!.models.map(
        (model) => (model as unknown as Record<string, unknown>)['apiModelSupport'],
      ),
      [
        { status: 'SUPPORTED' },
        { status: 'SUPPORTED' },
        { status: 'END_OF_LIFE', message: 'Use text-embedding-005.' },
      ],
    )
  })

  test('rejects unknown options', async () => {
    for (const [options, code, named] of [
      [
        { filterModelStatus: 'OLD' },
        'COMMAND_FIELD_VALUE_INVALID',
        'command.options.filterModelStatus',
      ],
      [{ filterModelStatus: 5 }, 'REQUEST_STRUCTURE_MISMATCH', 'filterModelStatus'],
      [{ status: 'OLD' }, 'COMMAND_FIELD_UNKNOWN', '"status"'],
      ['all', 'REQUEST_STRUCTURE_MISMATCH', 'options'],
    ] as const) {
      const answer = await server.command('', { findEmbeddingProviders: { options } })
      assert.deepEqual(answer.codes, [code])
      assert(answer.body.errors![0]!.message.includes(named))
    }
  })

  test('is accepted only at the database level', async () => {
    const answer = await server.command('/default_keyspace', { findEmbeddingProviders: {} })
    assert.deepEqual(answer.codes, ['COMMAND_UNKNOWN'])
  })
})

describe('findEmbeddingProviders with settings of the operator', () => {
  test('is rejected when embedding services are switched off', async () => {
    const features = { ...defaultConfig.features, vectorize: false }
    const server = await startServer({ features })
    const answer = await server.command('', { findEmbeddingProviders: {} })
    assert.deepEqual(answer.codes, ['VECTORIZE_FEATURE_NOT_AVAILABLE'])
    await server.close()
  })

  test('lists shared secrets as an authentication method, but no URLs and keys', async () => {
    const server = await startServer({
      providers: {
        ...defaultProviderSettings,
        embeddingUrls: new Map([['openaiCompatible', 'http://gpu.internal/v1']]),
        embeddingKeys: new Map([['openai.team', 'sk-secret']]),
      },
    })
    const providers = await list(server)
    assert.equal(
      providers['openai']!.supportedAuthentication['SHARED_SECRET']!.enabled,
      true,
    )
    assert.equal(
      providers['mistral']!.supportedAuthentication['SHARED_SECRET']!.enabled,
      false,
    )
    const [baseUrl] = providers['openaiCompatible']!.parameters
    assert.deepEqual([baseUrl!.name, baseUrl!.required], ['baseUrl', false])
    assert(!/sk-secret|gpu\.internal/.test(JSON.stringify(providers)))
    await server.close()
  })
})
