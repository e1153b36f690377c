import type { Table } from '../engine/schema.ts'
import { apiError } from '../errors/api-error.ts'
import {
  defineCommand,
  defineKeyspaceCommand,
  type KeyspaceContext,
} from './dispatch/define.ts'
import { flag, options, requiredText } from './dispatch/fields.ts'
import { changeSchema, currentTable, namesOf, tablesOf } from './dispatch/schema-change.ts'

const common = {
  does: 'alter',
  fields: { name: requiredText, options: options({ ifExists: flag(false) }) },
} as const

/** Drops an index of any table in the keyspace. */
export const dropIndex = defineKeyspaceCommand({
  ...common,
  run: async ({ name, options: { ifExists } }, context) =>
    drop(name, ifExists, undefined, context),
})

/** Drops an index of the table in the path only. */
export const dropTableIndex = defineCommand({
  ...common,
  table: async ({ name, options: { ifExists } }, context) =>
    drop(name, ifExists, context.rows.table, context),
})

function drop(
  name: string,
  ifExists: boolean,
  owner: Table | undefined,
  context: KeyspaceContext,
) {
  return changeSchema(context, (schema) => {
    const tables = owner === undefined ? tablesOf(schema) : [currentTable(schema, owner)]
    const table = tables.find(({ definition: { indexes, unsupported } }) =>
      [...indexes, ...(unsupported?.indexes ?? [])].some((index) => index.name === name),
    )
    if (table !== undefined) return { kind: 'dropIndex', table: table.name, name }
    if (ifExists) return undefined
    const existing = namesOf(tables.flatMap(({ definition }) => definition.indexes))
    throw apiError('CANNOT_DROP_UNKNOWN_INDEX', { name, existing })
  })
}
