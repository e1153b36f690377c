/** Columns, and what rows hold in them. */
import type { Value } from '../../json/value.ts'
import type { ColumnType } from './column-type.ts'

export interface Column {
  readonly name: string
  readonly type: ColumnType
}

/** A column's value, or of a map its entries (`value` as well), keys or values. */
export type ColumnPart = 'value' | 'keys' | 'values'

/** In the form that values.ts gives to values of the column's type; vectors as floats. */
export type ColumnValue = Value | Float32Array
