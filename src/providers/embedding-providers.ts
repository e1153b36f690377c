/** Embedding providers, as schemas and API clients see them. */
import type { Authentications } from './authentication.ts'
import type { ModelSupport } from './model-support.ts'
import type { Endpoint } from './provider-url.ts'

export type EmbeddingProviders = ReadonlyMap<string, EmbeddingProvider>

export interface EmbeddingProvider {
  readonly displayName: string
  readonly enabled: boolean
  /** URL of the provider's own service, for display; absent if there is no single URL. */
  readonly url?: string
  /** The URL that is called; absent for models that run in this server. */
  readonly endpoint?: Endpoint
  readonly supportedAuthentication: Authentications
  /** Names of secrets that this server keeps for collections; absent: none. */
  readonly credentials?: ReadonlySet<string>
  /** Parameters of every model of the provider. */
  readonly parameters: readonly ProviderParameter[]
  readonly models: readonly EmbeddingModel[]
  /** Used when modelName is omitted; absent: modelName is required. */
  readonly defaultModel?: string
}

export interface EmbeddingModel {
  readonly name: string
  /** Whether this entry matches every name that no other entry has. */
  readonly isAnyName?: boolean
  readonly support: ModelSupport
  readonly dimension: ModelDimension
  /** Parameters of this model only. */
  readonly parameters: readonly ProviderParameter[]
}

/** Dimensions that a model supports. Without a default, the client must choose one. */
export type ModelDimension =
  | { readonly kind: 'fixed'; readonly value: number }
  /** A range of dimensions, inclusive on both ends. */
  | {
      readonly kind: 'range'
      readonly min: number
      readonly max: number
      readonly byDefault?: number
    }
  | {
      readonly kind: 'options'
      readonly values: readonly number[]
      readonly byDefault?: number
    }

export interface ProviderParameter {
  readonly name: string
  readonly type: 'string' | 'number' | 'boolean'
  readonly required: boolean
  /**
   * The provider's default when the parameter is omitted. This server does not send the default.
   */
  readonly byDefault?: string
  /** Label, example and description, for forms. */
  readonly displayName?: string
  readonly hint?: string
  readonly help?: string
}

/** The entry for a model name, if any. */
export function findEmbeddingModel(
  { models }: EmbeddingProvider,
  name: string,
): EmbeddingModel | undefined {
  return (
    models.find((model) => model.name === name) ??
    (name === '' ? undefined : models.find((model) => model.isAnyName === true))
  )
}
