/** The common implementation of createIndex, createVectorIndex and createTextIndex. */
import { apiError } from '../../errors/api-error.ts'
import {
  checkIndexType,
  checkRoom,
  readIndex,
  resolveIndex,
  type IndexKind,
} from '../../tables/schema/new-index.ts'
import { prepareTextIndex } from '../../tables/schema/text-index.ts'
import { defineCommand, type TargetCommand } from './define.ts'
import { definition, flag, options, text, type Field } from './fields.ts'
import { checkName } from './new-names.ts'
import { changeSchema, currentTable, tablesOf } from './schema-change.ts'

const indexName: Field<string | undefined> = {
  ...text,
  takes: { kind: 'name', lengthMax: (limits) => limits.indexNameLengthMax, required: true },
}

export function defineIndexCommand(command: string, kind: IndexKind): TargetCommand {
  return defineCommand({
    does: 'alter',
    fields: {
      name: indexName,
      definition,
      indexType: text,
      options: options({ ifNotExists: flag(false) }),
    },

    async table(fields, context) {
      const { limits, features, rows, caller } = context
      const name = checkName('Index', fields.name, limits)
      checkIndexType(command, kind, fields.indexType)
      const given = readIndex(kind, fields.definition)
      if (kind === 'text' && !features.lexical)
        throw apiError('LEXICAL_FEATURE_NOT_ENABLED')
      if (given.kind === 'text') await prepareTextIndex(given, limits, caller)
      const reply = await changeSchema(context, (schema) => {
        const table = currentTable(schema, rows.table)
        const index = resolveIndex(table, name, given, limits)
        if (features.snakeCaseIndexes && !isSnakeCase(given.column))
          throw apiError('INDEXED_COLUMN_NAME_REFUSED', { column: given.column })
        const existing = tablesOf(schema).find(({ definition: { indexes, unsupported } }) =>
          [...indexes, ...(unsupported?.indexes ?? [])].some(
            (candidate) => candidate.name === name,
          ),
        )
        if (existing !== undefined) {
          if (fields.options.ifNotExists) return undefined
          throw apiError('CANNOT_ADD_EXISTING_INDEX', { name, table: existing.name })
        }
        checkRoom(table, index, limits)
        return { kind: 'createIndex', table: table.name, index }
      })
      if (reply.changed !== true || isSnakeCase(given.column)) return reply
      return { ...reply, warnings: [warningOf(given.column)] }
    },
  })
}

function isSnakeCase(column: string): boolean {
  return /^[a-z0-9_]+$/.test(column)
}

function warningOf(column: string) {
  const better = column
    .replace(/(?<=[a-z0-9])(?=[A-Z])/g, '_')
    .toLowerCase()
    .replace(/[^a-z0-9_]+/g, '_')
  return apiError('INDEXED_COLUMN_NOT_SNAKE_CASE', { column, better })
}
