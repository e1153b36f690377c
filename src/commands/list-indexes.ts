import { describeIndex, describeUnsupportedIndex } from '../tables/schema/describe.ts'
import { defineCommand } from './dispatch/define.ts'
import { flag, options } from './dispatch/fields.ts'
import { byName } from './dispatch/schema-change.ts'

/** Lists the indexes of a table: their names, or with `explain` their definitions too. */
export const listIndexes = defineCommand({
  does: 'describe',
  fields: { options: options({ explain: flag(false) }) },

  table({ options: { explain } }, { rows: { table } }) {
    const { indexes, unsupported } = table.definition
    const shown = byName([
      ...indexes.map((index) => ({
        ...index,
        describe: () => describeIndex(index, table),
      })),
      ...(unsupported?.indexes ?? []).map((index) => ({
        ...index,
        describe: () => describeUnsupportedIndex(index),
      })),
    ]).map((index) => (explain ? index.describe() : index.name))
    return Promise.resolve({ status: { indexes: shown } })
  },
})
