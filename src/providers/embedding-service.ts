/**
 * Validates the embedding service of a schema against the table of providers, and adds the
 * defaults of the model. The order of the checks is part of the API: a schema with two problems
 * always gets the same error.
 */
import { apiError } from '../errors/api-error.ts'
import type { ErrorVariables } from '../errors/catalog.ts'
import { isNumeric, jsonTypeOf, type JsonObject } from '../json/value.ts'
import { toPlain } from '../json/plain.ts'
import { credentialIn } from './embedding-keys.ts'
import {
  findEmbeddingModel,
  type EmbeddingModel,
  type EmbeddingProvider,
  type EmbeddingProviders,
  type ProviderParameter,
} from './embedding-providers.ts'
import { checkModelForNewUse } from './model-support.ts'
import type { EmbedRequest } from './models.ts'
import { addressOf, UrlProblem } from './provider-url.ts'

/** A service as requested; null and absent members are equivalent. */
export interface GivenService {
  readonly provider: string | undefined
  readonly modelName: string | undefined
  readonly authentication: ReadonlyMap<string, string> | undefined
  readonly parameters: JsonObject | undefined
}

/** The service to store, and the dimension of its vectors. */
export interface ResolvedService {
  readonly dimension: number
  readonly service: EmbedRequest['service']
}

/**
 * Validates the service and adds defaults. `where` names the object with the dimension and the
 * service in messages.
 */
export function resolveEmbeddingService(
  given: GivenService,
  dimension: number | undefined,
  providers: EmbeddingProviders,
  where = 'vector',
): ResolvedService {
  const { name, provider } = findProvider(given, providers, where)
  checkAuthentication(given, name, provider, where)
  const { modelName, model } = findModel(given, name, provider, where)
  const resolvedDimension = chooseDimension(dimension, modelName, model, where)
  const known = [...provider.parameters, ...model.parameters]
  checkParameters(given, modelName, known, where)
  const parameters =
    given.parameters && (toPlain(given.parameters) as Record<string, unknown>)
  checkPlace(provider, modelName, parameters ?? {}, where)
  return {
    dimension: resolvedDimension,
    service: {
      provider: name,
      modelName,
      ...(given.authentication && {
        authentication: storedAuthentication(given.authentication),
      }),
      ...(parameters && { parameters }),
    },
  }
}

function findProvider(given: GivenService, providers: EmbeddingProviders, where: string) {
  const offered = () =>
    [...providers]
      .filter(([, { enabled }]) => enabled)
      .map(([name]) => name)
      .toSorted()
  const name = given.provider
  if (name === undefined)
    refuse({ reason: 'embeddingProviderMissing', where, offered: offered() })
  const provider = providers.get(name)
  if (!provider?.enabled)
    refuse({
      reason: 'embeddingProvider',
      provider: name,
      isKnown: provider !== undefined,
      offered: offered(),
    })
  return { name, provider }
}

function checkAuthentication(
  given: GivenService,
  name: string,
  provider: EmbeddingProvider,
  where: string,
): void {
  const methods = provider.supportedAuthentication
  if (given.authentication === undefined || given.authentication.size === 0) {
    if (!methods.NONE.enabled && methods.HEADER?.enabled !== true)
      refuse({ reason: 'authenticationMissing', provider: name, where })
    return
  }
  const secret = methods.SHARED_SECRET
  const accepted = secret?.enabled ? secret.tokens.map((token) => token.accepted) : []
  for (const key of given.authentication.keys())
    if (!accepted.includes(key))
      refuse({
        reason: 'authenticationKey',
        provider: name,
        key,
        where,
        accepted: accepted.toSorted(),
      })
  const { credentials } = provider
  for (const [key, credential] of given.authentication)
    if (credentials && !credentials.has(credentialIn(credential, key)))
      throw apiError('VECTORIZE_CREDENTIAL_INVALID', { provider: name, key: credential })
}

function findModel(
  given: GivenService,
  providerName: string,
  provider: EmbeddingProvider,
  where: string,
): { readonly modelName: string; readonly model: EmbeddingModel } {
  const models = () => provider.models.map((model) => model.name).toSorted()
  const name = given.modelName ?? provider.defaultModel
  if (name === undefined)
    refuse({
      reason: 'embeddingModelMissing',
      where,
      provider: providerName,
      models: models(),
    })
  const model = findEmbeddingModel(provider, name)
  if (model === undefined)
    refuse({
      reason: 'embeddingModel',
      provider: providerName,
      model: name,
      models: models(),
    })
  checkModelForNewUse(name, model.support)
  return { modelName: name, model }
}

function chooseDimension(
  given: number | undefined,
  modelName: string,
  { dimension: allowed }: EmbeddingModel,
  where: string,
): number {
  switch (allowed.kind) {
    case 'fixed':
      if (given !== undefined && given !== allowed.value)
        mismatch(given, `${allowed.value}`)
      return allowed.value
    case 'range': {
      const span = `a number from ${allowed.min} to ${allowed.max}`
      const chosen = given ?? allowed.byDefault ?? missing(span)
      if (chosen < allowed.min || chosen > allowed.max) mismatch(chosen, span)
      return chosen
    }
    case 'options': {
      const choices = `one of ${allowed.values.join(', ')}`
      const chosen = given ?? allowed.byDefault ?? missing(choices)
      if (!allowed.values.includes(chosen)) mismatch(chosen, choices)
      return chosen
    }
  }

  function mismatch(dimension: number, expected: string): never {
    refuse({ reason: 'modelDimension', where, dimension, model: modelName, expected })
  }

  function missing(expected: string): never {
    refuse({ reason: 'modelDimensionMissing', where, model: modelName, expected })
  }
}

function checkParameters(
  given: GivenService,
  modelName: string,
  known: readonly ProviderParameter[],
  where: string,
): void {
  const parameters = given.parameters ?? new Map<string, never>()
  for (const name of parameters.keys())
    if (!known.some((parameter) => parameter.name === name))
      refuse({
        reason: 'unknownParameter',
        parameter: name,
        model: modelName,
        parameters: known.map((parameter) => parameter.name).toSorted(),
      })
  for (const { name, required } of known)
    if (required && !parameters.has(name))
      refuse({ reason: 'parameterMissing', model: modelName, parameter: name, where })
  for (const { name, type } of known) {
    const value = parameters.get(name)
    if (value === undefined) continue
    const fits = type === 'number' ? isNumeric(value) : typeof value === type
    if (!fits)
      refuse({
        reason: 'parameterType',
        parameter: name,
        model: modelName,
        expected: type,
        type: jsonTypeOf(value),
      })
  }
}

/** Rejects parameters that result in an invalid or forbidden URL. */
function checkPlace(
  { endpoint }: EmbeddingProvider,
  modelName: string,
  parameters: Readonly<Record<string, unknown>>,
  where: string,
): void {
  if (endpoint === undefined) return
  try {
    addressOf(endpoint, modelName, parameters)
  } catch (error) {
    if (error instanceof UrlProblem)
      refuse({ reason: 'serviceUrl', where, problem: error.message })
    throw error
  }
}

/** The authentication to store: each credential with the name of its part. */
function storedAuthentication(given: ReadonlyMap<string, string>): Record<string, string> {
  return Object.fromEntries(
    [...given].map(([key, credential]) => [
      key,
      credential.endsWith(`.${key}`) ? credential : `${credential}.${key}`,
    ]),
  )
}

function refuse(...why: ErrorVariables<'INVALID_CREATE_COLLECTION_OPTIONS'>): never {
  throw apiError('INVALID_CREATE_COLLECTION_OPTIONS', ...why)
}
