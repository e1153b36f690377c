import { namedTypes } from '../engine/schema.ts'
import type { UserType } from '../language/columns/column-type.ts'
import { describeType } from '../tables/schema/describe.ts'
import { defineKeyspaceCommand } from './dispatch/define.ts'
import { flag, options } from './dispatch/fields.ts'
import { byName, readSchema } from './dispatch/schema-change.ts'
import { replyList } from './replies/listed.ts'

/** Lists the types of a keyspace: names, or with `explain` also fields. */
export const listTypes = defineKeyspaceCommand({
  does: 'describe',
  fields: { options: options({ explain: flag(false) }) },

  async run({ options: { explain } }, context) {
    const types = byName(namedTypes(await readSchema(context)))
    const show = (type: UserType | Pick<UserType, 'name'>) =>
      explain ? describeType(type, context.keyspace) : type.name
    return replyList('types', types, show, context)
  },
})
