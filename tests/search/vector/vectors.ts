/**
 * Test vectors with a seed. They have the structure of embeddings: clusters in a space of few
 * dimensions, mapped into many dimensions with some noise.
 */
import { similarityTo, type Metric } from '../../../src/search/vector/similarity.ts'

/** A generator of uniform numbers from 0 to 1. The seed determines all numbers. */
export function randomFrom(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let x = Math.imul(state ^ (state >>> 15), 1 | state)
    x ^= x + Math.imul(x ^ (x >>> 7), 61 | x)
    return ((x ^ (x >>> 14)) >>> 0) / 4_294_967_296
  }
}

export function gaussianFrom(random: () => number): () => number {
  return () => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random())
}

/** A generator of vectors. The seed determines all vectors. */
export function vectorsFrom(
  seed: number,
  dimension: number,
  { clusters = 100, lengths = 0 }: { clusters?: number; lengths?: number } = {},
): () => Float32Array {
  const random = randomFrom(seed)
  const gaussian = gaussianFrom(random)
  const inner = Math.min(dimension, 20)
  const axes = Float32Array.from({ length: inner * dimension }, gaussian)
  const centers = Array.from({ length: clusters }, () =>
    Float32Array.from({ length: inner }, gaussian),
  )
  return () => {
    const center = centers[Math.floor(random() * clusters)]!
    const vector = new Float32Array(dimension)
    for (let axis = 0; axis < inner; axis++) {
      const at = center[axis]! + 0.4 * gaussian()
      for (let i = 0; i < dimension; i++) vector[i]! += at * axes[axis * dimension + i]!
    }
    for (let i = 0; i < dimension; i++) vector[i]! += 0.3 * gaussian()
    const length = Math.sqrt(vector.reduce((sum, x) => sum + x * x, 0))
    const wanted = 1 + lengths * random()
    return vector.map((x) => (x / length) * wanted)
  }
}

/** The exact nearest neighbours, found by comparing all vectors. */
export function nearest(
  metric: Metric,
  query: Float32Array,
  vectors: ReadonlyMap<number, Float32Array>,
  count: number,
  matches: (document: number) => boolean = () => true,
): number[] {
  const scoreOf = similarityTo(metric, query)
  return [...vectors]
    .filter(([document]) => matches(document))
    .map(([document, vector]) => [document, scoreOf(vector)] as const)
    .sort((a, b) => b[1] - a[1])
    .slice(0, count)
    .map(([document]) => document)
}

/** Recall: the share of the expected results that were found. */
export function recall(
  expected: readonly (readonly number[])[],
  found: readonly (readonly number[])[],
): number {
  let hits = 0
  let total = 0
  for (const [i, wanted] of expected.entries()) {
    const got = new Set(found[i])
    total += wanted.length
    hits += wanted.filter((document) => got.has(document)).length
  }
  return total === 0 ? 1 : hits / total
}
