/**
 * Tables and types as the store knows them: with ids, which are part of table names and paths in
 * the store, and with keys, under which rows hold values. The layers above use only names. Tables
 * and types are plain JSON data, which the catalog stores unchanged.
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
  /** Unique among all columns and indexes that the table ever had. */
  readonly id: number
  /** Name of the column in stored rows: its name, unless a dropped column had that key before. */
  readonly key: string
  /**
   * Whether stored rows have a decimal point in floating-point numbers of the column: 1.0. Absent
   * for columns created by version 0.1, which wrote 1.
   */
  readonly floatsTyped?: true
}

/** An index with its id, which is unique among all columns and indexes that the table ever had. */
export type StoredIndex = TableIndex & { readonly id: number }

export interface StoredDefinition extends TableDefinition {
  readonly columns: readonly StoredColumn[]
  readonly indexes: readonly StoredIndex[]
  /** Dropped columns, latest last. Rows may still hold values under their keys. */
  readonly dropped: readonly StoredColumn[]
  /** Greatest id given so far. */
  readonly lastId: number
}

export interface StoredField extends UserField {
  /**
   * Name of the field in stored values: the first name that it had, or that name with a number when
   * another field has that name as its key.
   */
  readonly key: string
}

export interface StoredType extends UserType {
  readonly fields: readonly StoredField[]
}

export interface StoredTable extends Table {
  readonly definition: StoredDefinition
  /** Definitions of all types that the columns name, and possibly of other types. */
  readonly types: readonly StoredType[]
}

export type StoredTarget = Collection | StoredTable

/** The table as the layers above see it. */
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

/** Suffix of the tables in a store that belong to a column or index. */
export function suffixOf(id: number): string {
  assert(Number.isSafeInteger(id), 'the id of a column or index is a number')
  return `_${id}`
}

/** Suffixes of the tables in a store that belong to vector columns. */
export function vectorSuffixes({ columns }: StoredDefinition): string[] {
  return columns.flatMap(({ id, type }) => (type.type === 'vector' ? [suffixOf(id)] : []))
}
