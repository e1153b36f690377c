/** Embedding through providers: batches, keys and failures. */
import { ownCaller } from '../../src/caller/caller.ts'
import assert from 'node:assert/strict'
import { hostname } from 'node:os'
import { describe, test } from 'node:test'
import type { ApiError } from '../../src/errors/api-error.ts'
import type { EmbedRequest } from '../../src/providers/models.ts'
import {
  embedRequest,
  FakeProvider,
  modelsWith,
  vectorOf,
  type Answer,
} from './fake-provider.ts'

const openai = { provider: 'openai', modelName: 'text-embedding-3-small' }
const mistral = { provider: 'mistral', modelName: 'mistral-embed' }

/** Creates a reply in the format of OpenAI and of compatible services. */
function embeds(asked: { readonly body: unknown }): Answer {
  const { input } = asked.body as { input: string[] }
  return {
    body: { data: input.map((text, index) => ({ index, embedding: vectorOf(text) })) },
  }
}

describe('embedding', async () => {
  const fake = await FakeProvider.start()
  const embeddingUrls = new Map(
    ['openai', 'mistral', 'openaiCompatible'].map((name) => [name, fake.url]),
  )
  const models = modelsWith({ embeddingUrls })
  const numbers = (count: number) =>
    Array.from({ length: count }, (_, i) => 'x'.repeat(i + 1))
  const fails = (request: EmbedRequest, code: string, ...named: string[]) =>
    assert.rejects(models.embed(request), (error: Error & { code: string }) => {
      assert.equal(error.code, code, error.message)
      for (const name of named) assert(error.message.includes(name), error.message)
      return true
    })

  test('sends no request for an empty list', async () => {
    fake.answers(embeds)
    assert.deepEqual(await models.embed(embedRequest(openai, { texts: [] })), [])
    assert.equal(fake.asked.length, 0)
  })

  test('splits many texts into batches and keeps their order', async () => {
    fake.answers((asked) => {
      const { input } = asked.body as { input: string[] }
      // The first batch is answered last, so the order of replies differs from that of batches.
      return { ...(embeds(asked) as object), afterMs: input[0] === 'x' ? 40 : 1 } as Answer
    })
    const texts = numbers(150)
    const vectors = await models.embed(embedRequest(mistral, { texts }))
    assert.deepEqual(
      vectors.map((vector) => [...vector]),
      texts.map(vectorOf),
    )
    assert.deepEqual(
      fake.asked
        .map(({ body }) => (body as { input: string[] }).input.length)
        .toSorted((a, b) => a - b),
      [22, 32, 32, 32, 32],
    )
    assert(fake.runningMost <= 4, `${fake.runningMost} at once`)
  })

  test('fails with the first failure and aborts the other batches', async () => {
    let times = 0
    fake.answers(() =>
      ++times === 2 ? { status: 400, body: { message: 'no' } } : 'silence',
    )
    await fails(
      embedRequest(mistral, { texts: numbers(500) }),
      'EMBEDDING_PROVIDER_CLIENT_ERROR',
      'mistral',
      '400',
      'no',
    )
    assert(fake.asked.length <= 4)
  })

  test('is aborted when the client disconnects', async () => {
    fake.answers('silence')
    const abort = new AbortController()
    const embedding = models.embed(
      embedRequest(mistral, { texts: numbers(500), caller: ownCaller(abort.signal) }),
    )
    while (fake.asked.length === 0) await new Promise((resolve) => setTimeout(resolve, 1))
    abort.abort()
    await assert.rejects(embedding, { name: 'AbortError' })
    assert(fake.asked.length <= 4)
  })

  describe('fails', () => {
    const failures: [string, Answer, string, ...string[]][] = [
      [
        'with a rejection by the provider',
        { status: 401, body: { error: { message: 'bad key' } } },
        'EMBEDDING_PROVIDER_CLIENT_ERROR',
        ...['openai', '401', 'bad key'],
      ],
      [
        'with a rejection in another format',
        { status: 422, body: { problem: 'odd' } },
        'EMBEDDING_PROVIDER_CLIENT_ERROR',
        ...['422', '{"problem":"odd"}'],
      ],
      [
        'with a rejection that is not JSON',
        { status: 403, contentType: 'text/html', body: '<h1>Go\n away</h1>' },
        'EMBEDDING_PROVIDER_CLIENT_ERROR',
        ...['403', '<h1>Go away</h1>'],
      ],
      [
        'with a rate limit',
        { status: 429, body: { error: { message: 'slow down' } } },
        'EMBEDDING_PROVIDER_RATE_LIMITED',
        ...['openai', '429', 'slow down'],
      ],
      [
        'with status 503',
        { status: 503, body: { error: { message: 'down' } } },
        'EMBEDDING_PROVIDER_SERVER_ERROR',
        ...['openai', '503', 'down'],
      ],
      [
        'with status 500 and an empty body',
        { status: 500, body: '' },
        'EMBEDDING_PROVIDER_SERVER_ERROR',
        '500',
      ],
      [
        'with a closed connection',
        'hang up',
        'EMBEDDING_PROVIDER_SERVER_ERROR',
        'openai',
        'none',
      ],
      [
        'with half an answer',
        'half an answer',
        'EMBEDDING_PROVIDER_SERVER_ERROR',
        'openai',
      ],
      [
        'with a timeout of the provider',
        { status: 504, body: { error: { message: 'late' } } },
        'EMBEDDING_PROVIDER_TIMEOUT',
        ...['openai', '504', 'late'],
      ],
    ]
    const odd: [string, Answer, ...string[]][] = [
      ['with a redirect', { status: 302, body: '' }, '302'],
      [
        'with an answer of another content type',
        { contentType: 'text/plain', body: '[]' },
        'text/plain',
      ],
      ['with an answer without a content type', { contentType: '', body: '[]' }, 'JSON'],
      ['with an empty answer', { body: '' }, 'empty'],
      ['with null instead of the vectors', { body: { data: null } }, '2 vectors'],
      ['with null as the answer', { body: null }, '2 vectors'],
      ['with an object instead of the vectors', { body: { data: { a: 1 } } }, '2 vectors'],
      [
        'with too few vectors',
        { body: { data: [{ index: 0, embedding: [1, 2] }] } },
        '2',
        '1',
      ],
      [
        'with too many vectors',
        { body: { data: [0, 1, 2].map((index) => ({ index, embedding: [1, 2] })) } },
        ...['2 vectors', '3'],
      ],
      [
        'with the same vector twice',
        { body: { data: [0, 0].map((index) => ({ index, embedding: [1, 2] })) } },
      ],
      [
        'with an index that does not exist',
        { body: { data: [0, 2].map((index) => ({ index, embedding: [1, 2] })) } },
      ],
      [
        'with vectors of another length',
        { body: { data: [0, 1].map((index) => ({ index, embedding: [1, 2, 3] })) } },
        ...['2 numbers', '3'],
      ],
      [
        'with texts instead of numbers',
        { body: { data: [0, 1].map((index) => ({ index, embedding: ['1', '2'] })) } },
      ],
      [
        'with numbers that are too large',
        '{"data":[{"index":0,"embedding":[1e99,1]},{"index":1,"embedding":[1,1]}]}',
      ],
      [
        'with texts instead of vectors',
        { body: { data: [0, 1].map((index) => ({ index, embedding: 'AAAA' })) } },
      ],
      ['with a number and null instead of vectors', { body: { data: [5, null] } }],
      [
        'with an answer that is too large',
        { body: `"${'x'.repeat(2_000_000)}"` },
        'larger',
      ],
    ].map(([name, answer, ...named]) => [
      name,
      typeof answer === 'string' ? { body: answer } : answer,
      ...named,
    ]) as [string, Answer, ...string[]][]
    for (const [name, answer, code, ...named] of [
      ...failures,
      ...odd.map(
        ([name, answer, ...named]) =>
          [
            name,
            answer,
            'EMBEDDING_PROVIDER_UNEXPECTED_RESPONSE',
            'openai',
            ...named,
          ] as const,
      ),
      [
        'with incomplete JSON',
        { body: '{"data": [' },
        'EMBEDDING_RESPONSE_DECODING_ERROR',
        ...['openai', 'text-embedding-3-small', 'data'],
      ] as [string, Answer, string, ...string[]],
    ])
      test(name, async () => {
        fake.answers(answer)
        await fails(embedRequest(openai, { texts: ['a', 'b'] }), code, ...named)
      })

    test('with a message that contains neither the key nor the full text of the provider', async () => {
      const message = `the-key is wrong. ${'x'.repeat(5_000)}`
      fake.answers({ status: 401, body: { error: { message } } })
      await assert.rejects(models.embed(embedRequest(openai)), ({ message }: Error) => {
        assert(message.includes('*** is wrong'))
        assert(!message.includes('the-key'))
        assert(message.length < 1_000)
        return true
      })
    })

    test('when a URL does not resolve', async () => {
      const service = {
        provider: 'openaiCompatible',
        modelName: 'm',
        parameters: { baseUrl: 'http://nowhere.invalid' },
      }
      const code = 'EMBEDDING_PROVIDER_BAD_HOST_NAME'
      await fails(embedRequest(service), code, 'openaiCompatible', 'nowhere.invalid')
    })

    test('when a URL points into the private network', async () => {
      fake.answers(embeds)
      const service = {
        provider: 'openaiCompatible',
        modelName: 'm',
        parameters: { baseUrl: fake.url },
      }
      const code = 'EMBEDDING_PROVIDER_BAD_HOST_NAME'
      await fails(embedRequest(service), code, 'openaiCompatible', '--private-providers')
      assert.equal(fake.asked.length, 0)
      const open = modelsWith({ privateProviders: true })
      assert.deepEqual([...(await open.embed(embedRequest(service)))[0]!], vectorOf('one'))
    })

    test('with the same message for a private host name and an unknown one', async () => {
      const messages = new Set<string>()
      for (const host of [hostname(), 'nowhere.invalid']) {
        const parameters = { baseUrl: `http://${host}` }
        const service = { provider: 'openaiCompatible', modelName: 'm', parameters }
        await assert.rejects(models.embed(embedRequest(service)), (error: ApiError) => {
          assert.equal(error.code, 'EMBEDDING_PROVIDER_BAD_HOST_NAME')
          messages.add(error.message.replace(host, '<host>'))
          return true
        })
      }
      assert.equal(messages.size, 1, [...messages].join('\n'))
    })

    test('when the model or the provider was removed', async () => {
      const code = 'EMBEDDING_PROVIDER_UNAVAILABLE'
      await fails(embedRequest({ ...openai, provider: 'acme' }), code, 'acme', 'openai')
      await fails(embedRequest({ ...openai, modelName: 'old' }), code, 'openai', '"old"')
      await fails(embedRequest({ ...openai, provider: 'local' }), code, 'local')
    })

    test('when the model has reached its end of life', async () => {
      const service = {
        provider: 'vertexai',
        modelName: 'textembedding-gecko@003',
        parameters: { projectId: 'p' },
      }
      await fails(
        embedRequest(service),
        'END_OF_LIFE_AI_MODEL',
        'gecko',
        'text-embedding-005',
      )
    })

    test('when a parameter cannot be sent', async () => {
      fake.answers(embeds)
      const service = { ...openai, parameters: { organizationId: 'a\r\nb: c' } }
      const code = 'EMBEDDING_PROVIDER_CLIENT_ERROR'
      await fails(embedRequest(service), code, 'openai', 'openai-organization')
      assert.equal(fake.asked.length, 0)
    })

    test('when the provider needs a URL that the operator has not set', async () => {
      const service = { provider: 'nvidia', modelName: 'NV-Embed-QA' }
      const code = 'EMBEDDING_PROVIDER_UNAVAILABLE'
      const builtIn = '{"provider":"local","modelName":"all-MiniLM-L6-v2"}'
      await fails(embedRequest(service), code, builtIn, '--embedding-urls nvidia=')
    })
  })

  describe('with keys', () => {
    const keyed = modelsWith({
      embeddingUrls: new Map([...embeddingUrls, ['bedrock', fake.url]]),
      embeddingKeys: new Map([
        ['openai', 'own-key'],
        ['openai.team', 'team-key'],
        ['openaiCompatible', 'compatible-key'],
        ['azureOpenAI', 'azure-key'],
        ['huggingfaceDedicated', 'face-key'],
        ['bedrock', 'ID:with:colons'],
      ]),
      privateProviders: true,
    })
    const keyUsed = async (
      service: EmbedRequest['service'],
      credentials: EmbedRequest['credentials'],
    ) => {
      fake.answers(embeds)
      await keyed.embed(embedRequest(service, { credentials }))
      return fake.asked[0]!.headers.authorization
    }
    const team = { ...openai, authentication: { providerKey: 'team.providerKey' } }

    test('prefers keys of the request', async () => {
      const credentials = { embeddingKey: 'sent' }
      assert.equal(await keyUsed(openai, credentials), 'Bearer sent')
      assert.equal(await keyUsed(team, credentials), 'Bearer sent')
    })

    test('uses keys of the server for requests without one', async () => {
      assert.equal(await keyUsed(openai, {}), 'Bearer own-key')
      assert.equal(await keyUsed(openai, { embeddingKey: '' }), 'Bearer own-key')
    })

    test('uses the key that the collection names', async () => {
      assert.equal(await keyUsed(team, {}), 'Bearer team-key')
    })

    test('rejects an unknown key name', async () => {
      const service = { ...openai, authentication: { providerKey: 'gone.providerKey' } }
      await assert.rejects(keyed.embed(embedRequest(service, { credentials: {} })), {
        code: 'VECTORIZE_CREDENTIAL_INVALID',
        message: /gone.*openai/,
      })
    })

    test('names the headers when keys are missing', async () => {
      await fails(
        embedRequest(openai, { credentials: { token: 't' } }),
        'EMBEDDING_PROVIDER_AUTHENTICATION_KEYS_NOT_PROVIDED',
        ...['openai', 'x-embedding-api-key'],
      )
      const bedrock = {
        provider: 'bedrock',
        modelName: 'amazon.titan-embed-text-v1',
        parameters: { region: 'r' },
      }
      for (const credentials of [{}, { embeddingKey: 'k' }, { embeddingAccessId: 'a' }])
        await fails(
          embedRequest(bedrock, { credentials }),
          'EMBEDDING_PROVIDER_AUTHENTICATION_KEYS_NOT_PROVIDED',
          ...['bedrock', 'x-embedding-access-id', 'x-embedding-secret-id'],
        )
    })

    test('signs requests with an access key and its secret', async () => {
      fake.answers({ body: { embedding: [1, 2] } })
      const service = {
        provider: 'bedrock',
        modelName: 'amazon.titan-embed-text-v1',
        parameters: { region: 'r' },
      }
      await keyed.embed(embedRequest(service, { credentials: {} }))
      assert.match(fake.asked[0]!.headers.authorization!, /Credential=ID\//)
    })

    test('requires no key when the provider requires none', async () => {
      fake.answers(embeds)
      const service = { provider: 'openaiCompatible', modelName: 'm' }
      await models.embed(embedRequest(service, { credentials: {} }))
      assert.equal(fake.asked[0]!.headers.authorization, undefined)
    })

    test('never sends keys of the server to a host that a collection chose', async () => {
      const service = { provider: 'openaiCompatible', modelName: 'm' }
      assert.equal(await keyUsed(service, {}), 'Bearer compatible-key')
      const elsewhere = { ...service, parameters: { baseUrl: fake.url } }
      assert.equal(await keyUsed(elsewhere, {}), undefined)
      assert.equal(await keyUsed(elsewhere, { embeddingKey: 'sent' }), 'Bearer sent')
      for (const [provider, modelName, parameters] of [
        [
          'azureOpenAI',
          'text-embedding-3-small',
          { resourceName: 'evil', deploymentId: 'd' },
        ],
        [
          'huggingfaceDedicated',
          'endpoint-defined-model',
          { endpointName: 'evil', regionName: 'r', cloudName: 'c' },
        ],
      ] as const)
        await assert.rejects(
          keyed.embed(
            embedRequest({ provider, modelName, parameters }, { credentials: {} }),
          ),
          {
            code: 'EMBEDDING_PROVIDER_AUTHENTICATION_KEYS_NOT_PROVIDED',
            message: /--embedding-urls/,
          },
        )
    })
  })
})
