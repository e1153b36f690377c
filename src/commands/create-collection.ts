import {
  differences,
  parseCollectionOptions,
  type RequestedOptions,
} from '../collections/options/collection-options.ts'
import type { CollectionOptions, Target } from '../engine/schema.ts'
import { apiError } from '../errors/api-error.ts'
import type { Models } from '../providers/models.ts'
import { defineKeyspaceCommand, type KeyspaceContext } from './dispatch/define.ts'
import { clause, newName } from './dispatch/fields.ts'
import { checkName } from './dispatch/new-names.ts'
import { countTargets, done, inTurn } from './dispatch/schema-change.ts'

/** Creates a collection. Asking again for the same one is fine; for another one is not. */
export const createCollection = defineKeyspaceCommand({
  does: 'create',
  onNamed: true,
  fields: { name: newName, options: clause },

  async run(fields, context) {
    const { limits, features, models } = context
    const name = checkName('Collection', fields.name, limits)
    const requested = parseCollectionOptions(fields.options, {
      limits,
      features,
      embeddingProviders: models.embeddingProviders,
      rerankingProviders: models.rerankingProviders,
    })
    const existing = await inTurn(context.engine, () =>
      findOrCreate(name, requested.options, context),
    )
    if (existing !== undefined) checkSame(existing, requested, models)
    return done(existing === undefined)
  },
})

/** Returns what has the name already; undefined when the collection was created. */
async function findOrCreate(
  name: string,
  options: CollectionOptions,
  { engine, keyspace, limits }: KeyspaceContext,
): Promise<Target | undefined> {
  const existing = await engine.findTarget(keyspace, name)
  if (existing !== undefined) return existing
  const count = await countTargets(engine, 'collection')
  const max = limits.collectionsMax
  if (count >= max) throw apiError('TOO_MANY_COLLECTIONS', { name, max, count })
  return await engine.createCollection(keyspace, name, options)
}

function checkSame(existing: Target, requested: RequestedOptions, models: Models): void {
  const { name } = existing
  if (existing.kind === 'table')
    throw apiError('EXISTING_TABLE_NOT_DATA_API_COLLECTION', { name })
  const differing = differences(requested, existing.options, models)
  if (differing.length > 0)
    throw apiError('EXISTING_COLLECTION_DIFFERENT_SETTINGS', { name, differing })
}
