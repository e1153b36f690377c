/** What the cluster tells of its keyspaces, as the contract says it. */
import type { types } from 'cassandra-driver'
import type { Collection, KeyspaceSchema } from '../../schema.ts'
import type { Session } from '../cluster/session.ts'
import { readComment, type Defaults, type SeenVector } from './collection-comment.ts'
import { isCollection, vectorColumn, type SeenColumn } from './collection-table.ts'
import { readType } from './cql-type.ts'

/** Keyspaces of the cluster itself, and of products around it. */
const systemKeyspaces = /^(?:system|system_.*|dse_.*|solr_admin|OpsCenter)$/

export async function listKeyspaces(
  session: Session,
  systemKeyspace: string,
): Promise<readonly string[]> {
  const text = 'SELECT keyspace_name FROM system_schema.keyspaces'
  const rows = await Array.fromAsync(session.rowsOf({ text, values: [] }, 'schema'))
  return rows
    .map((row) => row['keyspace_name'] as string)
    .filter((name) => name !== systemKeyspace && !systemKeyspaces.test(name))
}

/** Undefined: there is no such keyspace. */
export async function readKeyspace(
  session: Session,
  keyspace: string,
  defaults: Defaults,
): Promise<KeyspaceSchema | undefined> {
  const select = (columns: string, table: string) =>
    Array.fromAsync(
      session.rowsOf(
        {
          text: `SELECT ${columns} FROM system_schema.${table} WHERE keyspace_name = ?`,
          values: [keyspace],
        },
        'schema',
      ),
    )
  const [keyspaces, tables, columns, indexes] = await Promise.all([
    select('keyspace_name', 'keyspaces'),
    select('table_name, id, comment', 'tables'),
    select('table_name, column_name, kind, type', 'columns'),
    select('table_name, index_name, options', 'indexes'),
  ])
  if (keyspaces.length === 0) return undefined
  const columnsOf = groupByTable(columns)
  const indexesOf = groupByTable(indexes)
  const targets = tables.flatMap((row): Collection[] => {
    const name = row['table_name'] as string
    const seen = (columnsOf.get(name) ?? []).map(seenColumn)
    if (!isCollection(seen)) return []
    const vector = seenVector(seen, indexesOf.get(name) ?? [])
    const comment = (row['comment'] as string | null) ?? ''
    const options = readComment(name, comment, vector, defaults)
    return [{ kind: 'collection', keyspace, name, uid: String(row['id']), options }]
  })
  return { targets, types: [] }
}

function groupByTable(rows: readonly types.Row[]): Map<string, types.Row[]> {
  return Map.groupBy(rows, (row) => row['table_name'] as string)
}

function seenColumn(row: types.Row): SeenColumn {
  return {
    name: row['column_name'] as string,
    kind: row['kind'] as string,
    type: row['type'] as string,
  }
}

function seenVector(
  columns: readonly SeenColumn[],
  indexes: readonly types.Row[],
): SeenVector | undefined {
  const { type } = columns.find(({ name }) => name === vectorColumn) ?? {}
  const vector = type === undefined ? undefined : readType(type, [])?.type
  if (vector?.type !== 'vector') return undefined
  const index = indexes.find((row) => (row['index_name'] as string).endsWith(vectorColumn))
  const options = index?.['options'] as ReadonlyMap<string, string> | undefined
  return {
    dimension: vector.dimension,
    metric: options?.get('similarity_function'),
    sourceModel: options?.get('source_model'),
  }
}
