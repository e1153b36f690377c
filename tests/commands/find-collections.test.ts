import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { defaultProviderSettings } from '../../src/providers/provider-settings.ts'
import { startServer, type TestServer } from '../harness.ts'

const nowhere = 'http://127.0.0.1:9/ranking'

describe('findCollections', () => {
  let server: TestServer
  before(async () => {
    server = await startServer({
      durable: false,
      // The default reranker gets an unreachable address, because with its usual address an
      // installed local model would replace it.
      providers: {
        ...defaultProviderSettings,
        rerankingUrls: new Map([['nvidia', nowhere]]),
      },
    })
    for (const name of ['shelf', 'empty'])
      await server.command('', { createKeyspace: { name } })
    for (const [name, options] of [
      ['b', undefined],
      [
        'a',
        {
          rerank: { enabled: true },
          lexical: { analyzer: 'standard', enabled: true },
          indexing: { deny: ['comment', 'about'] },
          vector: { sourceModel: 'ada002', dimension: 5 },
          defaultId: { type: 'objectId' },
        },
      ],
      ['C', { lexical: { enabled: false }, rerank: { enabled: false } }],
    ] as const)
      await server.command('/shelf', { createCollection: { name, options } })
  })
  after(() => server.close())

  const find = (options?: unknown, path = '/shelf') =>
    server.command(path, { findCollections: { options } })

  test('lists the names of collections', async () => {
    for (const options of [undefined, null, {}, { explain: false }, { explain: null }])
      assert.equal((await find(options)).text, '{"status":{"collections":["C","a","b"]}}')
  })

  test('returns an empty list for an empty keyspace', async () => {
    for (const explain of [false, true])
      assert.deepEqual((await find({ explain }, '/empty')).body, {
        status: { collections: [] },
      })
  })

  test('lists the settings of collections with explain, defaults included, in a fixed order', async () => {
    const nvidia = { provider: 'nvidia', modelName: 'nvidia/llama-3.2-nv-rerankqa-1b-v2' }
    const byDefault = {
      lexical: { enabled: true, analyzer: 'standard' },
      rerank: { enabled: true, service: nvidia },
    }
    const collections = [
      { name: 'C', options: { lexical: { enabled: false }, rerank: { enabled: false } } },
      {
        name: 'a',
        options: {
          defaultId: { type: 'objectId' },
          vector: { dimension: 5, metric: 'dot_product', sourceModel: 'ada002' },
          indexing: { deny: ['comment', 'about'] },
          ...byDefault,
        },
      },
      { name: 'b', options: byDefault },
    ]
    const expected = JSON.stringify({ status: { collections } })
    assert.equal((await find({ explain: true })).text, expected)
  })

  test('rejects unknown options', async () => {
    assert.deepEqual((await find({ explain: 'yes' })).codes, ['REQUEST_STRUCTURE_MISMATCH'])
    assert.deepEqual((await find({ verbose: true })).codes, ['COMMAND_FIELD_UNKNOWN'])
    assert.deepEqual((await find({}, '/nowhere')).codes, ['UNKNOWN_KEYSPACE'])
  })
})
