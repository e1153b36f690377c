import { describeIndex, describeUnsupportedIndex } from '../tables/schema/describe.ts'
import { defineCommand } from './dispatch/define.ts'
import { flag, options } from './dispatch/fields.ts'
import { byName } from './dispatch/schema-change.ts'
import { replyList } from './replies/listed.ts'

/** Lists the indexes of a table: names, or with `explain` also definitions. */
export const listIndexes = defineCommand({
  does: 'describe',
  fields: { options: options({ explain: flag(false) }) },

  table({ options: { explain } }, context) {
    const { table } = context.rows
    const { indexes, unsupported } = table.definition
    const all = byName([
      ...indexes.map((index) => ({
        ...index,
        describe: () => describeIndex(index, table),
      })),
      ...(unsupported?.indexes ?? []).map((index) => ({
        ...index,
        describe: () => describeUnsupportedIndex(index),
      })),
    ])
    const show = (index: (typeof all)[number]) => (explain ? index.describe() : index.name)
    return replyList('indexes', all, show, context)
  },
})
