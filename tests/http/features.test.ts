import assert from 'node:assert/strict'
import { afterEach, describe, test } from 'node:test'
import { defaultConfig } from '../../src/settings/config.ts'
import { featuresOf } from '../../src/http/headers.ts'
import { startServer, type TestServer } from '../harness.ts'

describe('features', () => {
  const open = {
    lexical: undefined,
    reranking: undefined,
    vectorize: true,
    snakeCaseIndexes: false,
    hybridEligibility: 'both' as const,
  }

  test('have defaults: all are on except snakeCaseIndexes', () => {
    assert.deepEqual(featuresOf(open, {}), {
      lexical: true,
      reranking: true,
      vectorize: true,
      snakeCaseIndexes: false,
      hybridEligibility: 'both' as const,
    })
  })

  test('that the operator did not set are switched off by request headers with the exact value false', () => {
    for (const [said, means] of [
      ['false', false],
      ['true', true],
      ['False', true],
      ['0', true],
      ['', true],
    ] as const) {
      const headers = { 'feature-flag-lexical': said, 'feature-flag-reranking': said }
      assert.deepEqual(featuresOf(open, headers), {
        lexical: means,
        reranking: means,
        vectorize: true,
        snakeCaseIndexes: false,
        hybridEligibility: 'both' as const,
      })
    }
  })

  test('that the operator set cannot be changed by requests', () => {
    for (const set of [true, false]) {
      const settings = {
        lexical: set,
        reranking: set,
        vectorize: set,
        snakeCaseIndexes: set,
        hybridEligibility: set ? ('vector' as const) : ('both' as const),
      }
      const headers = {
        'feature-flag-lexical': String(!set),
        'feature-flag-reranking': String(!set),
        'feature-flag-vectorize': String(!set),
      }
      assert.deepEqual(featuresOf(settings, headers), settings)
    }
  })
})

describe('Feature-Flag headers', () => {
  let server: TestServer
  afterEach(() => server.close())

  const create = {
    createCollection: { name: 'books', options: { lexical: { enabled: true } } },
  }

  test('switch off features for the command of the request', async () => {
    server = await startServer()
    const off = { 'Feature-Flag-lexical': 'false' }
    const refused = await server.command('/default_keyspace', create, off)
    assert.deepEqual(refused.codes, ['LEXICAL_FEATURE_NOT_ENABLED'])
    const created = await server.command('/default_keyspace', create)
    assert.deepEqual(created.body, { status: { ok: 1 } })
  })

  test('do not switch on a feature that the operator switched off', async () => {
    server = await startServer({
      features: { ...defaultConfig.features, lexical: false },
    })
    const on = { 'Feature-Flag-lexical': 'true' }
    const refused = await server.command('/default_keyspace', create, on)
    assert.deepEqual(refused.codes, ['LEXICAL_FEATURE_NOT_ENABLED'])
  })
})
