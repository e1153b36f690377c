/** Columns of tables and the values of rows. */
import type { Value } from '../../json/value.ts'
import type { ColumnType } from './column-type.ts'

export interface Column {
  readonly name: string
  readonly type: ColumnType
  /**
   * A collection or user-defined value that can only be written as a whole. Only CQL creates such
   * columns.
   */
  readonly isFrozen?: true
  /** All rows of a partition share the value. Only CQL creates such columns. */
  readonly isStatic?: true
}

/**
 * A part of a column to which conditions and indexes refer. `value` is the whole value or, for a
 * map, its entries. A map also has the parts `keys` and `values`.
 */
export type ColumnPart = 'value' | 'keys' | 'values'

/** A value in the stored form of its type (values.ts). A vector is a Float32Array. */
export type ColumnValue = Value | Float32Array

/**
 * Values of a row by column name. Names are the keys because engines may use different Column
 * objects for the same column.
 */
export type RowValues = ReadonlyMap<string, ColumnValue>
