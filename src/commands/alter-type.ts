import { apiError } from '../errors/api-error.ts'
import { checkAlteration, readTypeAlteration } from '../tables/schema/user-types.ts'
import { defineKeyspaceCommand } from './dispatch/define.ts'
import { clause, noOptions, requiredText } from './dispatch/fields.ts'
import { changeSchema, namesOf } from './dispatch/schema-change.ts'

/** Renames and adds fields of a user-defined type, atomically. */
export const alterType = defineKeyspaceCommand({
  does: 'alter',
  fields: { name: requiredText, rename: clause, add: clause, options: noOptions },

  async run({ name, rename, add }, context) {
    const { limits } = context
    const alteration = readTypeAlteration(rename, add, limits)
    return changeSchema(context, ({ types }) => {
      const type = types.find((candidate) => candidate.name === name)
      if (type === undefined)
        throw apiError('UNKNOWN_USER_DEFINED_TYPE', {
          names: [name],
          existing: namesOf(types),
        })
      checkAlteration(type, alteration, limits)
      return { kind: 'alterType', name, ...alteration }
    })
  },
})
