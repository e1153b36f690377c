/** Address of a command: a database, a keyspace, or a collection or table. */
export interface Address {
  /** The id of the database; empty for the home database. */
  readonly database: string
  readonly keyspace?: string
  readonly name?: string
}

/** A collection or table, as passed to its pages. */
export interface Place extends Address {
  readonly keyspace: string
  readonly name: string
  readonly kind: 'collection' | 'table'
  /** A collection's options. */
  readonly options: CollectionOptions
  /** A table's columns and key; empty for a collection. */
  readonly table: TableDefinition
}

export interface CollectionOptions {
  readonly defaultId?: { readonly type: string }
  readonly vector?: {
    readonly dimension: number
    readonly metric: string
    readonly sourceModel?: string
    readonly service?: { readonly provider: string; readonly modelName: string | null }
  }
  readonly indexing?: {
    readonly allow?: readonly string[]
    readonly deny?: readonly string[]
  }
  readonly lexical?: { readonly enabled: boolean; readonly analyzer?: unknown }
  readonly rerank?: {
    readonly enabled: boolean
    readonly service?: { readonly provider: string; readonly modelName: string }
  }
}

export interface TableDefinition {
  readonly columns: ReadonlyMap<string, ColumnType>
  readonly partitionBy: readonly string[]
  /** Clustering columns in the order of the key: 1 for ascending, -1 for descending. */
  readonly partitionSort: ReadonlyMap<string, number>
}

export interface ColumnType {
  readonly type: string
  readonly keyType?: ColumnType | string
  readonly valueType?: ColumnType | string
  readonly dimension?: number
  readonly udtName?: string
  readonly service?: { readonly provider: string; readonly modelName: string | null }
}

export const noTable: TableDefinition = {
  columns: new Map(),
  partitionBy: [],
  partitionSort: new Map(),
}

/**
 * Whether the primary key is known. The key of a table is unknown when the token may not list the
 * table.
 */
export function hasKnownKey({ kind, table }: Place): boolean {
  return kind === 'collection' || table.partitionBy.length > 0
}

/** The columns of the primary key. */
export function keyColumns({ table }: Place): readonly string[] {
  return [...table.partitionBy, ...table.partitionSort.keys()]
}

/**
 * The path of the command API, relative to the server's root. The path names a database only if it
 * is not the home database.
 */
export function commandPath({ database, keyspace, name }: Address): string {
  const root = database === '' ? 'v1' : `databases/${encodeURIComponent(database)}/v1`
  const rest = [keyspace, name].filter((part) => part !== undefined)
  return [root, ...rest.map(encodeURIComponent)].join('/')
}
