/** Creates the models that this server offers. */
import { apiError } from '../errors/api-error.ts'
import { noKey } from './authentication.ts'
import { embed } from './embed.ts'
import type { EmbeddingProvider, EmbeddingProviders } from './embedding-providers.ts'
import type { LocalModels } from './local/local-model-types.ts'
import { nameLocalModels, type LocalModelNames } from './local/local-models.ts'
import type { Models } from './models.ts'
import { offerEmbeddings } from './offered-embeddings.ts'
import { ProviderCaller } from './provider-call.ts'
import { defaultProviderSettings, type ProviderSettings } from './provider-settings.ts'
import { findRerankingModel, rerank } from './rerank.ts'
import {
  rerankingProviders as rerankingTable,
  type RerankingProvider,
  type RerankingProviders,
} from './reranking-providers.ts'

export interface ModelSettings {
  readonly log: (level: 'info' | 'warn' | 'error', message: string) => void
  readonly providers?: ProviderSettings
  /** Absent when the optional packages are not installed. */
  readonly local?: LocalModels | undefined
  /** Names of the local models; absent: those of the built-in ones. */
  readonly localNames?: LocalModelNames
}

export function openModels({
  log,
  providers: settings = defaultProviderSettings,
  local,
  localNames = nameLocalModels({}),
}: ModelSettings): Models {
  const caller = new ProviderCaller(log)
  const remote = offerEmbeddings(settings)
  const embeddingProviders: EmbeddingProviders = new Map<string, EmbeddingProvider>(
    local ? [...remote, [localName, localEmbeddings(localNames)]] : remote,
  )
  const rerankingProviders = offerReranking(settings, local && localRerankings(localNames))
  const builtIn = {
    provider: localName,
    modelName: localNames.embedding.model,
    isInstalled: local !== undefined,
  }
  const standIn = standInFor(standsInFor, local, log)
  return {
    embeddingProviders,
    rerankingProviders,

    async embed(request) {
      if (request.texts.length === 0) return []
      if (request.service.provider === localName && local) {
        checkLocalModel(request.service.modelName, localNames)
        return local.embed(request.texts, request.caller)
      }
      return embed(request, { providers: remote, settings, caller, builtIn })
    },

    async rerank(request) {
      const { query, passages, service, caller: asker } = request
      if (passages.length === 0) return []
      findRerankingModel(service, rerankingProviders)
      if (service.provider === localName && local)
        return local.rerank(query, passages, asker)
      if (isReplaced(service.provider, settings))
        return standIn().rerank(query, passages, asker)
      return rerank(request, { providers: rerankingProviders, settings, caller })
    },

    answeringReranker: (service) =>
      local && isReplaced(service.provider, settings)
        ? { provider: localName, modelName: localNames.reranker.model }
        : service,

    async close() {
      caller.close()
      await local?.close()
    },
  }
}

/** Provider name of the local models. */
const localName = 'local'

function localEmbeddings({ embedding }: LocalModelNames): EmbeddingProvider {
  return {
    displayName: 'Built in',
    enabled: true,
    supportedAuthentication: noKey,
    parameters: [],
    models: [
      {
        name: embedding.model,
        support: { status: 'SUPPORTED' },
        dimension: { kind: 'fixed', value: embedding.dimension },
        parameters: [],
      },
    ],
  }
}

/**
 * Throws if the local embedding model does not have this name, which a collection or column
 * stores: vectors of different models are not comparable, even with the same dimension.
 */
function checkLocalModel(name: string, { embedding }: LocalModelNames): void {
  if (name !== embedding.model)
    throw apiError('EMBEDDING_PROVIDER_UNAVAILABLE', {
      reason: 'otherModel',
      name: localName,
      model: name,
      local: embedding.model,
    })
}

function localRerankings({ reranker }: LocalModelNames): RerankingProvider {
  return {
    displayName: 'Built in',
    enabled: true,
    isDefault: false,
    supportedAuthentication: noKey,
    models: [{ name: reranker.model, isDefault: false, support: { status: 'SUPPORTED' } }],
  }
}

function offerReranking(
  { rerankingUrls }: ProviderSettings,
  local: RerankingProvider | undefined,
): RerankingProviders {
  const offered = [...rerankingTable].map(
    ([name, provider]): [string, RerankingProvider] => [
      name,
      { ...provider, enabled: provider.enabled || rerankingUrls.has(name) },
    ],
  )
  return new Map(local ? [...offered, [localName, local]] : offered)
}

/**
 * Provider of the default reranker of collections. The provider's public service is restricted to
 * another cloud, so the built-in model replaces it unless the operator configures a URL.
 */
const standsInFor = 'nvidia'

function isReplaced(provider: string, { rerankingUrls }: ProviderSettings): boolean {
  return provider === standsInFor && !rerankingUrls.has(standsInFor)
}

function standInFor(
  provider: string,
  local: LocalModels | undefined,
  log: ModelSettings['log'],
): () => LocalModels {
  let isAnnounced = false
  return () => {
    if (local === undefined)
      throw apiError('RERANKING_SERVICE_TYPE_UNAVAILABLE', {
        reason: 'otherCloud',
        name: provider,
      })
    if (!isAnnounced)
      log(
        'info',
        `The built-in model reranks instead of ${provider}, which has no URL (set ` +
          `--reranking-urls ${provider}=<url>)`,
      )
    isAnnounced = true
    return local
  }
}
