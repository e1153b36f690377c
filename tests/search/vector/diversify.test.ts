/** Maximal marginal relevance, compared with a direct implementation of its formula. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { atOnce } from '../../../src/runtime/steps.ts'
import { diversify, type Diversity } from '../../../src/search/vector/diversify.ts'
import {
  similarity,
  similarityAmong,
  similarityTo,
  type Metric,
} from '../../../src/search/vector/similarity.ts'
import { seed } from '../../language/documents.ts'
import { byDiversity, type Scored } from '../../model/search-oracle.ts'
import { vectorsFrom } from './vectors.ts'

const metrics: readonly Metric[] = ['cosine', 'dot_product', 'euclidean']

interface Point {
  readonly _id: number
  readonly $vector: readonly number[]
}

/**
 * The points, the most similar to the query first; equally similar points are in their original
 * order.
 */
function nearestOf(
  points: readonly (readonly number[])[],
  metric: Metric,
  query: readonly number[],
): Scored<Point>[] {
  const scoreOf = similarityTo(metric, Float32Array.from(query))
  return points
    .map(($vector, _id) => ({
      document: { _id, $vector },
      score: scoreOf(Float32Array.from($vector)),
    }))
    .toSorted((a, b) => b.score - a.score)
}

function chosenOf(nearest: readonly Scored<Point>[], diversity: Diversity): number[] {
  const candidates = nearest.map(({ document, score }) => ({
    similarity: score,
    vector: Float32Array.from(document.$vector),
  }))
  return atOnce(diversify(candidates, diversity)).map((at) => nearest[at]!.document._id)
}

/** Whole numbers of a small range, so that similarities often tie. */
const points = (dimension: number) => {
  const coordinate = fc.integer({ min: -3, max: 3 })
  const point = fc.array(coordinate, { minLength: dimension, maxLength: dimension })
  return point.filter((numbers) => numbers.some((number) => number !== 0))
}

describe(`diverse results, seed ${seed}`, () => {
  test('are the same as in a direct implementation of the formula', () => {
    const weight = fc.oneof(
      fc.constantFrom(0, 0.25, 0.5, 1),
      fc.double({ min: 0, max: 1, noNaN: true }),
    )
    const given = fc.integer({ min: 1, max: 6 }).chain((dimension) =>
      fc.record({
        vectors: fc.array(points(dimension), { maxLength: 40 }),
        query: points(dimension),
        metric: fc.constantFrom(...metrics),
        diversity: weight,
        count: fc.integer({ min: 1, max: 45 }),
      }),
    )
    fc.assert(
      fc.property(given, ({ vectors, query, ...wanted }) => {
        const nearest = nearestOf(vectors, wanted.metric, query)
        const expected = byDiversity(nearest, wanted)
        assert.deepEqual(
          chosenOf(nearest, wanted),
          expected.map(({ document }) => document._id),
        )
      }),
      { seed, numRuns: 500 },
    )
  })

  test('are the nearest, in their order, if the weight is 0', () => {
    const vectorOf = vectorsFrom(seed, 8)
    const vectors = Array.from({ length: 60 }, () => [...vectorOf()])
    for (const metric of metrics) {
      const nearest = nearestOf(vectors, metric, vectors[0]!)
      const chosen = chosenOf(nearest, { metric, diversity: 0, count: 25 })
      const expected = nearest.slice(0, 25).map(({ document }) => document._id)
      assert.deepEqual(chosen, expected)
    }
  })

  test('start with the nearest, and contain each candidate once if all are wanted', () => {
    const vectorOf = vectorsFrom(seed, 3)
    const vectors = Array.from({ length: 40 }, () => [...vectorOf()])
    for (const metric of metrics)
      for (const diversity of [0, 0.3, 1]) {
        const nearest = nearestOf(vectors, metric, vectors[7]!)
        const chosen = chosenOf(nearest, { metric, diversity, count: Infinity })
        assert.equal(chosen[0], nearest[0]!.document._id)
        assert.deepEqual(
          chosen.toSorted((a, b) => a - b),
          [...vectors.keys()],
        )
      }
  })

  test('equal those computed by hand', () => {
    // Similarities to 0 by the euclidean metric: 0.5 for ±1, 0.2 for ±2.
    const nearest = nearestOf([[1], [1], [-1], [2], [-2]], 'euclidean', [0])
    const chosen = (diversity: number, count = 5) =>
      chosenOf(nearest, { metric: 'euclidean', diversity, count })
    assert.deepEqual(chosen(0), [0, 1, 2, 3, 4])
    assert.deepEqual(chosen(0.5), [0, 2, 3, 4, 1])
    assert.deepEqual(chosen(0.5, 2), [0, 2])
    assert.deepEqual(chosen(1), [0, 4, 2, 3, 1])
    assert.deepEqual(chosenOf([], { metric: 'cosine', diversity: 0.5, count: 3 }), [])
  })

  test('are chosen in steps of a bounded number of multiplications', () => {
    const count = 40
    const stepsWith = (dimension: number) => {
      const vectorOf = vectorsFrom(seed, dimension)
      const vectors = Array.from({ length: count }, vectorOf)
      const candidates = vectors.map((vector) => ({ similarity: 0.5, vector }))
      let steps = 0
      const choosing = diversify(candidates, { metric: 'cosine', diversity: 0.5, count })
      while (choosing.next().done !== true) steps++
      return steps
    }
    const pairs = (count * (count - 1)) / 2
    assert(stepsWith(4_096) >= Math.floor((pairs * 4_096) / 256_000))
    assert(stepsWith(2) <= 4)
  })
})

test('similarityAmong returns the similarity of each pair of vectors', () => {
  const vectorOf = vectorsFrom(seed, 19)
  const vectors = Array.from({ length: 12 }, vectorOf)
  for (const metric of metrics) {
    const similarityOf = similarityAmong(metric, vectors)
    for (const [a, one] of vectors.entries())
      for (const [b, other] of vectors.entries())
        assert.equal(similarityOf(a, b), similarity(metric, one, other))
  }
})
