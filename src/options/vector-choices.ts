/** What can be chosen for vectors, of a collection or of an index. */
import type { Metric } from '../engine/schema.ts'

export const metrics = ['cosine', 'dot_product', 'euclidean'] as const satisfies Metric[]

/** Models whose vectors have a known character; `other` stands for all the rest. */
export const sourceModels = [
  ...['ada002', 'bert', 'cohere-v3', 'gecko', 'nv-qa-4'],
  ...['openai-v3-large', 'openai-v3-small', 'other'],
]

/**
 * The metric that goes with a model unless another is given. The known models make vectors
 * of length one, for which the dot product ranks as the cosine does and costs less.
 */
export function metricOf(sourceModel: string): Metric {
  return sourceModel === 'other' ? 'cosine' : 'dot_product'
}
