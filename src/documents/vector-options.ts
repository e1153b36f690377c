/** The `vector` option: which vectors a collection holds, and who makes them from text. */
import type { Metric, VectorOptions } from '../engine/schema.ts'
import { apiError } from '../errors/api-error.ts'
import type { Limits } from '../limits.ts'
import type { EmbeddingProviders } from '../providers/embedding-providers.ts'
import {
  resolveEmbeddingService,
  type GivenService,
} from '../providers/embedding-service.ts'
import {
  choiceIn,
  integerIn,
  refuseUnknownKeys,
  sectionIn,
  serviceIn,
  textIn,
  violation,
  type Section,
} from './option-section.ts'

const metrics = ['cosine', 'dot_product', 'euclidean'] as const satisfies Metric[]

/** Models whose vectors have a known character; `other` stands for all the rest. */
const sourceModels = [
  ...['ada002', 'bert', 'cohere-v3', 'gecko', 'nv-qa-4'],
  ...['openai-v3-large', 'openai-v3-small', 'other'],
]

export interface GivenVector {
  readonly dimension: number | undefined
  readonly metric: Metric | undefined
  readonly sourceModel: string | undefined
  readonly service: GivenService | undefined
}

export function readVector(options: Section): GivenVector | undefined {
  const vector = sectionIn(options, 'vector')
  if (vector === undefined) return undefined
  refuseUnknownKeys(
    vector,
    'INVALID_CREATE_COLLECTION_FIELD',
    ['dimension', 'metric', 'sourceModel', 'service'],
    ['size', 'function'],
  )
  const dimension = oneSpelling(vector, 'dimension', 'size', integerIn)
  if (dimension !== undefined && dimension <= 0)
    violation(vector, 'dimension', String(dimension), 'it is at least 1')
  return {
    dimension,
    metric: oneSpelling(vector, 'metric', 'function', (section, name) =>
      choiceIn(section, name, metrics),
    ),
    sourceModel: choiceIn(vector, 'sourceModel', sourceModels),
    service: readService(vector),
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
  // The known models make vectors of length one, for which the dot product ranks as the
  // cosine does and costs less.
  const metric = given.metric ?? (sourceModel === 'other' ? 'cosine' : 'dot_product')
  if (given.service !== undefined) {
    if (!context.features.vectorize) throw apiError('VECTORIZE_FEATURE_NOT_AVAILABLE')
    const { dimension, service } = resolveEmbeddingService(
      given.service,
      given.dimension,
      context.embeddingProviders,
    )
    return { dimension, metric, sourceModel, service }
  }
  const { dimension } = given
  if (dimension === undefined)
    throw apiError('INVALID_CREATE_COLLECTION_OPTIONS', {
      problem:
        'vector.dimension is missing. Give the number of elements of your vectors, or a ' +
        'service whose model has a dimension of its own',
    })
  const max = context.limits.vectorDimensionMax
  if (dimension > max) throw apiError('VECTOR_SEARCH_TOO_BIG_VALUE', { dimension, max })
  return { dimension, metric, sourceModel }
}

/** Reads a member by its name or its older name, but not by both. */
function oneSpelling<T>(
  section: Section,
  name: string,
  olderName: string,
  read: (section: Section, name: string) => T | undefined,
): T | undefined {
  const value = read(section, name)
  const older = read(section, olderName)
  if (value !== undefined && older !== undefined)
    violation(section, olderName, String(older), `${name} is given too: send one of them`)
  return value ?? older
}

function readService(vector: Section): GivenService | undefined {
  const service = serviceIn(vector)
  if (service === undefined) return undefined
  return {
    provider: textIn(service, 'provider'),
    modelName: textIn(service, 'modelName'),
    authentication: readAuthentication(service),
    parameters: sectionIn(service, 'parameters')?.members,
  }
}

function readAuthentication(service: Section): Map<string, string> | undefined {
  const authentication = sectionIn(service, 'authentication')
  if (authentication === undefined) return undefined
  const credentials = new Map<string, string>()
  for (const key of authentication.members.keys()) {
    const credential = textIn(authentication, key)
    if (credential !== undefined) credentials.set(key, credential)
  }
  return credentials
}
