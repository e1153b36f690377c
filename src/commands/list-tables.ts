import type { Table } from '../engine/schema.ts'
import { describeTable } from '../tables/schema/describe.ts'
import { defineKeyspaceCommand } from './dispatch/define.ts'
import { flag, options } from './dispatch/fields.ts'
import { byName, readSchema, tablesOf } from './dispatch/schema-change.ts'
import { replyList } from './replies/listed.ts'

/** Lists the tables of a keyspace: names, or with `explain` also definitions. */
export const listTables = defineKeyspaceCommand({
  does: 'describe',
  fields: { options: options({ explain: flag(false) }) },

  async run({ options: { explain } }, context) {
    const { keyspace, may } = context
    const tables = byName(tablesOf(await readSchema(context))).filter(({ name }) =>
      may('describe', { keyspace, target: name }),
    )
    const show = (table: Table) => (explain ? describeTable(table) : table.name)
    return replyList('tables', tables, show, context)
  },
})
