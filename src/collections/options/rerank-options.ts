/**
 * The `rerank` option: the reranking service for the results of hybrid searches. A
 * findAndRerank can override the service of its collection.
 */
import type { RerankOptions } from '../../engine/schema.ts'
import { apiError } from '../../errors/api-error.ts'
import type { ErrorVariables } from '../../errors/catalog.ts'
import type { Value } from '../../json/value.ts'
import { checkModelForNewUse } from '../../providers/model-support.ts'
import {
  defaultReranking,
  type RerankingProviders,
} from '../../providers/reranking-providers.ts'
import {
  checkServiceKeys,
  flagIn,
  refuseUnknownKeys,
  rootSection,
  sectionIn,
  serviceIn,
  textIn,
  type Section,
} from '../../options/option-section.ts'

export interface GivenRerank {
  readonly enabled: boolean | undefined
  readonly service: GivenRerankService | undefined
}

export interface GivenRerankService {
  readonly isEmpty: boolean
  readonly provider: string | undefined
  readonly modelName: string | undefined
  readonly hasAuthentication: boolean
  readonly hasParameters: boolean
}

export function readRerank(options: Section): GivenRerank | undefined {
  const rerank = sectionIn(options, 'rerank')
  if (rerank === undefined) return undefined
  refuseUnknownKeys(rerank, 'COMMAND_FIELD_UNKNOWN', ['enabled', 'service'])
  const service = serviceIn(rerank)
  return {
    enabled: flagIn(rerank, 'enabled'),
    service: service && readService(service),
  }
}

/** Parses the reranking service of a findAndRerank. `field` is its path in the command. */
export function readRerankService(value: Value, field: string): GivenRerankService {
  const service = rootSection(value, field)
  checkServiceKeys(service)
  return readService(service)
}

export function resolveRerank(
  given: GivenRerank | undefined,
  context: {
    readonly features: { readonly reranking: boolean }
    readonly rerankingProviders: RerankingProviders
  },
): RerankOptions {
  const available = context.features.reranking
  if (given === undefined)
    return available ? byDefault(context.rerankingProviders) : { enabled: false }
  const { enabled, service } = given
  if (enabled === undefined) refuse({ reason: 'rerankNotEnabled' })
  if (!enabled) {
    if (service !== undefined && !service.isEmpty)
      refuse({ reason: 'serviceThoughDisabled' })
    return { enabled: false }
  }
  if (!available) throw apiError('RERANKING_FEATURE_NOT_ENABLED')
  if (service === undefined) return byDefault(context.rerankingProviders)
  return {
    enabled: true,
    service: resolveRerankService(
      service,
      'rerank.service',
      context.rerankingProviders,
      refuse,
    ),
  }
}

function byDefault(providers: RerankingProviders): RerankOptions {
  const service = defaultReranking(providers)
  return service === undefined ? { enabled: false } : { enabled: true, service }
}

function readService(service: Section): GivenRerankService {
  return {
    isEmpty: service.members.size === 0,
    provider: textIn(service, 'provider'),
    modelName: textIn(service, 'modelName'),
    hasAuthentication: (sectionIn(service, 'authentication')?.members.size ?? 0) > 0,
    hasParameters: (sectionIn(service, 'parameters')?.members.size ?? 0) > 0,
  }
}

/** Checks a service against the supported providers; `where` names the service in messages. */
export function resolveRerankService(
  given: GivenRerankService,
  where: string,
  providers: RerankingProviders,
  refuse: (...why: ErrorVariables<'INVALID_RERANK_OVERRIDE'>) => never,
): NonNullable<RerankOptions['service']> {
  const offered = () =>
    [...providers].filter(([, { enabled }]) => enabled).map(([name]) => name)
  const { provider: name, modelName } = given
  if (name === undefined) refuse({ reason: 'providerMissing', where, offered: offered() })
  const provider = providers.get(name)
  if (!provider?.enabled)
    refuse({
      reason: 'provider',
      provider: name,
      isKnown: provider !== undefined,
      offered: offered(),
    })
  if (given.hasAuthentication) refuse({ reason: 'authentication', where, provider: name })
  if (given.hasParameters) refuse({ reason: 'parameters', where, provider: name })
  const models = () => provider.models.map((model) => model.name)
  if (modelName === undefined)
    refuse({ reason: 'modelMissing', where, provider: name, models: models() })
  const model = provider.models.find((candidate) => candidate.name === modelName)
  if (model === undefined)
    refuse({ reason: 'model', provider: name, model: modelName, models: models() })
  checkModelForNewUse(modelName, model.support)
  return { provider: name, modelName }
}

function refuse(...why: ErrorVariables<'INVALID_CREATE_COLLECTION_OPTIONS'>): never {
  throw apiError('INVALID_CREATE_COLLECTION_OPTIONS', ...why)
}
