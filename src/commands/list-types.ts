import { namedTypes } from '../engine/schema.ts'
import { describeType } from '../tables/schema/describe.ts'
import { defineKeyspaceCommand } from './dispatch/define.ts'
import { flag, options } from './dispatch/fields.ts'
import { byName, readSchema } from './dispatch/schema-change.ts'

/** Lists the types of a keyspace: their names, or with `explain` their fields too. */
export const listTypes = defineKeyspaceCommand({
  does: 'describe',
  fields: { options: options({ explain: flag(false) }) },

  async run({ options: { explain } }, context) {
    const types = byName(namedTypes(await readSchema(context)))
    return {
      status: {
        types: types.map((type) =>
          explain ? describeType(type, context.keyspace) : type.name,
        ),
      },
    }
  },
})
