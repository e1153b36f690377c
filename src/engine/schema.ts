/** Schema: keyspaces hold types and targets; a target is a collection or a table. */
import type { Column, ColumnPart } from '../language/columns/column.ts'
import type {
  EmbeddingService,
  TextFolding,
  UserType,
  UserTypes,
} from '../language/columns/column-type.ts'
import { vectorMemories, type VectorMemory } from '../search/vector/code-width.ts'
import type { Metric } from '../search/vector/similarity.ts'
import { withoutDatabaseKey } from './database-key.ts'
import { EngineError } from './errors.ts'

export { vectorMemories }
export type { EmbeddingService, Metric, VectorMemory }

export type DefaultIdType = 'objectId' | 'uuid' | 'uuidv6' | 'uuidv7'

export interface VectorOptions {
  readonly dimension: number
  readonly metric: Metric
  readonly sourceModel: string
  readonly service?: EmbeddingService
  /** Memory of the vector index; absent: the default of the server. */
  readonly memory?: VectorMemory
}

export type IndexingOptions =
  { readonly allow: readonly string[] } | { readonly deny: readonly string[] }

export interface LexicalOptions {
  readonly enabled: boolean
  /** Name of a built-in analyzer, or a recipe; absent when lexical search is off. */
  readonly analyzer?: unknown
}

export interface RerankOptions {
  readonly enabled: boolean
  readonly service?: { readonly provider: string; readonly modelName: string }
}

/**
 * Options of a collection, normalised, in the shape and key order of findCollections. Plain JSON
 * data, which engines store as it is.
 */
export interface CollectionOptions {
  readonly defaultId?: { readonly type: DefaultIdType }
  readonly vector?: VectorOptions
  readonly indexing?: IndexingOptions
  readonly lexical: LexicalOptions
  readonly rerank: RerankOptions
}

/** The keyspace that a new store has. */
export const firstKeyspace = 'default_keyspace'

export const replicationClasses = ['SimpleStrategy', 'NetworkTopologyStrategy'] as const

/** Number of replicas of a keyspace. A store without replication ignores it. */
export interface Replication {
  readonly class: (typeof replicationClasses)[number]
  /**
   * Replicas as the client sent them: `replication_factor`, or by data center. Some clients spell
   * the name `replication_factor` differently.
   */
  readonly counts: ReadonlyMap<string, number>
}

export interface KeyspaceOptions {
  /** Replication of the keyspace; undefined: the default of the store. */
  readonly replication?: Replication | undefined
}

export interface Collection {
  readonly kind: 'collection'
  readonly keyspace: string
  readonly name: string
  /** Differs from the uid of an earlier collection of the same name. */
  readonly uid: string
  readonly options: CollectionOptions
  /** True: indexes of the collection are missing. Creating the collection again adds them. */
  readonly isIncomplete?: true
}

/** The keyspace name that users see. */
export function keyspaceOf({ keyspace }: Pick<Target, 'keyspace'>): string {
  return withoutDatabaseKey(keyspace)
}

export type { Column }

interface IndexBase {
  /** Unique among the indexes of the keyspace. */
  readonly name: string
  readonly column: string
}

export interface RegularIndex extends IndexBase {
  readonly kind: 'regular'
  /** For a map: its entries (`value`), keys or values; for other types: `value`. */
  readonly part: ColumnPart
  /** Present when the indexed part is text and the index has options. */
  readonly folding?: TextFolding
}

export interface TableVectorIndex extends IndexBase {
  readonly kind: 'vector'
  readonly metric: Metric
  readonly sourceModel: string
}

export interface TextIndex extends IndexBase {
  readonly kind: 'text'
  /** Name of a built-in analyzer, or a recipe. */
  readonly analyzer: unknown
}

export type TableIndex = RegularIndex | TableVectorIndex | TextIndex

export interface TableDefinition {
  /** Columns, in no particular order. */
  readonly columns: readonly Column[]
  readonly partitionBy: readonly string[]
  readonly partitionSort: readonly { readonly column: string; readonly direction: 1 | -1 }[]
  readonly indexes: readonly TableIndex[]
  /**
   * Columns and indexes that only CQL can use, in a table that was created by CQL. Their names are
   * taken.
   */
  readonly unsupported?: Unsupported
}

/**
 * Columns of types that the API does not know, and indexes of kinds that it does not know. Rows of
 * a table with such a key column are never requested.
 */
export interface Unsupported {
  readonly columns: readonly CqlDefinition[]
  readonly indexes: readonly CqlIndex[]
}

export interface CqlDefinition {
  readonly name: string
  /** The type of a column, or the CREATE statement of an index. */
  readonly cqlDefinition: string
}

export interface CqlIndex extends CqlDefinition {
  readonly column: string
}

/** A table. Altering it, or one of its types, creates a new object with the same uid. */
export interface Table {
  readonly kind: 'table'
  readonly keyspace: string
  readonly name: string
  /** Differs from the uid of an earlier table of the same name. */
  readonly uid: string
  readonly definition: TableDefinition
  /** The user-defined types of its columns, in their current version. */
  readonly types: UserTypes
}

/** The collection or table that a command acts on. */
export type Target = Collection | Table

export interface KeyspaceSchema {
  readonly targets: readonly Target[]
  readonly types: UserTypes
  /** Types that only CQL can use. They can be dropped, but not created again. */
  readonly otherTypes?: readonly string[]
  /** Collections and tables that exist but cannot be served. Their names are taken. */
  readonly unreadable?: readonly UnreadableTarget[]
}

/** A collection or table that another program created or changed so that it cannot be served. */
export interface UnreadableTarget {
  readonly kind: Target['kind']
  readonly name: string
  readonly reason: EngineError
}

/** The collection or table with this name, whether it can be served or not. */
export function findNamed(
  { targets, unreadable = [] }: KeyspaceSchema,
  name: string,
): Target | UnreadableTarget | undefined {
  const isIt = (one: Target | UnreadableTarget) => one.name === name
  return targets.find(isIt) ?? unreadable.find(isIt)
}

/** Columns of the primary key: the partition key, then the sort columns. */
export function keyNames({
  partitionBy,
  partitionSort,
}: Pick<TableDefinition, 'partitionBy' | 'partitionSort'>): string[] {
  return [...partitionBy, ...partitionSort.map(({ column }) => column)]
}

/** Columns of the primary key. Throws when only CQL can use one of them. */
export function keyColumns(definition: TableDefinition): Column[] {
  const byName = new Map(definition.columns.map((column) => [column.name, column]))
  return keyNames(definition).map((name) => {
    const column = byName.get(name)
    if (column !== undefined) return column
    const problem = `the primary key column ${name} has a type that only CQL can use`
    throw new EngineError('unsupported', problem)
  })
}

/** Columns in the order of rows and schemas: those of the key first, then the others by name. */
export function columnsInOrder<C extends Column>(
  definition: Pick<TableDefinition, 'partitionBy' | 'partitionSort'> & {
    readonly columns: readonly C[]
  },
): C[] {
  const key = keyNames(definition)
  const rank = ({ name }: C) => (key.includes(name) ? key.indexOf(name) : key.length)
  return definition.columns.toSorted(
    (a, b) => rank(a) - rank(b) || (a.name < b.name ? -1 : 1),
  )
}

/** All types of a keyspace; for CQL-only types just the names. */
export function namedTypes({
  types,
  otherTypes = [],
}: KeyspaceSchema): readonly (UserType | Pick<UserType, 'name'>)[] {
  return [...types, ...otherTypes.map((name) => ({ name }))]
}
