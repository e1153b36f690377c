import { describeType } from '../tables/schema/describe.ts'
import { defineKeyspaceCommand } from './dispatch/define.ts'
import { flag, options } from './dispatch/fields.ts'
import { byName, readSchema } from './dispatch/schema-change.ts'

/** Lists the types of a keyspace: their names, or with `explain` their fields too. */
export const listTypes = defineKeyspaceCommand({
  does: 'describe',
  fields: { options: options({ explain: flag(false) }) },

  async run({ options: { explain } }, context) {
    const { types, otherTypes = [] } = await readSchema(context)
    const all = byName([...types, ...otherTypes.map((name) => ({ name }))])
    return {
      status: {
        types: all.map((type) =>
          explain ? describeType(type, context.keyspace) : type.name,
        ),
      },
    }
  },
})
