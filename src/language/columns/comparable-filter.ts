/**
 * Converts filters on rows to filters on comparable values. Each column becomes a field. The field
 * contains the comparable form (comparable.ts) of the column's value, or of the elements of a
 * collection.
 */
import type { Value } from '../../json/value.ts'
import { mapConditions } from '../filters/filter-clause.ts'
import type { Comparison, Filter } from '../filters/filter.ts'
import type { Path } from '../values/path.ts'
import { isCollection } from './collections.ts'
import type { Column, ColumnPart } from './column.ts'
import type { ElementType, TextFolding, UserTypes } from './column-type.ts'
import { comparable, comparableEntry, comparableVector } from './comparable.ts'
import { foldText } from './fold-text.ts'
import {
  isRange,
  type RangeKind,
  type RowComparison,
  type RowFilter,
} from './row-filter.ts'

/** Determines the fields that contain comparable values, and the folding of indexes. */
export interface ComparableFields {
  readonly types: UserTypes
  /**
   * Path of the field for a part of a column. `folded` selects the field with the form that an
   * index with text options compares.
   */
  path(column: Column, part: ColumnPart, folded: boolean): Path
  /** Options of an index that treats different texts as equal. Undefined: no such index exists. */
  folding(column: Column, part: ColumnPart): TextFolding | undefined
}

export function comparableFilter(filter: RowFilter, fields: ComparableFields): Filter {
  return mapConditions(filter, (condition): Filter => {
    const { kind, column } = condition
    if (kind === 'match') {
      const { terms, text } = condition
      return { kind, path: fields.path(column, 'value', false), terms, text }
    }
    return comparison(condition, fields)
  })
}

/** Comparable forms of the operands. */
function comparableOperands(
  { column, part, operands }: RowComparison,
  types: UserTypes,
): readonly Value[] {
  const { type } = column
  const as = (element: ElementType) => (value: Value) => comparable(element, value, types)
  switch (type.type) {
    case 'list':
    case 'set':
      return operands.map(as(type.valueType))
    case 'map':
      if (part === 'keys') return operands.map(as(type.keyType))
      if (part === 'values') return operands.map(as(type.valueType))
      return operands.map((entry) => {
        const [key, value] = entry as [Value, Value]
        return comparableEntry(as(type.keyType)(key), as(type.valueType)(value))
      })
    case 'vector':
      return operands.map((numbers) => comparableVector(numbers as number[]))
    case 'userDefined':
      return operands.map(as(type))
    default:
      return operands.map(as(type.type))
  }
}

/** Converts a comparison. Ranges and negations match only rows in which the column has a value. */
function comparison(condition: RowComparison, fields: ComparableFields): Filter {
  const { kind, column, part } = condition
  const operands = comparableOperands(condition, fields.types)
  if (isRange(kind))
    return rangeOf(kind, column, fields.path(column, 'value', false), operands[0]!)
  const folding = fields.folding(column, part)
  const path = fields.path(column, part, folding !== undefined)
  const values =
    folding === undefined
      ? operands
      : operands.map((text) => foldText(text as string, folding))
  switch (kind) {
    case 'eq':
      return { kind, path, value: values[0]! }
    case 'ne':
      return present(path, { kind, path, value: values[0]! })
    case 'nin':
      return isCollection(column.type)
        ? { kind, path, values }
        : present(path, { kind, path, values })
    case 'in':
    case 'all':
    case 'notAll':
      return { kind, path, values }
  }
}

/** Comparable form of NaN in floating-point columns. */
const notANumber = 'NaN'

/**
 * Converts a range. NaN is greater than all numbers and equal to itself. Its comparable form is a
 * string, so a range of numbers does not include NaN, and a separate condition is added for it.
 */
function rangeOf(kind: RangeKind, { type }: Column, path: Path, value: Value): Filter {
  const range: Filter = { kind, path, value }
  if (type.type !== 'float' && type.type !== 'double') return range
  const isNotANumber: Filter = { kind: 'eq', path, value: notANumber }
  if (value !== notANumber)
    return kind === 'gt' || kind === 'gte'
      ? { kind: 'or', of: [range, isNotANumber] }
      : range
  switch (kind) {
    case 'gt':
      return { kind: 'or', of: [] }
    case 'gte':
      return isNotANumber
    case 'lt':
      return present(path, { kind: 'ne', path, value: notANumber })
    case 'lte':
      return { kind: 'exists', path, exists: true }
  }
}

function present(path: Path, condition: Comparison): Filter {
  return { kind: 'and', of: [{ kind: 'exists', path, exists: true }, condition] }
}
