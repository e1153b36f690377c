/**
 * Filters of rows as filters of what rows compare by: each column is a field that holds the
 * comparable of its value (comparable.ts), or of a list, set or map those of its elements.
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

/** How the fields are called, and which of them exist. */
export interface ComparableFields {
  readonly types: UserTypes
  /** `folded`: as an index with options for texts makes them comparable. */
  path(column: Column, part: ColumnPart, folded: boolean): Path
  /** How an index makes different texts equal, if there is one that does. */
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

/** What operands compare by. */
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

/** Only what rows have can be less, greater or other than something. */
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

/** What floating point columns compare by where they hold no number. */
const notANumber = 'NaN'

/**
 * NaN is greater than all numbers and equal to itself. Numbers and texts are neither less nor
 * greater than each other, so it has to be named.
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
