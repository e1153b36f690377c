import { planTable, readNewTable } from '../tables/schema/new-table.ts'
import { defineKeyspaceCommand } from './dispatch/define.ts'
import { definition, flag, newName, options } from './dispatch/fields.ts'
import { checkName } from './dispatch/new-names.ts'
import { changeSchema, countIn } from './dispatch/schema-change.ts'

/** Creates a table. */
export const createTable = defineKeyspaceCommand({
  does: 'create',
  onNamed: true,
  fields: { name: newName, definition, options: options({ ifNotExists: flag(false) }) },

  async run(fields, context) {
    const { keyspace, limits, features, models } = context
    const name = checkName('Table', fields.name, limits)
    const { embeddingProviders } = models
    const table = readNewTable(fields.definition, limits, { features, embeddingProviders })
    const { ifNotExists } = fields.options
    return changeSchema(context, (schema, counts) => {
      const count = countIn(counts, 'tables')
      return planTable(keyspace, schema, { name, table, ifNotExists, count, limits })
    })
  },
})
