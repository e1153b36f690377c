/** The table of known reranking services. */
import { noKey, type Authentications } from './authentication.ts'
import type { ModelSupport } from './model-support.ts'

export type RerankingProviders = ReadonlyMap<string, RerankingProvider>

/**
 * Exactly one provider of a table is the default, and exactly one of that provider's models is
 * the default model.
 */
export interface RerankingProvider {
  readonly displayName: string
  readonly enabled: boolean
  readonly isDefault: boolean
  readonly supportedAuthentication: Authentications
  readonly models: readonly RerankingModel[]
}

export interface RerankingModel {
  readonly name: string
  readonly isDefault: boolean
  readonly support: ModelSupport
  /** URL of the provider's own service; absent if there is no single URL. */
  readonly url?: string
}

/** The reranking services that a server offers, unless settings of its operator change them. */
export const rerankingProviders: RerankingProviders = new Map([
  [
    'nvidia',
    {
      displayName: 'Nvidia',
      enabled: true,
      isDefault: true,
      supportedAuthentication: noKey,
      models: [
        {
          ...model(
            'nvidia/llama-3.2-nv-rerankqa-1b-v2',
            'https://us-west-2.api-dev.ai.datastax.com/nvidia/v1/ranking',
          ),
          isDefault: true,
        },
      ],
    },
  ],
  [
    'cohere',
    byKey('Cohere', 'https://api.cohere.com/v2/rerank', [
      'rerank-english-v3.0',
      'rerank-multilingual-v3.0',
      'rerank-v3.5',
      'rerank-v4.0-pro',
    ]),
  ],
  [
    'jinaAI',
    byKey('Jina AI', 'https://api.jina.ai/v1/rerank', [
      'jina-reranker-v2-base-multilingual',
    ]),
  ],
  [
    'voyageAI',
    byKey('Voyage AI', 'https://api.voyageai.com/v1/rerank', [
      'rerank-2',
      'rerank-2-lite',
      'rerank-2.5',
      'rerank-2.5-lite',
    ]),
  ],
  [
    'textEmbeddingsInference',
    {
      displayName: 'Text Embeddings Inference',
      // The provider is disabled until the operator configures a URL.
      enabled: false,
      isDefault: false,
      supportedAuthentication: { ...keyHeader(), ...noKey },
      models: [model('endpoint-defined-model')],
    },
  ],
])

/** The reranker of collections that do not name one. */
export function defaultReranking(
  providers: RerankingProviders,
): { readonly provider: string; readonly modelName: string } | undefined {
  for (const [provider, { isDefault, models }] of providers) {
    const model = isDefault ? models.find((candidate) => candidate.isDefault) : undefined
    if (model !== undefined) return { provider, modelName: model.name }
  }
  return undefined
}

function byKey(
  displayName: string,
  url: string,
  models: readonly string[],
): RerankingProvider {
  return {
    displayName,
    enabled: true,
    isDefault: false,
    supportedAuthentication: { NONE: { enabled: false, tokens: [] }, ...keyHeader() },
    models: models.map((name) => model(name, url)),
  }
}

function model(name: string, url?: string): RerankingModel {
  const support = { status: 'SUPPORTED' } as const
  return { name, isDefault: false, support, ...(url !== undefined && { url }) }
}

function keyHeader() {
  const tokens = [{ accepted: 'reranking-api-key', forwarded: 'Authorization' }]
  return { HEADER: { enabled: true, tokens } }
}
