import { planTable, readNewTable } from '../tables/schema/new-table.ts'
import { defineKeyspaceCommand } from './dispatch/define.ts'
import { definition, flag, newName, options } from './dispatch/fields.ts'
import { checkName } from './dispatch/new-names.ts'
import { changeSchema, countTargets, inTurn } from './dispatch/schema-change.ts'

/** Creates a table of columns, with a primary key. */
export const createTable = defineKeyspaceCommand({
  does: 'create',
  onNamed: true,
  fields: { name: newName, definition, options: options({ ifNotExists: flag(false) }) },

  async run(fields, context) {
    const { engine, keyspace, limits, features, models } = context
    const name = checkName('Table', fields.name, limits)
    const { embeddingProviders } = models
    const table = readNewTable(fields.definition, limits, { features, embeddingProviders })
    const { ifNotExists } = fields.options
    return inTurn(engine, async () => {
      const count = await countTargets(engine, 'table')
      const tables = { max: limits.tablesMax, count }
      const plan = { name, table, ifNotExists, tables, limits }
      return changeSchema(context, (schema) => planTable(keyspace, schema, plan))
    })
  },
})
