import { apiError } from '../errors/api-error.ts'
import { defineKeyspaceCommand } from './dispatch/define.ts'
import { flag, options, requiredText } from './dispatch/fields.ts'
import { answer, inTurn, namesOf, readSchema, tablesOf } from './dispatch/schema-change.ts'

/** Drops a table with all its rows and indexes. A collection of that name stays. */
export const dropTable = defineKeyspaceCommand({
  does: 'drop',
  onNamed: true,
  fields: { name: requiredText, options: options({ ifExists: flag(false) }) },

  async run({ name, options: { ifExists } }, context) {
    const { engine } = context
    // In turn, so that of several that drop a table only one has dropped it.
    return inTurn(engine, () =>
      answer(async () => {
        const tables = tablesOf(await readSchema(context))
        const table = tables.find((candidate) => candidate.name === name)
        if (table !== undefined) return engine.dropTarget(table)
        if (ifExists) return false
        throw apiError('CANNOT_DROP_UNKNOWN_TABLE', { name, existing: namesOf(tables) })
      }),
    )
  },
})
