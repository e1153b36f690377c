import { findNamed } from '../engine/schema.ts'
import { apiError } from '../errors/api-error.ts'
import { defineKeyspaceCommand } from './dispatch/define.ts'
import { flag, options, requiredText } from './dispatch/fields.ts'
import { changeSchema, namesOf, tablesOf } from './dispatch/schema-change.ts'

/**
 * Drops a table with its rows and indexes. A collection of that name is not dropped: the table
 * counts as unknown.
 */
export const dropTable = defineKeyspaceCommand({
  does: 'drop',
  onNamed: true,
  fields: { name: requiredText, options: options({ ifExists: flag(false) }) },

  async run({ name, options: { ifExists } }, context) {
    return changeSchema(context, (schema) => {
      if (findNamed(schema, name)?.kind === 'table') return { kind: 'dropTarget', name }
      if (ifExists) return undefined
      const existing = namesOf(tablesOf(schema))
      throw apiError('CANNOT_DROP_UNKNOWN_TABLE', { name, existing })
    })
  },
})
