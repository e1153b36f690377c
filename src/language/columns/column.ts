/** Columns, and what rows hold in them. */
import type { Value } from '../../json/value.ts'
import type { ColumnType } from './column-type.ts'

export interface Column {
  readonly name: string
  readonly type: ColumnType
  /** A list, set, map or user-defined value that is written as a whole; made by CQL only. */
  readonly isFrozen?: true
  /** One value for all rows of a partition; made by CQL only. */
  readonly isStatic?: true
}

/** A column's value, or of a map its entries (`value` as well), keys or values. */
export type ColumnPart = 'value' | 'keys' | 'values'

/** In the form that values.ts gives to values of the column's type; vectors as floats. */
export type ColumnValue = Value | Float32Array

/** By the names of columns, since engines have objects of their own for those. */
export type RowValues = ReadonlyMap<string, ColumnValue>
