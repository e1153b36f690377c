/** What exists: keyspaces hold types and targets, and a target is a collection or a table. */
import type { Column, ColumnPart } from '../language/columns/column.ts'
import type {
  EmbeddingService,
  TextFolding,
  UserType,
  UserTypes,
} from '../language/columns/column-type.ts'
import type { Metric } from '../search/vector/similarity.ts'
import { withoutDatabaseKey } from './database-key.ts'
import { EngineError } from './errors.ts'

export type { EmbeddingService, Metric }

export type DefaultIdType = 'objectId' | 'uuid' | 'uuidv6' | 'uuidv7'

export interface VectorOptions {
  readonly dimension: number
  readonly metric: Metric
  readonly sourceModel: string
  readonly service?: EmbeddingService
}

export type IndexingOptions =
  { readonly allow: readonly string[] } | { readonly deny: readonly string[] }

export interface LexicalOptions {
  readonly enabled: boolean
  /** A built-in analyzer's name, or a recipe; absent when lexical search is off. */
  readonly analyzer?: unknown
}

export interface RerankOptions {
  readonly enabled: boolean
  readonly service?: { readonly provider: string; readonly modelName: string }
}

/**
 * A collection's options, normalised, in the shape and key order that findCollections
 * shows. Plain JSON data: engines store it as it is.
 */
export interface CollectionOptions {
  readonly defaultId?: { readonly type: DefaultIdType }
  readonly vector?: VectorOptions
  readonly indexing?: IndexingOptions
  readonly lexical: LexicalOptions
  readonly rerank: RerankOptions
}

/** What a new store has. */
export const firstKeyspace = 'default_keyspace'

export const replicationClasses = ['SimpleStrategy', 'NetworkTopologyStrategy'] as const

/** How many copies are kept of what a keyspace holds; a store that keeps one ignores it. */
export interface Replication {
  readonly class: (typeof replicationClasses)[number]
  /**
   * As they were sent: `replication_factor`, or copies by the names of data centers. Some
   * clients send names that mean nothing.
   */
  readonly counts: ReadonlyMap<string, number>
}

export interface KeyspaceOptions {
  /** Undefined: as the store does by default. */
  readonly replication?: Replication | undefined
}

export interface Collection {
  readonly kind: 'collection'
  readonly keyspace: string
  readonly name: string
  /** Differs between two collections that had the same name one after the other. */
  readonly uid: string
  readonly options: CollectionOptions
  /** Indexes are missing, which creating it once more makes. */
  readonly isIncomplete?: true
}

/** The name that users know a target's keyspace by. */
export function keyspaceOf({ keyspace }: Pick<Target, 'keyspace'>): string {
  return withoutDatabaseKey(keyspace)
}

export type { Column }

interface IndexBase {
  /** Differs between all indexes of the keyspace. */
  readonly name: string
  readonly column: string
}

export interface RegularIndex extends IndexBase {
  readonly kind: 'regular'
  /** Of a map its entries (`value`), keys or values; of anything else its value. */
  readonly part: ColumnPart
  /** Present if options were given for a part that is text. */
  readonly folding?: TextFolding
}

export interface TableVectorIndex extends IndexBase {
  readonly kind: 'vector'
  readonly metric: Metric
  readonly sourceModel: string
}

export interface TextIndex extends IndexBase {
  readonly kind: 'text'
  /** A built-in analyzer's name, or a recipe. */
  readonly analyzer: unknown
}

export type TableIndex = RegularIndex | TableVectorIndex | TextIndex

export interface TableDefinition {
  /** In any order. */
  readonly columns: readonly Column[]
  readonly partitionBy: readonly string[]
  readonly partitionSort: readonly { readonly column: string; readonly direction: 1 | -1 }[]
  readonly indexes: readonly TableIndex[]
  /** What only CQL can use, of a table that was made by it. Names are taken by it, too. */
  readonly unsupported?: Unsupported
}

/**
 * Columns of types that the API does not know, and such indexes. Where one is in the key, nobody
 * asks for rows.
 */
export interface Unsupported {
  readonly columns: readonly CqlDefinition[]
  readonly indexes: readonly CqlIndex[]
}

export interface CqlDefinition {
  readonly name: string
  /** The type of a column, or the statement that makes an index. */
  readonly cqlDefinition: string
}

export interface CqlIndex extends CqlDefinition {
  readonly column: string
}

/** Changing a table or one of its types makes another object of it, never another uid. */
export interface Table {
  readonly kind: 'table'
  readonly keyspace: string
  readonly name: string
  /** Differs between two tables that had the same name one after the other. */
  readonly uid: string
  readonly definition: TableDefinition
  /** The user-defined types that its columns name, as they are now. */
  readonly types: UserTypes
}

/** The collection or table that a command acts on. */
export type Target = Collection | Table

/** All that a keyspace holds. */
export interface KeyspaceSchema {
  readonly targets: readonly Target[]
  readonly types: UserTypes
  /** Names of types that only CQL can use. They can be dropped, and not be made again. */
  readonly otherTypes?: readonly string[]
  /** What is there and cannot be served. Names are taken by it, too. */
  readonly unreadable?: readonly UnreadableTarget[]
}

/** A collection or table that others have made, or changed, so that it cannot be served. */
export interface UnreadableTarget {
  readonly kind: Target['kind']
  readonly name: string
  readonly reason: EngineError
}

/** What a keyspace has under a name, whether it can be served or not. */
export function findNamed(
  { targets, unreadable = [] }: KeyspaceSchema,
  name: string,
): Target | UnreadableTarget | undefined {
  const isIt = (one: Target | UnreadableTarget) => one.name === name
  return targets.find(isIt) ?? unreadable.find(isIt)
}

/** The columns of the primary key: those that rows are partitioned by, then the sort's. */
export function keyNames({
  partitionBy,
  partitionSort,
}: Pick<TableDefinition, 'partitionBy' | 'partitionSort'>): string[] {
  return [...partitionBy, ...partitionSort.map(({ column }) => column)]
}

/** The same as columns. Throws where only CQL can use one of them. */
export function keyColumns(definition: TableDefinition): Column[] {
  const byName = new Map(definition.columns.map((column) => [column.name, column]))
  return keyNames(definition).map((name) => {
    const column = byName.get(name)
    if (column !== undefined) return column
    const problem = `the column ${name} of its key is of a type that only CQL can use`
    throw new EngineError('unsupported', problem)
  })
}

/** As rows and schemas show them: the columns of the key first, then the others by name. */
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

/** All types of a keyspace; of those that only CQL can use, the names. */
export function namedTypes({
  types,
  otherTypes = [],
}: KeyspaceSchema): readonly (UserType | Pick<UserType, 'name'>)[] {
  return [...types, ...otherTypes.map((name) => ({ name }))]
}
