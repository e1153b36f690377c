/** Metrics and source models of vectors, for collections and indexes. */
import type { Metric } from '../engine/schema.ts'

export const metrics = ['cosine', 'dot_product', 'euclidean'] as const satisfies Metric[]

/** Models with known vector properties, and `other` for any other model. */
export const sourceModels = [
  ...['ada002', 'bert', 'cohere-v3', 'gecko', 'nv-qa-4'],
  ...['openai-v3-large', 'openai-v3-small', 'other'],
]

/**
 * The default metric of a source model. The known models produce vectors of length one. For such
 * vectors, the dot product ranks like cosine similarity and is cheaper to compute.
 */
export function metricOf(sourceModel: string): Metric {
  return sourceModel === 'other' ? 'cosine' : 'dot_product'
}
