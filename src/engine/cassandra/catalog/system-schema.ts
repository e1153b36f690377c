/** Reads keyspaces, tables and types from system_schema as schemas of the engine contract. */
import { EngineError } from '../../errors.ts'
import type { Collection, KeyspaceSchema, Target, UnreadableTarget } from '../../schema.ts'
import type { KeyspaceCounts } from '../../schema-change.ts'
import type { Capabilities } from '../cluster/capabilities.ts'
import type { Session } from '../cluster/session.ts'
import { readComment, type Defaults, type SeenVector } from './collection-comment.ts'
import {
  collectionColumns,
  isCollection,
  missingIndexes,
  vectorColumn,
  type SeenColumn,
} from './collection-table.ts'
import { readType } from './cql-type.ts'
import type { IndexRow } from './read-index.ts'
import {
  readTable,
  readUserTypes,
  type ColumnRow,
  type TableRow,
  type TypeRow,
} from './read-table.ts'
import type { NoteSource } from './table-notes.ts'

/** Keyspaces of Cassandra itself and of related products. */
const systemKeyspaces = /^(?:system|system_.*|dse_.*|solr_admin|OpsCenter)$/

/** Whether Cassandra or a related product uses this keyspace itself. */
export function isOfCluster(keyspace: string): boolean {
  return systemKeyspaces.test(keyspace)
}

/**
 * Whether requests cannot access the keyspace. Such keyspaces contain passwords of the cluster and
 * tokens of servers, and a role for all keyspaces would otherwise include them.
 */
export function isReserved(keyspace: string, systemKeyspace: string): boolean {
  return keyspace === systemKeyspace || isOfCluster(keyspace)
}

export async function listKeyspaces(
  session: Session,
  systemKeyspace: string,
): Promise<readonly string[]> {
  const text = 'SELECT keyspace_name FROM system_schema.keyspaces'
  const rows = await Array.fromAsync(session.rowsOf({ text, values: [] }, 'schema'))
  return rows
    .map((row) => row['keyspace_name'] as string)
    .filter((name) => !isReserved(name, systemKeyspace))
}

/**
 * Counts the collections and tables of all keyspaces. Materialized views are not counted:
 * system_schema lists their columns in `columns`, but not the views in `tables`.
 */
export async function countTargets(
  session: Session,
  systemKeyspace: string,
): Promise<readonly KeyspaceCounts[]> {
  const select = async (columns: string, table: string) => {
    const text = `SELECT keyspace_name, ${columns} FROM system_schema.${table}`
    const rows = await Array.fromAsync(session.rowsOf({ text, values: [] }, 'schema'))
    return Map.groupBy(rows, (row) => row['keyspace_name'] as string)
  }
  const [keyspaces, tables, columns] = await Promise.all([
    listKeyspaces(session, systemKeyspace),
    select('table_name', 'tables'),
    select('table_name, column_name', 'columns'),
  ])
  return keyspaces.map((keyspace) => {
    const withDocuments = new Set(
      columns
        .get(keyspace)
        ?.filter((row) => row['column_name'] === 'doc_json')
        .map((row) => row['table_name'] as string),
    )
    const names = (tables.get(keyspace) ?? []).map((row) => row['table_name'] as string)
    const collections = names.filter((name) => withDocuments.has(name)).length
    return { keyspace, collections, tables: names.length - collections }
  })
}

/** Reads a keyspace with its targets and types; undefined: the keyspace does not exist. */
export async function readKeyspace(
  session: Session,
  keyspace: string,
  defaults: Defaults,
  can: Capabilities,
): Promise<KeyspaceSchema | undefined> {
  const rows = await readSchemaRows(session, keyspace)
  if (rows === undefined) return undefined
  const types = readUserTypes(rows.types)
  const otherTypes = rows.types
    .map(({ type_name }) => type_name)
    .filter((name) => !types.some((type) => type.name === name))
  const targets: Target[] = []
  const unreadable: UnreadableTarget[] = []
  for (const row of rows.tables) {
    const { table_name: name } = row
    const seen = rows.columnsOf(name)
    const ownIndexes = rows.indexesOf(name)
    const kind = isCollection(seen) ? 'collection' : 'table'
    try {
      targets.push(
        kind === 'collection'
          ? readCollection(row, seen, ownIndexes, defaults, can)
          : readTable(row, rows.columnRowsOf(name), ownIndexes, types),
      )
    } catch (reason) {
      // One unreadable target does not prevent serving the others.
      if (!(reason instanceof EngineError)) throw reason
      unreadable.push({ kind, name, reason })
    }
  }
  return {
    targets,
    types,
    ...(otherTypes.length > 0 && { otherTypes }),
    ...(unreadable.length > 0 && { unreadable }),
  }
}

/** Rows of system_schema about one keyspace. */
export interface SchemaRows {
  readonly tables: readonly TableRow[]
  readonly types: readonly TypeRow[]
  columnRowsOf(table: string): readonly ColumnRow[]
  columnsOf(table: string): readonly SeenColumn[]
  indexesOf(table: string): readonly IndexRow[]
}

/** Reads the rows of system_schema about a keyspace; undefined: the keyspace does not exist. */
export async function readSchemaRows(
  session: Session,
  keyspace: string,
): Promise<SchemaRows | undefined> {
  const select = <R>(columns: string, table: string) =>
    selectSchema<R>(session, columns, table, keyspace)
  const [keyspaces, tables, columns, indexes, types] = await Promise.all([
    select('keyspace_name', 'keyspaces'),
    select<TableRow>('keyspace_name, table_name, id, comment, extensions', 'tables'),
    select<ColumnRow & OfTable>(
      'table_name, column_name, clustering_order, kind, position, type',
      'columns',
    ),
    select<IndexRow>('keyspace_name, table_name, index_name, kind, options', 'indexes'),
    select<TypeRow>('type_name, field_names, field_types', 'types'),
  ])
  if (keyspaces.length === 0) return undefined
  const columnRows = Map.groupBy(columns, ({ table_name }) => table_name)
  const indexRows = Map.groupBy(indexes, ({ table_name }) => table_name)
  const columnRowsOf = (table: string) => columnRows.get(table) ?? []
  return {
    ...{ tables, types, columnRowsOf },
    columnsOf: (table) => columnRowsOf(table).map(seenColumn),
    indexesOf: (table) => indexRows.get(table) ?? [],
  }
}

interface OfTable {
  readonly table_name: string
}

/** Columns that the options of a collection require and its table does not have. */
export async function missingColumns(
  session: Session,
  { keyspace, name, options }: Collection,
): Promise<readonly string[]> {
  const rows = await readSchemaRows(session, keyspace)
  const present = new Set(rows?.columnsOf(name).map((column) => column.name))
  return [...collectionColumns(options).keys()].filter((column) => !present.has(column))
}

/** Reads the properties of a table that contain its notes; undefined: the table does not exist. */
export async function readNoteSource(
  session: Session,
  keyspace: string,
  name: string,
): Promise<NoteSource | undefined> {
  const text =
    'SELECT comment, extensions FROM system_schema.tables ' +
    'WHERE keyspace_name = ? AND table_name = ?'
  const { rows } = await session.run({ text, values: [keyspace, name] }, 'schema')
  return rows[0] as unknown as NoteSource | undefined
}

/** Reads the indexes of all tables, because index names are unique per keyspace. */
export function readIndexNames(
  session: Session,
  keyspace: string,
): Promise<readonly Pick<IndexRow, 'table_name' | 'index_name'>[]> {
  return selectSchema(session, 'table_name, index_name', 'indexes', keyspace)
}

interface ViewRow {
  readonly view_name: string
}

/** Names of materialized views. A table cannot have the name of a view. */
export async function readViewNames(
  session: Session,
  keyspace: string,
): Promise<readonly string[]> {
  const rows = await selectSchema<ViewRow>(session, 'view_name', 'views', keyspace)
  return rows.map(({ view_name }) => view_name)
}

async function selectSchema<R>(
  session: Session,
  columns: string,
  table: string,
  keyspace: string,
): Promise<readonly R[]> {
  const text = `SELECT ${columns} FROM system_schema.${table} WHERE keyspace_name = ?`
  const rows = session.rowsOf({ text, values: [keyspace] }, 'schema')
  return (await Array.fromAsync(rows)) as unknown as readonly R[]
}

function readCollection(
  { keyspace_name: keyspace, table_name: name, id, comment }: TableRow,
  seen: readonly SeenColumn[],
  indexes: readonly IndexRow[],
  defaults: Defaults,
  can: Capabilities,
): Collection {
  const options = readComment(name, comment ?? '', seenVector(seen, indexes), defaults)
  const names = new Set(seen.map((column) => column.name))
  // Creating the collection again adds missing indexes, but no missing columns. A collection is
  // therefore incomplete only if it has all its columns.
  const isIncomplete =
    missingIndexes(options, can, indexes).length > 0 &&
    collectionColumns(options)
      .keys()
      .every((column) => names.has(column))
  const uid = id.toString()
  return {
    ...{ kind: 'collection', keyspace, name, uid, options },
    ...(isIncomplete && { isIncomplete }),
  }
}

function seenColumn({ column_name: name, kind, type }: ColumnRow): SeenColumn {
  return { name, kind, type }
}

export function seenVector(
  columns: readonly SeenColumn[],
  indexes: readonly IndexRow[],
): SeenVector | undefined {
  const { type } = columns.find(({ name }) => name === vectorColumn) ?? {}
  const vector = type === undefined ? undefined : readType(type, [])?.type
  if (vector?.type !== 'vector') return undefined
  const options = indexes.find(({ index_name }) =>
    index_name.endsWith(vectorColumn),
  )?.options
  return {
    dimension: vector.dimension,
    metric: options?.get('similarity_function'),
    sourceModel: options?.get('source_model'),
  }
}
