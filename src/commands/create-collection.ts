import {
  differences,
  parseCollectionOptions,
  type RequestedOptions,
} from '../documents/collection-options.ts'
import type { Engine } from '../engine/engine.ts'
import type { Collection, CollectionOptions, Target } from '../engine/schema.ts'
import { apiError } from '../errors/api-error.ts'
import { defineKeyspaceCommand, type KeyspaceContext } from './define.ts'
import { clause, text } from './fields.ts'
import { checkName } from './names.ts'

/** Creates a collection. Asking again for the same one is fine; for another one is not. */
export const createCollection = defineKeyspaceCommand({
  does: 'schema',
  fields: { name: text, options: clause },

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
    if (existing !== undefined) checkSame(existing, requested)
    return { status: { ok: 1 } }
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
  const count = await engine.countTargets()
  const max = limits.collectionsMax
  if (count >= max) throw apiError('TOO_MANY_COLLECTIONS', { name, max, count })
  return await engine.createCollection(keyspace, name, options)
}

function checkSame({ name, options }: Collection, requested: RequestedOptions): void {
  const differing = differences(requested, options)
  if (differing.length > 0)
    throw apiError('EXISTING_COLLECTION_DIFFERENT_SETTINGS', { name, differing })
}

const lastCreations = new WeakMap<Engine, Promise<unknown>>()

/** Counting and creating are two steps: without turns, two could take the last place. */
function inTurn<T>(engine: Engine, create: () => Promise<T>): Promise<T> {
  const before = lastCreations.get(engine) ?? Promise.resolve()
  const creation = before.then(create, create)
  lastCreations.set(engine, creation)
  return creation
}
