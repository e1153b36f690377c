/**
 * Vectors that an index cannot compare. The engine must reject them: a node that stored one may
 * fail to restart.
 */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { types } from 'cassandra-driver'
import { boundColumns } from '../../../src/engine/cassandra/documents/columns.ts'
import { mergeRow } from '../../../src/engine/cassandra/rows/merge-statements.ts'
import {
  mayBreakIndex,
  isComparable,
} from '../../../src/engine/cassandra/cql/zero-vector.ts'
import type { RowMerge } from '../../../src/engine/contract.ts'
import type { CollectionOptions, Column, Table } from '../../../src/engine/schema.ts'
import { indexingRule } from '../../../src/language/filters/indexing.ts'
import type { Metric } from '../../../src/search/vector/similarity.ts'
import { atOnce } from '../../../src/runtime/steps.ts'

const zeros = [Float32Array.of(0, -0), Float64Array.of(1e-60, 0), Float64Array.of(1e-7, 0)]

const large = [
  Float32Array.of(1.1e17, 0),
  Float64Array.of(0, -1e20),
  Float64Array.of(1e300, 1),
  Float32Array.of(NaN, 1),
  Float32Array.of(1, -Infinity),
]
const metrics = ['cosine', 'dot_product', 'euclidean'] as const

const merged = (...given: Parameters<typeof mergeRow>) => atOnce(mergeRow(...given))

describe('a vector that an index cannot store', () => {
  const options = (metric: Metric): CollectionOptions => ({
    vector: { dimension: 2, metric, sourceModel: 'other' },
    lexical: { enabled: false },
    rerank: { enabled: false },
  })
  const bind = (numbers: Float32Array | Float64Array, metric: Metric) => {
    const document = new Map([['_id', 1]])
    const search = { vector: { numbers, form: 'array' } } as const
    const record = { id: 1, text: '{"_id":1}', document, search }
    const rule = indexingRule(undefined)
    return atOnce(boundColumns(record, types.TimeUuid.now(), options(metric), rule))
  }

  test('is rejected in a document: a zero vector with the cosine metric', () => {
    for (const numbers of zeros) {
      assert.throws(() => bind(numbers, 'cosine'), { kind: 'unsupported' })
      bind(numbers, 'euclidean')
      bind(numbers, 'dot_product')
    }
    bind(Float32Array.of(0, 1e-5), 'cosine')
  })

  test('is rejected in a document: numbers that are too large or not finite, with any metric', () => {
    for (const metric of metrics) {
      for (const numbers of large)
        assert.throws(() => bind(numbers, metric), {
          kind: 'unsupported',
          message: /^\$vector cannot be indexed: element \d of the vector is/,
        })
      bind(Float32Array.of(1e17, 1), metric)
    }
  })

  const p: Column = { name: 'p', type: { type: 'int' } }
  const v: Column = { name: 'v', type: { type: 'vector', dimension: 2 } }
  const table = (metric: Metric | undefined): Table => ({
    kind: 'table',
    keyspace: 'ks',
    name: 'T',
    uid: '1',
    definition: {
      columns: [p, v],
      partitionBy: ['p'],
      partitionSort: [],
      indexes:
        metric === undefined
          ? []
          : [{ kind: 'vector', name: 'by_v', column: 'v', metric, sourceModel: 'other' }],
    },
    types: [],
  })
  const merge = (kind: RowMerge['kind'], numbers: Float32Array): RowMerge => ({
    kind,
    values: new Map<Column, number | Float32Array>([
      [p, 1],
      [v, numbers],
    ]),
  })

  test('is rejected in a row whose column has an index', () => {
    const zero = Float32Array.of(0, 1e-7)
    for (const kind of ['insert', 'update'] as const) {
      assert.throws(() => merged(table('cosine'), merge(kind, zero)), {
        kind: 'unsupported',
        message: /^v cannot be indexed: .* cannot be zero/,
      })
      for (const metric of [undefined, 'euclidean'] as const)
        assert.equal(merged(table(metric), merge(kind, zero)).length, 1)
    }
    const tooLarge = Float32Array.of(2e17, 0)
    for (const metric of metrics)
      assert.throws(() => merged(table(metric), merge('insert', tooLarge)))
    assert.equal(merged(table(undefined), merge('insert', tooLarge)).length, 1)
    assert(mayBreakIndex(merge('insert', zero)))
    assert(mayBreakIndex(merge('insert', tooLarge)))
    assert(!mayBreakIndex(merge('insert', Float32Array.of(0, 1))))
  })

  test('is accepted as a query if the metric can compare it', () => {
    const zero = Float32Array.of(0, 0)
    assert(!isComparable(zero, 'cosine'))
    assert(isComparable(zero, 'dot_product'))
    assert(isComparable(zero, 'euclidean'))
  })
})
