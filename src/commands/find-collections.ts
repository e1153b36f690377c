import { showOptions } from '../collections/options/collection-options.ts'
import type { Collection } from '../engine/schema.ts'
import { apiError } from '../errors/api-error.ts'
import { fromPlain } from '../json/plain.ts'
import { defineKeyspaceCommand } from './dispatch/define.ts'
import { flag, options } from './dispatch/fields.ts'
import { byName } from './dispatch/schema-change.ts'

/** Lists the collections of a keyspace that one may know of: their names, or with `explain` their options too. */
export const findCollections = defineKeyspaceCommand({
  does: 'describe',
  fields: { options: options({ explain: flag(false) }) },

  async run({ options: { explain } }, { engine, keyspace, models, may }) {
    const targets = await engine.listTargets(keyspace)
    if (targets === undefined) throw apiError('UNKNOWN_KEYSPACE', { keyspace })
    const collections = byName(
      targets.filter(
        ({ kind, name }) =>
          kind === 'collection' && may('describe', { keyspace, target: name }),
      ) as Collection[],
    )
    return {
      status: {
        collections: collections.map(({ name, options }) =>
          explain ? fromPlain({ name, options: showOptions(options, models) }) : name,
        ),
      },
    }
  },
})
