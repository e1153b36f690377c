/** The `vector` option: dimension and metric of vectors, and the service that embeds texts. */
import {
  vectorMemories,
  type Metric,
  type VectorMemory,
  type VectorOptions,
} from '../../engine/schema.ts'
import { apiError } from '../../errors/api-error.ts'
import type { Limits } from '../../limits.ts'
import type { EmbeddingProviders } from '../../providers/embedding-providers.ts'
import {
  resolveEmbeddingService,
  type GivenService,
} from '../../providers/embedding-service.ts'
import {
  choiceIn,
  integerIn,
  contextIn,
  refuseUnknownKeys,
  sectionIn,
  serviceIn,
  type Section,
} from '../../options/option-section.ts'
import { violation } from '../../options/read-value.ts'
import { readEmbeddingService } from '../../options/service-option.ts'
import { metricOf, metrics, sourceModels } from '../../options/vector-choices.ts'

export interface GivenVector {
  readonly dimension: number | undefined
  readonly metric: Metric | undefined
  readonly sourceModel: string | undefined
  readonly service: GivenService | undefined
  readonly memory: VectorMemory | undefined
}

export function readVector(options: Section): GivenVector | undefined {
  const vector = sectionIn(options, 'vector')
  if (vector === undefined) return undefined
  refuseUnknownKeys(
    vector,
    'INVALID_CREATE_COLLECTION_FIELD',
    ['dimension', 'metric', 'sourceModel', 'service', 'memory'],
    ['size', 'function'],
  )
  const dimension = oneSpelling(vector, 'dimension', 'size', integerIn)
  if (dimension !== undefined && dimension <= 0)
    violation(contextIn(vector, 'dimension'), dimension, 'it must be at least 1')
  return {
    dimension,
    metric: oneSpelling(vector, 'metric', 'function', (section, name) =>
      choiceIn(section, name, metrics),
    ),
    sourceModel: choiceIn(vector, 'sourceModel', sourceModels),
    service: readEmbeddingService(serviceIn(vector)),
    memory: choiceIn(vector, 'memory', vectorMemories),
  }
}

export function resolveVector(
  given: GivenVector,
  context: {
    readonly limits: Limits
    readonly features: { readonly vectorize: boolean }
    readonly embeddingProviders: EmbeddingProviders
  },
): VectorOptions {
  const sourceModel = given.sourceModel ?? 'other'
  const metric = given.metric ?? metricOf(sourceModel)
  const memory = given.memory && { memory: given.memory }
  if (given.service !== undefined) {
    if (!context.features.vectorize) throw apiError('VECTORIZE_FEATURE_NOT_AVAILABLE')
    const { dimension, service } = resolveEmbeddingService(
      given.service,
      given.dimension,
      context.embeddingProviders,
    )
    return { dimension, metric, sourceModel, service, ...memory }
  }
  const { dimension } = given
  if (dimension === undefined)
    throw apiError('INVALID_CREATE_COLLECTION_OPTIONS', {
      reason: 'dimensionMissing',
    })
  const max = context.limits.vectorDimensionMax
  if (dimension > max) throw apiError('VECTOR_SEARCH_TOO_BIG_VALUE', { dimension, max })
  return { dimension, metric, sourceModel, ...memory }
}

/** Reads a member by its current or its older name; rejects both together. */
function oneSpelling<T extends string | number>(
  section: Section,
  name: string,
  olderName: string,
  read: (section: Section, name: string) => T | undefined,
): T | undefined {
  const value = read(section, name)
  const older = read(section, olderName)
  if (value !== undefined && older !== undefined)
    violation(
      contextIn(section, olderName),
      older,
      `${name} is also present; send only one of them`,
    )
  return value ?? older
}
