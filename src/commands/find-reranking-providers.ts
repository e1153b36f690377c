import { apiError } from '../errors/api-error.ts'
import type { JsonObject, Value } from '../json/value.ts'
import type { RerankingModel } from '../providers/reranking-providers.ts'
import { defineGeneralCommand } from './dispatch/define.ts'
import {
  modelOptions,
  showAuthentication,
  showSupport,
  wantedModels,
} from './replies/model-status.ts'

/** Lists reranking services with their models. */
export const findRerankingProviders = defineGeneralCommand({
  does: 'describe',
  fields: { options: modelOptions },

  // eslint-disable-next-line @typescript-eslint/require-await
  async run({ options: wanted }, { models, features }) {
    if (!features.reranking) throw apiError('RERANKING_FEATURE_NOT_ENABLED')
    const shown: JsonObject = new Map()
    for (const [name, provider] of models.rerankingProviders)
      if (provider.enabled)
        shown.set(
          name,
          new Map<string, Value>([
            ['isDefault', provider.isDefault],
            ['displayName', provider.displayName],
            [
              'supportedAuthentication',
              showAuthentication(provider.supportedAuthentication),
            ],
            ['models', wantedModels(provider.models, wanted).map(showModel)],
          ]),
        )
    return { status: { rerankingProviders: shown } }
  },
})

function showModel({ name, support, isDefault, url }: RerankingModel): Value {
  return new Map<string, Value>([
    ['name', name],
    ['apiModelSupport', showSupport(support)],
    ['isDefault', isDefault],
    ['url', url ?? null],
    ['properties', null],
  ])
}
