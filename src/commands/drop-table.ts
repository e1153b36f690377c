import { apiError } from '../errors/api-error.ts'
import { defineKeyspaceCommand } from './dispatch/define.ts'
import { flag, options, requiredText } from './dispatch/fields.ts'
import { changeSchema, namesOf, tablesOf } from './dispatch/schema-change.ts'

/** Drops a table with all its rows and indexes. A collection of that name stays. */
export const dropTable = defineKeyspaceCommand({
  does: 'drop',
  onNamed: true,
  fields: { name: requiredText, options: options({ ifExists: flag(false) }) },

  async run({ name, options: { ifExists } }, context) {
    return changeSchema(context, (schema) => {
      const tables = tablesOf(schema)
      if (tables.some((table) => table.name === name)) return { kind: 'dropTarget', name }
      if (ifExists) return undefined
      throw apiError('CANNOT_DROP_UNKNOWN_TABLE', { name, existing: namesOf(tables) })
    })
  },
})
