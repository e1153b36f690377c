/**
 * Changes of what a keyspace holds, as they are asked for: by names and types alone. By what
 * else a store knows columns, fields and indexes is the engine's own affair.
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
 * Says what to change, if anything. It has no effects, and says the same whenever it is given
 * the same, because an engine may ask it again. What it asks for makes sense on what it was
 * given: new names are free, and all else that it names is there.
 */
export type SchemaPlan = (
  schema: KeyspaceSchema,
  counts: readonly KeyspaceCounts[],
) => SchemaChange | undefined

/** How much one keyspace holds; a plan is given the counts of all. */
export interface KeyspaceCounts {
  readonly keyspace: string
  readonly collections: number
  readonly tables: number
}

export type SchemaChange =
  /** With the options of one that is incomplete, it gets what it lacks. */
  | {
      readonly kind: 'createCollection'
      readonly name: string
      readonly options: CollectionOptions
    }
  | ({ readonly kind: 'createTable'; readonly name: string } & NewTable)
  /** Afterwards the name is free. Reads under way end with EngineError 'gone'. */
  | { readonly kind: 'dropTarget'; readonly name: string }
  | TableChange
  | ({ readonly kind: 'createType' } & UserType)
  | ({ readonly kind: 'alterType'; readonly name: string } & TypeAlteration)
  /** One that no column is made of. */
  | { readonly kind: 'dropType'; readonly name: string }

/** Rows stay, and what they hold in other columns. */
export type TableChange = { readonly table: string } &
  /** All start empty, also one that has the name of a column that was dropped. */
  (
    | { readonly kind: 'addColumns'; readonly columns: readonly Column[] }
    /** None that is in the key or has an index. */
    | { readonly kind: 'dropColumns'; readonly names: readonly string[] }
    /** The services of vector columns, by their names; null takes one away. */
    | {
        readonly kind: 'putServices'
        readonly services: ReadonlyMap<string, EmbeddingService | null>
      }
    /** The index is whole once the change is made, and is used from then on. */
    | { readonly kind: 'createIndex'; readonly index: TableIndex }
    | { readonly kind: 'dropIndex'; readonly name: string }
  )

export interface NewTable extends Pick<TableDefinition, 'partitionBy' | 'partitionSort'> {
  readonly columns: readonly Column[]
}

/**
 * First fields are renamed, one after the other; then others are added. Values stay. Where a
 * store takes one such step at a time, a failure may leave the first of them done.
 */
export interface TypeAlteration {
  /** Old names with new ones. */
  readonly renamed: readonly (readonly [from: string, to: string])[]
  readonly added: readonly UserField[]
}
