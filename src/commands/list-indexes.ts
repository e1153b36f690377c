import { describeIndex } from '../tables/schema/describe.ts'
import { defineCommand } from './dispatch/define.ts'
import { flag, options } from './dispatch/fields.ts'
import { byName } from './dispatch/schema-change.ts'

/** Lists the indexes of a table: their names, or with `explain` their definitions too. */
export const listIndexes = defineCommand({
  does: 'describe',
  fields: { options: options({ explain: flag(false) }) },

  table({ options: { explain } }, { rows: { table } }) {
    const indexes = byName(table.definition.indexes)
    const shown = indexes.map((index) =>
      explain ? describeIndex(index, table) : index.name,
    )
    return Promise.resolve({ status: { indexes: shown } })
  },
})
