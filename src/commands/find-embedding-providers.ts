import { apiError } from '../errors/api-error.ts'
import { fromPlain } from '../json/plain.ts'
import type { JsonObject, Value } from '../json/value.ts'
import type {
  EmbeddingModel,
  EmbeddingProvider,
  ModelDimension,
  ProviderParameter,
} from '../providers/embedding-providers.ts'
import { defineGeneralCommand } from './dispatch/define.ts'
import {
  modelOptions,
  showAuthentication,
  showSupport,
  wantedModels,
} from './replies/model-status.ts'

/** Lists embedding services with their models and parameters. */
export const findEmbeddingProviders = defineGeneralCommand({
  does: 'describe',
  fields: { options: modelOptions },

  // eslint-disable-next-line @typescript-eslint/require-await
  async run({ options: wanted }, { models, features }) {
    if (!features.vectorize) throw apiError('VECTORIZE_FEATURE_NOT_AVAILABLE')
    const shown: JsonObject = new Map()
    for (const [name, provider] of models.embeddingProviders)
      if (provider.enabled)
        shown.set(
          name,
          showProvider(provider, wantedModels(provider.models, wanted).map(showModel)),
        )
    return { status: { embeddingProviders: shown } }
  },
})

function showProvider(provider: EmbeddingProvider, models: Value[]): Value {
  return new Map<string, Value>([
    ['displayName', provider.displayName],
    ['url', provider.url ?? null],
    ['supportedAuthentication', showAuthentication(provider.supportedAuthentication)],
    [
      'parameters',
      provider.parameters.map((parameter) =>
        fromPlain({
          ...showParameter(parameter),
          // Clients expect the types of provider parameters in upper case, but those of model
          // parameters in lower case.
          type: parameter.type.toUpperCase(),
          displayName: parameter.displayName ?? parameter.name,
          hint: parameter.hint ?? '',
        }),
      ),
    ],
    ['models', models],
  ])
}

function showModel({ name, support, dimension, parameters }: EmbeddingModel): Value {
  return new Map<string, Value>([
    ['name', name],
    ['apiModelSupport', showSupport(support)],
    ['vectorDimension', dimension.kind === 'fixed' ? dimension.value : null],
    [
      'parameters',
      [...showDimension(dimension), ...parameters.map(showParameter)].map(fromPlain),
    ],
  ])
}

function showParameter({ name, type, required, byDefault, help }: ProviderParameter) {
  return {
    name,
    type: type as string,
    required,
    defaultValue: byDefault ?? null,
    validation: {},
    help: help ?? '',
  }
}

/** Lists the dimension as a parameter of the model, if clients can select it. */
function showDimension(dimension: ModelDimension) {
  if (dimension.kind === 'fixed') return []
  return [
    {
      name: 'vectorDimension',
      type: 'number',
      required: dimension.kind === 'range',
      defaultValue: dimension.byDefault === undefined ? null : String(dimension.byDefault),
      validation:
        dimension.kind === 'range'
          ? { numericRange: [dimension.min, dimension.max] }
          : { options: dimension.values },
      help: 'The number of elements of a vector. Set it as the dimension of the collection.',
    },
  ]
}
