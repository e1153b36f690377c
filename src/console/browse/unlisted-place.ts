/**
 * Opens a collection or table that the token may not list. The server's replies to commands show
 * whether it is a collection or a table, and a read returns the columns of a table. The key of a
 * table stays unknown.
 */
import { command, CommandError } from '../api/command.ts'
import {
  noTable,
  type CollectionOptions,
  type Place,
  type TableDefinition,
} from '../api/place.ts'
import { valueAt, type JsonObject } from '../json/value.ts'
import { readColumns } from '../catalog/catalog.ts'

type UnlistedAddress = Pick<Place, 'database' | 'keyspace' | 'name'>

/**
 * The options of an unlisted collection are unknown. The console therefore offers all features, and
 * the server rejects commands for features that the collection lacks.
 */
const anyOptions: CollectionOptions = {
  vector: { dimension: 0, metric: '', service: { provider: '', modelName: null } },
  lexical: { enabled: true },
  rerank: { enabled: true },
}

export async function findUnlisted(
  address: UnlistedAddress,
  signal: AbortSignal,
): Promise<Place> {
  const table = await findColumns(address, signal)
  return table === undefined
    ? { ...address, kind: 'collection', options: anyOptions, table: noTable }
    : { ...address, kind: 'table', options: {}, table }
}

/** The columns of a table; undefined for a collection. */
async function findColumns(
  address: UnlistedAddress,
  signal: AbortSignal,
): Promise<TableDefinition | undefined> {
  try {
    const { exact } = await command(address, 'findOne', {}, { signal })
    const columns = valueAt(exact, ['status', 'projectionSchema']) as JsonObject | undefined
    return columns && { ...noTable, columns: readColumns(columns) }
  } catch (error) {
    if (!(error instanceof CommandError && error.isForbidden)) throw error
    return (await refusesUpdates(address, signal)) ? noTable : undefined
  }
}

/**
 * Whether the name belongs to a table: the server rejects updateMany for tables. This check is for
 * tokens that may write but not read. The command matches no document and therefore changes
 * nothing.
 */
async function refusesUpdates(
  address: UnlistedAddress,
  signal: AbortSignal,
): Promise<boolean> {
  try {
    const fields = { filter: { _id: { $in: [] } }, update: {} }
    await command(address, 'updateMany', fields, { signal })
    return false
  } catch (error) {
    if (error instanceof CommandError && error.code === 'UNSUPPORTED_TABLE_COMMAND')
      return true
    throw error
  }
}
