import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { Schemas } from './schemas.ts'

let count = 0

describe('createVectorIndex', () => {
  const schemas = new Schemas({ vectorDimensionMax: 8 })

  const create = (column: unknown, options?: unknown, more: object = {}) => ({
    createVectorIndex: {
      name: `near_${++count}`,
      definition: { column, options },
      ...more,
    },
  })
  const vectors = (...names: string[]) =>
    schemas.table(
      Object.fromEntries(names.map((name) => [name, { type: 'vector', dimension: 3 }])),
    )

  test('derives the metric from the source model unless a metric is given', async () => {
    for (const [options, metric, sourceModel] of [
      [undefined, 'cosine', 'other'],
      [{}, 'cosine', 'other'],
      [{ metric: 'EUCLIDEAN' }, 'euclidean', 'other'],
      [{ sourceModel: 'other' }, 'cosine', 'other'],
      [{ sourceModel: 'Ada002' }, 'dot_product', 'ada002'],
      [{ sourceModel: 'openai-v3-large' }, 'dot_product', 'openai-v3-large'],
      [{ sourceModel: 'bert', metric: 'cosine' }, 'cosine', 'bert'],
    ] as const) {
      const table = await vectors('v')
      await schemas.ok(table, create('v', options))
      const explain = { listIndexes: { options: { explain: true } } }
      const [index] = (await schemas.status(table, explain, 'indexes')) as object[]
      assert.deepEqual(index, {
        name: `near_${count}`,
        definition: { column: 'v', options: { metric, sourceModel } },
        indexType: 'vector',
      })
    }
  })

  test('rejects unknown metrics and models', async () => {
    const table = await vectors('v')
    await schemas.refuse(
      table,
      create('v', { metric: 'manhattan' }),
      'UNKNOWN_VECTOR_METRIC',
      '"manhattan"',
      'dot_product',
    )
    await schemas.refuse(
      table,
      create('v', { sourceModel: 'gpt' }),
      'UNKNOWN_VECTOR_SOURCE_MODEL',
      '"gpt"',
      'nv-qa-4',
    )
    await schemas.refuse(table, create('v', { metric: 5 }), 'REQUEST_STRUCTURE_MISMATCH')
    await schemas.refuse(table, create('v', { x: 5 }), 'COMMAND_FIELD_UNKNOWN')
  })

  test('rejects columns that do not exist or hold no vectors', async () => {
    const table = await schemas.table({ a: 'text' })
    await schemas.refuse(
      table,
      create('a', { metric: 'manhattan' }),
      'UNSUPPORTED_VECTOR_INDEX_FOR_DATA_TYPES',
      'a(text)',
    )
    await schemas.refuse(table, create('b'), 'UNKNOWN_INDEX_COLUMN', '"b"')
    await schemas.refuse(table, create({ a: '$keys' }), 'REQUEST_STRUCTURE_MISMATCH')
    await schemas.refuse(table, create(undefined), 'COMMAND_FIELD_VALUE_INVALID')
  })

  test('indexes several columns, but no column twice', async () => {
    const table = await vectors('v', 'w')
    await schemas.ok(table, create('v'))
    await schemas.ok(table, create('w'))
    await schemas.fail(
      table,
      create('v', { metric: 'euclidean' }),
      'INVALID_INDEX_DEFINITION',
      '"v"',
    )
  })

  test('accepts vectors up to the largest indexable dimension', async () => {
    const table = await schemas.table({
      v: { type: 'vector', dimension: 8 },
      w: { type: 'vector', dimension: 9 },
    })
    await schemas.ok(table, create('v'))
    await schemas.fail(table, create('w'), 'INVALID_INDEX_DEFINITION', '9', '8')
  })

  test('accepts only the index type "vector"', async () => {
    const table = await vectors('v')
    await schemas.refuse(
      table,
      create('v', {}, { indexType: 'regular' }),
      'UNSUPPORTED_INDEX_TYPE',
      'createVectorIndex',
    )
    await schemas.ok(table, create('v', {}, { indexType: 'VECTOR' }))
  })
})
