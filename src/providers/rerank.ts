/** Scores passages with a service over HTTP. */
import { apiError } from '../errors/api-error.ts'
import { fixedLimits } from '../limits.ts'
import { inBatches } from './batches.ts'
import { bearer } from './embedding-wires.ts'
import { checkModelForUse } from './model-support.ts'
import type { RerankRequest } from './models.ts'
import { defaultRetryPolicy, type ProviderCaller } from './provider-call.ts'
import { jsonOf, unexpected, type ProviderRequest } from './provider-failures.ts'
import type { ProviderSettings } from './provider-settings.ts'
import type {
  RerankingModel,
  RerankingProvider,
  RerankingProviders,
} from './reranking-providers.ts'
import { rerankingWires } from './reranking-wires.ts'

export interface RerankServices {
  readonly providers: RerankingProviders
  readonly settings: ProviderSettings
  readonly caller: ProviderCaller
}

const { rerankingScoreSizeMax, providerReplySizeMax } = fixedLimits

export async function rerank(
  { service, query, passages, credentials, caller: { signal } }: RerankRequest,
  { providers, settings, caller }: RerankServices,
): Promise<readonly number[]> {
  const { provider: name, modelName } = service
  const { provider, model } = findRerankingModel(service, providers)
  const url = settings.rerankingUrls.get(name) ?? model.url
  const wire = rerankingWires.get(name)
  if (wire === undefined || url === undefined)
    throw apiError('RERANKING_SERVICE_TYPE_UNAVAILABLE', {
      reason: 'noUrl',
      name,
    })
  const sent = credentials.rerankingKey === '' ? undefined : credentials.rerankingKey
  const key = sent ?? settings.rerankingKeys.get(name)
  if (key === undefined && !provider.supportedAuthentication.NONE.enabled)
    throw apiError('RERANKING_PROVIDER_AUTHENTICATION_KEY_NOT_PROVIDED', {
      provider: name,
      header: 'reranking-api-key',
    })
  const keys = key === undefined ? [] : [key]
  const asked: ProviderRequest = {
    kind: 'reranking',
    provider: name,
    model: modelName,
    errorAt: wire.errorAt,
    keys,
  }
  const address = { url: new URL(url), isChosen: false, isGuarded: false }
  return inBatches(passages, wire.batchSize, signal, async (batch, batchSignal) => {
    const call = {
      address,
      headers: bearer(keys),
      body: JSON.stringify(wire.body({ model: modelName, query, passages: batch })),
      replySizeMax: providerReplySizeMax + batch.length * rerankingScoreSizeMax,
    }
    const outcome = await caller.call(call, defaultRetryPolicy, batchSignal)
    return readScores(wire.scores(jsonOf(outcome, asked)), batch.length, asked)
  })
}

/**
 * The model of a service; throws an ApiError if the provider or model is not offered, or no longer
 * supported.
 */
export function findRerankingModel(
  { provider: name, modelName }: RerankRequest['service'],
  providers: RerankingProviders,
): { readonly provider: RerankingProvider; readonly model: RerankingModel } {
  const provider = providers.get(name)
  if (!provider?.enabled)
    throw apiError('RERANKING_SERVICE_TYPE_UNAVAILABLE', {
      reason: 'notOffered',
      name,
      offered: offeredBy(providers),
    })
  const model = provider.models.find((candidate) => candidate.name === modelName)
  if (model === undefined)
    throw apiError('RERANKING_SERVICE_TYPE_UNAVAILABLE', {
      reason: 'noModel',
      name,
      model: modelName,
    })
  checkModelForUse(modelName, model.support)
  return { provider, model }
}

function offeredBy(providers: RerankingProviders): string[] {
  return [...providers].filter(([, { enabled }]) => enabled).map(([name]) => name)
}

function readScores(scores: unknown, count: number, asked: ProviderRequest): number[] {
  if (!Array.isArray(scores))
    throw unexpected(asked, `${count} scores`, 'a reply without a score for each passage')
  if (scores.length !== count)
    throw unexpected(asked, `${count} scores`, `${scores.length}`)
  return scores.map((score: unknown) => {
    if (typeof score !== 'number' || !Number.isFinite(score))
      throw unexpected(asked, 'scores', 'an entry that is not a finite number')
    return score
  })
}
