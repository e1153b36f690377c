import {
  differences,
  parseCollectionOptions,
  type RequestedOptions,
} from '../collections/options/collection-options.ts'
import {
  findNamed,
  type Collection,
  type Target,
  type UnreadableTarget,
} from '../engine/schema.ts'
import { apiError } from '../errors/api-error.ts'
import type { Models } from '../providers/models.ts'
import { inTurns } from '../runtime/steps.ts'
import { defineKeyspaceCommand } from './dispatch/define.ts'
import { clause, newName } from './dispatch/fields.ts'
import { checkName } from './dispatch/new-names.ts'
import { changeSchema, countIn } from './dispatch/schema-change.ts'

/**
 * Creates a collection. Repeating the command with equal options succeeds; different options
 * are an error.
 */
export const createCollection = defineKeyspaceCommand({
  does: 'create',
  onNamed: true,
  fields: { name: newName, options: clause },

  async run(fields, context) {
    const { limits, features, models, caller } = context
    const name = checkName('Collection', fields.name, limits)
    const requested = await inTurns(
      parseCollectionOptions(fields.options, {
        limits,
        features,
        embeddingProviders: models.embeddingProviders,
        rerankingProviders: models.rerankingProviders,
      }),
      caller,
    )
    return changeSchema(context, (schema, counts) => {
      const existing = findNamed(schema, name)
      if (existing !== undefined) {
        const { options, isIncomplete } = checkSame(existing, requested, models)
        return isIncomplete ? { kind: 'createCollection', name, options } : undefined
      }
      const count = countIn(counts, 'collections')
      const max = limits.collectionsMax
      if (count >= max) throw apiError('TOO_MANY_COLLECTIONS', { name, max, count })
      return { kind: 'createCollection', name, options: requested.options }
    })
  },
})

function checkSame(
  existing: Target | UnreadableTarget,
  requested: RequestedOptions,
  models: Models,
): Collection {
  const { name } = existing
  if (existing.kind === 'table')
    throw apiError('EXISTING_TABLE_NOT_DATA_API_COLLECTION', { name })
  if ('reason' in existing) throw existing.reason
  const differing = differences(requested, existing.options, models)
  if (differing.length > 0)
    throw apiError('EXISTING_COLLECTION_DIFFERENT_SETTINGS', { name, differing })
  return existing
}
