/** What a service that turns text into vectors is, as schemas and callers see it. */
import type { Authentications } from './authentication.ts'
import type { ModelSupport } from './model-support.ts'
import type { Endpoint } from './provider-url.ts'

export type EmbeddingProviders = ReadonlyMap<string, EmbeddingProvider>

export interface EmbeddingProvider {
  readonly displayName: string
  readonly enabled: boolean
  /** Where the provider's own service is, as callers are shown it; absent: no one place. */
  readonly url?: string
  /** What is called in fact; absent for models that run in this server. */
  readonly endpoint?: Endpoint
  readonly supportedAuthentication: Authentications
  /** The secrets that this server keeps for collections to name; absent: none. */
  readonly credentials?: ReadonlySet<string>
  /** Parameters that every model of the provider takes. */
  readonly parameters: readonly ProviderParameter[]
  readonly models: readonly EmbeddingModel[]
  /** What a left-out modelName means; absent: modelName is required. */
  readonly defaultModel?: string
}

export interface EmbeddingModel {
  readonly name: string
  /** Whether this entry stands for every name that no other entry has. */
  readonly isAnyName?: boolean
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
  /** What the provider takes a left-out one for; it is not sent. */
  readonly byDefault?: string
  /** For forms: a label, an example, and a sentence. */
  readonly displayName?: string
  readonly hint?: string
  readonly help?: string
}

/** The entry that a model's name stands for. */
export function findEmbeddingModel(
  { models }: EmbeddingProvider,
  name: string,
): EmbeddingModel | undefined {
  return (
    models.find((model) => model.name === name) ??
    (name === '' ? undefined : models.find((model) => model.isAnyName === true))
  )
}
