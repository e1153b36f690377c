/** Statements that define the indexes of tables. */
import type { TextFolding } from '../../../language/columns/column-type.ts'
import type { Column, RegularIndex, TableIndex } from '../../schema.ts'
import type { Capabilities } from '../cluster/capabilities.ts'
import { quoteName, quoteOptions, quoteTarget } from '../cluster/statement.ts'

/**
 * The statement that creates an index; undefined: the cluster does not support the index, and a
 * note of the table (table-notes.ts) describes it instead.
 */
export function createIndex(
  table: { readonly keyspace: string; readonly name: string },
  index: TableIndex,
  column: Column & { readonly isKey: boolean },
  can: Capabilities,
): string | undefined {
  const options = optionsOf(index, column, can)
  if (options === undefined) return undefined
  const target = index.kind === 'regular' ? targetOf(index, column) : quoteName(column.name)
  return (
    `CREATE CUSTOM INDEX ${quoteName(index.name)} ON ${quoteTarget(table)} (${target}) ` +
    `USING 'StorageAttachedIndex'${quoteOptions(Object.entries(options))}`
  )
}

export function dropIndex(keyspace: string, name: string): string {
  return `DROP INDEX IF EXISTS ${quoteTarget({ keyspace, name })}`
}

/** Cassandra's default options for a regular index on a text column. */
export const plainFolding: TextFolding = {
  ascii: false,
  caseSensitive: true,
  normalize: false,
}

function targetOf({ part }: RegularIndex, { name, type }: Column): string {
  const quoted = quoteName(name)
  switch (type.type) {
    case 'list':
    case 'set':
      return `values(${quoted})`
    case 'map':
      return `${part === 'value' ? 'entries' : part}(${quoted})`
    default:
      return quoted
  }
}

function optionsOf(
  index: TableIndex,
  { type, isKey }: Column & { readonly isKey: boolean },
  can: Capabilities,
): Record<string, string> | undefined {
  switch (index.kind) {
    case 'vector':
      return {
        ...(can.sourceModel && {
          source_model: printSourceModel(index.sourceModel),
        }),
        similarity_function: index.metric.toUpperCase(),
      }
    case 'text':
      return can.indexAnalyzer
        ? { index_analyzer: printAnalyzer(index.analyzer) }
        : undefined
    case 'regular': {
      const isText = type.type === 'text' || type.type === 'ascii'
      // Cassandra rejects these options on key columns, even with default values.
      const folding = index.folding ?? (isText && !isKey ? plainFolding : undefined)
      return folding === undefined
        ? {}
        : {
            ascii: String(folding.ascii),
            case_sensitive: String(folding.caseSensitive),
            normalize: String(folding.normalize),
          }
    }
  }
}

export function printSourceModel(sourceModel: string): string {
  return sourceModel.toUpperCase().replaceAll('-', '_')
}

export function printAnalyzer(analyzer: unknown): string {
  return typeof analyzer === 'string' ? analyzer : JSON.stringify(analyzer)
}
