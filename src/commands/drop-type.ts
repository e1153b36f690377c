import { namedTypes } from '../engine/schema.ts'
import { apiError } from '../errors/api-error.ts'
import { userTypeNameOf } from '../language/columns/column-type.ts'
import { defineKeyspaceCommand } from './dispatch/define.ts'
import { flag, options, requiredText } from './dispatch/fields.ts'
import { changeSchema, namesOf, tablesOf } from './dispatch/schema-change.ts'

/** Drops a user-defined type that no column uses. */
export const dropType = defineKeyspaceCommand({
  does: 'alter',
  fields: { name: requiredText, options: options({ ifExists: flag(false) }) },

  async run({ name, options: { ifExists } }, context) {
    return changeSchema(context, (schema) => {
      const existing = namesOf(namedTypes(schema))
      if (!existing.includes(name)) {
        if (ifExists) return undefined
        throw apiError('CANNOT_DROP_UNKNOWN_TYPE', { name, existing })
      }
      const users = tablesOf(schema).filter(({ definition }) =>
        definition.columns.some(({ type }) => userTypeNameOf(type) === name),
      )
      if (users.length > 0)
        throw apiError('CANNOT_DROP_TYPE_USED_BY_TABLE', { name, tables: namesOf(users) })
      return { kind: 'dropType', name }
    })
  },
})
