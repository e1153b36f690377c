/** The services that put search results into a better order, as data. */
import type { ModelSupport } from './model-support.ts'

export type RerankingProviders = ReadonlyMap<string, RerankingProvider>

/** One provider of a table is the default, and one of its models is the default there. */
export interface RerankingProvider {
  readonly displayName: string
  readonly enabled: boolean
  readonly isDefault: boolean
  readonly models: readonly RerankingModel[]
}

export interface RerankingModel {
  readonly name: string
  readonly isDefault: boolean
  readonly support: ModelSupport
}

export const rerankingProviders: RerankingProviders = new Map([
  [
    'nvidia',
    {
      displayName: 'Nvidia',
      enabled: true,
      isDefault: true,
      models: [
        {
          name: 'nvidia/llama-3.2-nv-rerankqa-1b-v2',
          isDefault: true,
          support: { status: 'SUPPORTED' },
        },
      ],
    },
  ],
])

/** What a collection reranks with when it does not say. */
export function defaultReranking(
  providers: RerankingProviders,
): { readonly provider: string; readonly modelName: string } | undefined {
  for (const [provider, { isDefault, models }] of providers) {
    const model = isDefault ? models.find((candidate) => candidate.isDefault) : undefined
    if (model !== undefined) return { provider, modelName: model.name }
  }
  return undefined
}
