/** The services that turn text into vectors, as data. */
import type { ModelSupport } from './model-support.ts'

export type EmbeddingProviders = ReadonlyMap<string, EmbeddingProvider>

export interface EmbeddingProvider {
  readonly displayName: string
  readonly enabled: boolean
  readonly supportedAuthentication: Readonly<Record<AuthenticationMethod, Authentication>>
  /** Parameters that every model of the provider takes. */
  readonly parameters: readonly ProviderParameter[]
  readonly models: readonly EmbeddingModel[]
  /** What a left-out modelName means; absent: modelName is required. */
  readonly defaultModel?: string
}

export interface EmbeddingModel {
  readonly name: string
  readonly support: ModelSupport
  readonly dimension: ModelDimension
  /** Parameters that only this model takes. */
  readonly parameters: readonly ProviderParameter[]
}

/** How many numbers a model's vectors have. Without a default the caller has to say. */
export type ModelDimension =
  | { readonly kind: 'fixed'; readonly value: number }
  /** Both ends belong to the range. */
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
}

/**
 * How the provider's key gets here: not needed, with each request, or kept by the server
 * and named by the collection.
 */
export type AuthenticationMethod = 'NONE' | 'HEADER' | 'SHARED_SECRET'

export interface Authentication {
  readonly enabled: boolean
  /** The header or the secret's part that is read, and the name it is passed on by. */
  readonly tokens: readonly { readonly accepted: string; readonly forwarded: string }[]
}

export const embeddingProviders: EmbeddingProviders = new Map()
