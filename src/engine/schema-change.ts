/**
 * Schema changes as callers request them: by names and types only. Internal ids of columns, fields
 * and indexes are private to the engine.
 */
import type { UserField, UserType } from '../language/columns/column-type.ts'
import type {
  CollectionOptions,
  Column,
  EmbeddingService,
  KeyspaceSchema,
  TableDefinition,
  TableIndex,
} from './schema.ts'

/**
 * Returns the change to make, if any. A plan is pure, because an engine may call it again. Its
 * change is valid on the given schema: new names are free, and all other names exist.
 */
export type SchemaPlan = (
  schema: KeyspaceSchema,
  counts: readonly KeyspaceCounts[],
) => SchemaChange | undefined

/** Counts of one keyspace. A plan gets the counts of all keyspaces. */
export interface KeyspaceCounts {
  readonly keyspace: string
  readonly collections: number
  readonly tables: number
}

export type SchemaChange =
  /** Creates a collection, or completes an existing incomplete one with the same options. */
  | {
      readonly kind: 'createCollection'
      readonly name: string
      readonly options: CollectionOptions
    }
  | ({ readonly kind: 'createTable'; readonly name: string } & NewTable)
  /**
   * Drops a collection or table. Its name is free at once, and running reads end with EngineError
   * 'gone'.
   */
  | { readonly kind: 'dropTarget'; readonly name: string }
  | TableChange
  | ({ readonly kind: 'createType' } & UserType)
  | ({ readonly kind: 'alterType'; readonly name: string } & TypeAlteration)
  /** Drops a type that no column uses. */
  | { readonly kind: 'dropType'; readonly name: string }

/** A change of a table. Rows, and their values in other columns, stay. */
export type TableChange = { readonly table: string } &
  /** Adds columns. They are empty, even if a dropped column had the same name. */
  (
    | { readonly kind: 'addColumns'; readonly columns: readonly Column[] }
    /** Drops columns that are not part of the key and have no index. */
    | { readonly kind: 'dropColumns'; readonly names: readonly string[] }
    /** Sets the embedding services of vector columns by column name; null removes the service. */
    | {
        readonly kind: 'putServices'
        readonly services: ReadonlyMap<string, EmbeddingService | null>
      }
    /** Creates an index, which is complete and in use when the change returns. */
    | { readonly kind: 'createIndex'; readonly index: TableIndex }
    | { readonly kind: 'dropIndex'; readonly name: string }
  )

export interface NewTable extends Pick<TableDefinition, 'partitionBy' | 'partitionSort'> {
  readonly columns: readonly Column[]
}

/**
 * Renames fields in order, then adds fields. Values stay. In a store that applies such steps one at
 * a time, a failure may leave the first steps applied.
 */
export interface TypeAlteration {
  /** Pairs (old name, new name). */
  readonly renamed: readonly (readonly [from: string, to: string])[]
  readonly added: readonly UserField[]
}
