import { planAlteration, readAlteration } from '../tables/schema/altered-table.ts'
import { defineCommand } from './dispatch/define.ts'
import { definition, noOptions } from './dispatch/fields.ts'
import { changeSchema, currentTable } from './dispatch/schema-change.ts'

/** Adds or drops columns, or the embedding services of vector columns. */
export const alterTable = defineCommand({
  does: 'alter',
  fields: { operation: definition, options: noOptions },

  async table({ operation }, context) {
    const { limits, features, models, rows } = context
    const alteration = readAlteration(operation)
    const { embeddingProviders } = models
    return changeSchema(context, (schema) => {
      const table = currentTable(schema, rows.table)
      const { types } = schema
      return planAlteration(table, alteration, {
        limits,
        features,
        embeddingProviders,
        types,
      })
    })
  },
})
