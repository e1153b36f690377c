/**
 * The Cassandra table of a collection: its columns, its indexes, and its comment in the formats of
 * all versions.
 */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import {
  readComment,
  type SeenVector,
} from '../../../src/engine/cassandra/catalog/collection-comment.ts'
import {
  createIndexTexts,
  createTableText,
} from '../../../src/engine/cassandra/catalog/collection-table.ts'
import type { CollectionOptions } from '../../../src/engine/schema.ts'
import { apache, fork } from './capabilities.ts'

const target = { keyspace: 'ks', name: 'Books' }

const off = { enabled: false } as const
const bare: CollectionOptions = { lexical: off, rerank: off }
const full: CollectionOptions = {
  indexing: { deny: ["it's"] },
  vector: {
    dimension: 5,
    metric: 'dot_product',
    sourceModel: 'openai-v3-small',
    service: { provider: 'p', modelName: 'm' },
  },
  defaultId: { type: 'objectId' },
  lexical: { enabled: true, analyzer: { tokenizer: { name: 'keyword' } } },
  rerank: { enabled: true, service: { provider: 'nvidia', modelName: 'r' } },
}

describe('the table of a collection', () => {
  test('has a column for each access path, and stores the options in its comment', () => {
    assert.equal(
      createTableText(target, bare),
      'CREATE TABLE "ks"."Books" (key tuple<tinyint, text> PRIMARY KEY, tx_id timeuuid, ' +
        'doc_json text, exist_keys set<text>, array_size map<text, int>, ' +
        'array_contains set<text>, query_bool_values map<text, tinyint>, ' +
        'query_dbl_values map<text, decimal>, query_text_values map<text, text>, ' +
        'query_timestamp_values map<text, timestamp>, query_null_values set<text>) ' +
        `WITH comment = '{"collection":{"name":"Books","schema_version":2,"options":` +
        `{"defaultId":{"type":""},"lexical":{"enabled":false},"rerank":{"enabled":false}}}}'`,
    )
    const text = createTableText(target, full)
    assert.match(
      text,
      /query_vector_value vector<float, 5>, query_lexical_value text\) WITH/,
    )
    assert.match(text, /"indexing":\{"deny":\["it''s"\]\},"vector":\{"dimension":5,/)
    assert.match(
      text,
      /"service":\{"provider":"nvidia","modelName":"r","authentication":null,"parameters":null\}\}/,
    )
  })

  const plain = [
    ['exists_keys', 'exist_keys'],
    ['array_size', 'entries(array_size)'],
    ['array_contains', 'array_contains'],
    ['query_bool_values', 'entries(query_bool_values)'],
    ['query_dbl_values', 'entries(query_dbl_values)'],
    ['query_text_values', 'entries(query_text_values)'],
    ['query_timestamp_values', 'entries(query_timestamp_values)'],
    ['query_null_values', 'query_null_values'],
  ].map(([suffix, of]) => custom(suffix!, of!))

  test('has indexes with the options that the cluster supports', () => {
    assert.deepEqual(createIndexTexts(target, bare, apache), plain)
    const vector = custom('query_vector_value', 'query_vector_value')
    assert.deepEqual(createIndexTexts(target, full, apache), [
      ...plain,
      `${vector} WITH OPTIONS = {'similarity_function': 'dot_product'}`,
    ])
    assert.deepEqual(createIndexTexts(target, full, fork), [
      ...plain,
      `${vector} WITH OPTIONS = {'similarity_function': 'dot_product', 'source_model': 'OPENAI_V3_SMALL'}`,
      custom('query_lexical_value', 'query_lexical_value') +
        ` WITH OPTIONS = {'index_analyzer': '{"tokenizer":{"name":"keyword"}}'}`,
    ])
  })

  test('has no indexes when no field is indexed', () => {
    const options: CollectionOptions = { ...bare, indexing: { deny: ['*'] } }
    assert.deepEqual(createIndexTexts(target, options, fork), [])
  })
})

function custom(suffix: string, of: string): string {
  return (
    `CREATE CUSTOM INDEX IF NOT EXISTS "Books_${suffix}" ON "ks"."Books" (${of}) ` +
    "USING 'StorageAttachedIndex'"
  )
}

describe('the comment of a collection', () => {
  const defaults = {
    lexical: { enabled: true, analyzer: 'standard' },
    rerank: { enabled: true },
  }
  const read = (comment: unknown, seen?: SeenVector) =>
    readComment(
      'Books',
      typeof comment === 'string' ? comment : JSON.stringify(comment),
      seen,
      defaults,
    )
  const noted = (schema_version: unknown, options: object) => ({
    collection: { name: 'Books', schema_version, options },
  })
  const seen = { dimension: 3, metric: 'EUCLIDEAN', sourceModel: 'ADA002' }
  const vector = { dimension: 3, metric: 'euclidean', sourceModel: 'ada002' }

  test('is read back as it was written', () => {
    const [, comment] = /comment = '(.*)'$/.exec(createTableText(target, full))!
    assert.deepEqual(read(comment!.replaceAll("''", "'")), full)
  })

  test('may be absent: the vector options then come from the vector column', () => {
    for (const blank of ['', ' ']) {
      assert.deepEqual(read(blank), bare)
      assert.deepEqual(read(blank, seen), { ...bare, vector })
    }
    const alone = { dimension: 3 }
    const unsaid = { dimension: 3, metric: 'cosine', sourceModel: 'other' }
    assert.deepEqual(read('', alone), { ...bare, vector: unsaid })
  })

  test('in the oldest form has only the indexing options, and the vector options come from the vector column', () => {
    const indexing = { allow: ['a'] }
    assert.deepEqual(read({ indexing }, seen), { ...bare, vector, indexing })
  })

  test('in version 1 disables lexical search, unless it has lexical and rerank options', () => {
    assert.deepEqual(read(noted(1, { defaultId: { type: 'uuid' } }), seen), {
      ...bare,
      defaultId: { type: 'uuid' },
    })
    const lexical = { enabled: true, analyzer: 'whitespace' }
    assert.deepEqual(read(noted(1, { lexical, rerank: off })), { lexical, rerank: off })
    assert.throws(() => read(noted(1, { lexical })), { kind: 'schema' })
  })

  test('in version 2 has the current defaults, and accepts any spelling of a metric', () => {
    assert.deepEqual(read(noted(2, { defaultId: { type: '' } })), defaults)
    const stored = { dimension: 3, metric: 'DOT-PRODUCT', sourceModel: 'NV_QA_4' }
    const off2 = { lexical: off, rerank: off }
    assert.deepEqual(read(noted(2, { vector: stored, ...off2 })), {
      ...bare,
      vector: { dimension: 3, metric: 'dot_product', sourceModel: 'nv-qa-4' },
    })
  })

  for (const version of [0, 3, '2', null, undefined])
    test(`is rejected when its version is ${JSON.stringify(version)}`, () => {
      assert.throws(() => read(noted(version, {})), { kind: 'schemaVersion' })
    })

  for (const wrong of [
    'by hand',
    '"text"',
    'null',
    { indexing: 5 },
    noted(2, { indexing: { deny: 5 } }),
    noted(2, { vector: {} }),
    noted(2, { vector: { dimension: 3, metric: 7 } }),
  ])
    test(`is rejected when it is ${JSON.stringify(wrong)}`, () => {
      assert.throws(() => read(wrong), {
        kind: 'schema',
        message: 'the table comment of Books does not contain its options',
      })
    })

  test('is accepted when one of its members is null', () => {
    assert.deepEqual(read({ collection: null }), bare)
    const nulls = { vector: null, indexing: null, lexical: null, rerank: null }
    assert.deepEqual(read(noted(2, nulls)), defaults)
  })
})
