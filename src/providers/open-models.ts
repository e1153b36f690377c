/** Brings together the models that this server offers. */
import { apiError } from '../errors/api-error.ts'
import { embeddingProviders } from './embedding-providers.ts'
import type { Models } from './models.ts'
import { rerankingProviders } from './reranking-providers.ts'

/** What operators can set about models. */
export interface ModelSettings {
  readonly log: (level: 'info' | 'warn' | 'error', message: string) => void
}

export function openModels(_settings: ModelSettings): Models {
  return {
    embeddingProviders,
    rerankingProviders,
    embed: ({ service }) =>
      Promise.reject(
        apiError('EMBEDDING_SERVICE_NOT_CONFIGURED', { target: service.provider }),
      ),
    rerank: ({ service }) =>
      Promise.reject(
        apiError('EMBEDDING_SERVICE_NOT_CONFIGURED', { target: service.provider }),
      ),
    close: () => Promise.resolve(),
  }
}
