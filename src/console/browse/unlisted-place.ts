/**
 * A collection or table that no list tells the token of. How the server answers says which of the
 * two it is, and a read of a table names its columns. Nothing tells the key of a table.
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

/** Nobody tells what a collection can do: all is offered, and refusals say so. */
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

/** Undefined for a collection. */
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

/** For tokens that may write and not read: tables do not have this command. It changes nothing. */
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
