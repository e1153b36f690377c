import { showOptions } from '../collections/options/collection-options.ts'
import type { Collection } from '../engine/schema.ts'
import { apiError } from '../errors/api-error.ts'
import { fromPlain } from '../json/plain.ts'
import { defineKeyspaceCommand } from './dispatch/define.ts'
import { flag, options } from './dispatch/fields.ts'
import { byName } from './dispatch/schema-change.ts'
import { replyList } from './replies/listed.ts'

/**
 * Lists the collections of a keyspace that the principal may see: names, or with `explain` also
 * options.
 */
export const findCollections = defineKeyspaceCommand({
  does: 'describe',
  fields: { options: options({ explain: flag(false) }) },

  async run({ options: { explain } }, context) {
    const { engine, keyspace, models, may } = context
    const targets = await engine.listTargets(keyspace)
    if (targets === undefined) throw apiError('UNKNOWN_KEYSPACE', { keyspace })
    const collections = byName(
      targets.filter(
        ({ kind, name }) =>
          kind === 'collection' && may('describe', { keyspace, target: name }),
      ) as Collection[],
    )
    const show = ({ name, options }: Collection) =>
      explain ? fromPlain({ name, options: showOptions(options, models) }) : name
    return replyList('collections', collections, show, context)
  },
})
