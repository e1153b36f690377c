import { namedTypes } from '../engine/schema.ts'
import { apiError } from '../errors/api-error.ts'
import { checkColumnCount } from '../tables/schema/column-names.ts'
import { readNewType } from '../tables/schema/user-types.ts'
import { defineKeyspaceCommand } from './dispatch/define.ts'
import { definition, flag, newName, options, type Field } from './dispatch/fields.ts'
import { violation } from '../options/read-value.ts'
import { checkName } from './dispatch/new-names.ts'
import { changeSchema } from './dispatch/schema-change.ts'

/** Like newName, but with a specific error for an empty name. */
const typeName: Field<string | undefined> = {
  takes: newName.takes,
  read(value, place) {
    if (value === '') violation(place, value, 'it cannot be empty')
    return newName.read(value, place)
  },
}

/** Creates a user-defined type for columns. */
export const createType = defineKeyspaceCommand({
  does: 'alter',
  fields: { name: typeName, definition, options: options({ ifNotExists: flag(false) }) },

  async run(fields, context) {
    const { keyspace, limits } = context
    const name = checkName('Udt', fields.name, limits)
    const type = readNewType(name, fields.definition, limits)
    return changeSchema(context, (schema) => {
      const { types } = schema
      if (namedTypes(schema).some((existing) => existing.name === name)) {
        if (fields.options.ifNotExists) return undefined
        throw apiError('CANNOT_ADD_EXISTING_TYPE', { name })
      }
      checkColumnCount('Field', 'command.definition.fields', type.fields, limits)
      if (types.length >= limits.typesMax)
        throw apiError('INVALID_SCHEMA_CHANGE', {
          reason: 'types',
          target: keyspace,
          types: types.length,
          max: limits.typesMax,
        })
      return { kind: 'createType', ...type }
    })
  },
})
