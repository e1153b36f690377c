/**
 * Tables and types as the store knows them: by ids, which are part of names in it, and by keys, under
 * which rows hold values. The layers above know names and types alone. Plain JSON data: the
 * catalog stores it as it is.
 */
import assert from 'node:assert/strict'
import type { UserField, UserType } from '../../../language/columns/column-type.ts'
import type {
  Collection,
  Column,
  Table,
  TableDefinition,
  TableIndex,
} from '../../schema.ts'

export interface StoredColumn extends Column {
  /** Differs between all columns and indexes that the table ever had. */
  readonly id: number
  /** What stored rows call it: its name, unless a column that was dropped had it before. */
  readonly key: string
  /**
   * Rows print its floating-point numbers as such: 1.0. Absent where version 0.1 made the
   * column, and wrote 1 for it.
   */
  readonly floatsTyped?: true
}

/** The id differs between all columns and indexes that the table ever had. */
export type StoredIndex = TableIndex & { readonly id: number }

export interface StoredDefinition extends TableDefinition {
  readonly columns: readonly StoredColumn[]
  readonly indexes: readonly StoredIndex[]
  /** Columns that are no more, latest last. Rows may still hold values under their keys. */
  readonly dropped: readonly StoredColumn[]
  /** The greatest id so far. */
  readonly lastId: number
}

export interface StoredField extends UserField {
  /** What stored values call it: the name that it had first, whatever it is called now. */
  readonly key: string
}

export interface StoredType extends UserType {
  readonly fields: readonly StoredField[]
}

export interface StoredTable extends Table {
  readonly definition: StoredDefinition
  /** Those that its columns name, at least. */
  readonly types: readonly StoredType[]
}

export type StoredTarget = Collection | StoredTable

/** What a table is for the layers above. */
export function plainTable({ definition, types, ...table }: StoredTable): Table {
  const { columns, partitionBy, partitionSort, indexes } = definition
  return {
    ...table,
    definition: {
      columns: columns.map(({ name, type }) => ({ name, type })),
      partitionBy,
      partitionSort,
      indexes: indexes.map(plainIndex),
    },
    types: types.map(plainType),
  }
}

function plainIndex(stored: StoredIndex): TableIndex {
  const index: TableIndex & { id?: number } = { ...stored }
  delete index.id
  return index
}

export function plainType({ name, fields }: StoredType): UserType {
  return { name, fields: fields.map((field) => ({ name: field.name, type: field.type })) }
}

/** What tells the parts of a store apart that belong to a column or an index, by its id. */
export function suffixOf(id: number): string {
  assert(Number.isSafeInteger(id), 'the id of a column or index is a number')
  return `_${id}`
}

/** What tells the parts of a store apart that belong to vector columns. */
export function vectorSuffixes({ columns }: StoredDefinition): string[] {
  return columns.flatMap(({ id, type }) => (type.type === 'vector' ? [suffixOf(id)] : []))
}
