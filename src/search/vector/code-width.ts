/** How much memory a vector index takes, by the width of its codes. */
import { lengthOf, type Metric } from './similarity.ts'

/** Bits per number of a vector in a code. */
export type CodeBits = 1 | 2 | 4 | 8

/** Names of widths, from the least memory to the most. */
export const vectorMemories = ['low', 'balanced', 'fast'] as const

export type VectorMemory = (typeof vectorMemories)[number]

/**
 * Minimum dimensions of codes with 1, 2 and 4 bits. The error of a distance is inversely
 * proportional to the square root of the dimension, and each bit about halves it.
 */
const dimensionMin = {
  low: { 1: 512, 2: 128, 4: 32 },
  balanced: { 1: Infinity, 2: 512, 4: 64 },
} as const

/** The width of codes for vectors of a dimension. */
export function codeBits(memory: VectorMemory, dimension: number): CodeBits {
  if (memory === 'fast') return 8
  const least = dimensionMin[memory]
  return dimension >= least[1]
    ? 1
    : dimension >= least[2]
      ? 2
      : dimension >= least[4]
        ? 4
        : 8
}

/**
 * Minimum number of vectors of an index with short codes. Fewer vectors take little memory, and
 * their mean does not yet represent later ones.
 */
export const shortCodesMin = 1000

/** The center of vectors, relative to which short codes of the metric are: their mean. */
export function centerOf(
  vectors: readonly Float32Array[],
  metric: Metric,
  dimension: number,
): Float32Array {
  const sums = new Float64Array(dimension)
  for (const vector of vectors) {
    const length = metric === 'cosine' ? lengthOf(vector) : 1
    if (length > 0) for (let i = 0; i < dimension; i++) sums[i]! += vector[i]! / length
  }
  return Float32Array.from(sums, (sum) => sum / Math.max(vectors.length, 1))
}
