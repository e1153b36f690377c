/** Columns of tables and the values of rows. */
import type { Value } from '../../json/value.ts'
import type { ColumnType } from './column-type.ts'

export interface Column {
  readonly name: string
  readonly type: ColumnType
  /** A collection or user-defined value that is only written as a whole; created by CQL only. */
  readonly isFrozen?: true
  /** Rows of a partition share the value; created by CQL only. */
  readonly isStatic?: true
}

/**
 * A part of a column that conditions and indexes refer to: the value or, for a map, its entries
 * (also `value`), its keys or its values.
 */
export type ColumnPart = 'value' | 'keys' | 'values'

/** A value in the stored form of its type (values.ts); vectors are floats. */
export type ColumnValue = Value | Float32Array

/** Values of a row by column name, because engines may use different Column objects. */
export type RowValues = ReadonlyMap<string, ColumnValue>
