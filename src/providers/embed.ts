/** Embeds texts with a service over HTTP. */
import { apiError } from '../errors/api-error.ts'
import { fixedLimits } from '../limits.ts'
import { inBatches } from './batches.ts'
import { keysFor } from './embedding-keys.ts'
import { findEmbeddingModel } from './embedding-providers.ts'
import type { EmbeddingAsk } from './embedding-wires.ts'
import { checkModelForUse } from './model-support.ts'
import type { EmbedRequest } from './models.ts'
import type { RemoteEmbeddingProvider } from './offered-embeddings.ts'
import type { ProviderCaller } from './provider-call.ts'
import { jsonOf, unexpected, type ProviderRequest } from './provider-failures.ts'
import type { ProviderSettings } from './provider-settings.ts'
import {
  below,
  addressOf,
  UrlProblem,
  type Endpoint,
  type ProviderAddress,
} from './provider-url.ts'

export interface EmbedServices {
  readonly providers: ReadonlyMap<string, RemoteEmbeddingProvider>
  readonly settings: ProviderSettings
  readonly caller: ProviderCaller
  /** The built-in model, which errors suggest when a service is unavailable. */
  readonly builtIn: BuiltInModel
}

export interface BuiltInModel {
  readonly provider: string
  readonly modelName: string
  readonly isInstalled: boolean
}

export async function embed(
  request: EmbedRequest,
  { providers, settings, caller, builtIn }: EmbedServices,
): Promise<readonly Float32Array[]> {
  const { service, dimension, purpose, texts } = request
  const { signal } = request.caller
  const provider = findProvider(request, providers)
  const { wire } = provider
  const address = findAddress(provider.endpoint, request, builtIn)
  const keys = keysFor(provider, request, address, settings.embeddingKeys)
  const asked: ProviderRequest = {
    kind: 'embedding',
    provider: service.provider,
    model: service.modelName,
    errorAt: wire.errorAt,
    keys,
  }
  const parameters = service.parameters ?? {}
  return inBatches(texts, provider.batchSize, signal, async (batch, batchSignal) => {
    const ask = { model: service.modelName, dimension, texts: batch, purpose, parameters }
    const call = callFor(ask, provider, address, keys)
    const outcome = await caller.call(call, provider.retryPolicy, batchSignal)
    return readVectors(wire.vectors(jsonOf(outcome, asked)), ask, asked)
  })
}

function findProvider(
  { service }: EmbedRequest,
  providers: ReadonlyMap<string, RemoteEmbeddingProvider>,
): RemoteEmbeddingProvider {
  const { provider: name, modelName } = service
  const provider = providers.get(name)
  if (provider === undefined)
    throw apiError('EMBEDDING_PROVIDER_UNAVAILABLE', {
      reason: 'notOffered',
      name,
      offered: [...providers.keys()],
    })
  const model = findEmbeddingModel(provider, modelName)
  if (model === undefined)
    throw apiError('EMBEDDING_PROVIDER_UNAVAILABLE', {
      reason: 'modelGone',
      name,
      model: modelName,
    })
  checkModelForUse(modelName, model.support)
  return provider
}

function findAddress(
  endpoint: Endpoint | undefined,
  { service }: EmbedRequest,
  { isInstalled, ...local }: BuiltInModel,
): ProviderAddress {
  const { provider, modelName, parameters = {} } = service
  if (endpoint === undefined)
    throw apiError('EMBEDDING_PROVIDER_UNAVAILABLE', {
      reason: 'otherCloud',
      name: provider,
      local: JSON.stringify(local),
      isInstalled,
    })
  try {
    return addressOf(endpoint, modelName, parameters)
  } catch (error) {
    if (!(error instanceof UrlProblem)) throw error
    throw apiError('EMBEDDING_PROVIDER_BAD_HOST_NAME', { provider, problem: error.message })
  }
}

function callFor(
  ask: EmbeddingAsk,
  { wire }: RemoteEmbeddingProvider,
  base: ProviderAddress,
  keys: readonly string[],
) {
  const { embeddingNumberSizeMax, providerReplySizeMax } = fixedLimits
  const numbers = ask.texts.length * ask.dimension
  const address = wire.path === undefined ? base : below(base, wire.path(ask.model))
  const body = JSON.stringify(wire.body(ask))
  const authorization =
    keys.length === 0 ? {} : wire.authorize(keys, { url: address.url, body, ask })
  return {
    address,
    body,
    headers: { ...wire.headers?.(ask), ...authorization },
    replySizeMax: providerReplySizeMax + numbers * embeddingNumberSizeMax,
  }
}

function readVectors(
  vectors: unknown,
  { texts, dimension }: EmbeddingAsk,
  asked: ProviderRequest,
): Float32Array[] {
  if (!Array.isArray(vectors))
    throw unexpected(asked, `${texts.length} vectors`, 'a reply without vectors')
  if (vectors.length !== texts.length)
    throw unexpected(asked, `${texts.length} vectors`, `${vectors.length}`)
  return vectors.map((vector: unknown) => {
    if (!Array.isArray(vector))
      throw unexpected(asked, 'vectors', 'an entry that is not an array')
    if (vector.length !== dimension)
      throw unexpected(
        asked,
        `vectors of ${dimension} numbers`,
        `a vector of ${vector.length} numbers; the collection was created for another model`,
      )
    if (!vector.every((number) => typeof number === 'number'))
      throw unexpected(
        asked,
        'vectors of numbers',
        'a vector with an element that is not a number',
      )
    const numbers = Float32Array.from(vector)
    if (!numbers.every(Number.isFinite))
      throw unexpected(
        asked,
        'numbers that fit into 32 bits',
        'a number outside this range',
      )
    return numbers
  })
}
