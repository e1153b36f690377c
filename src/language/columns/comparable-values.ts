/** Comparable forms of column values, for filters, sorts and indexes. */
import type { Value } from '../../json/value.ts'
import { entriesOf } from './collections.ts'
import type { Column, ColumnPart, ColumnValue } from './column.ts'
import type { ElementType, TextFolding, UserTypes } from './column-type.ts'
import { comparable, comparableEntry, comparableVector } from './comparable.ts'
import { foldText } from './fold-text.ts'

/**
 * Converts a value to its comparable form. The comparable form of a collection is a list of the
 * comparable forms of its elements.
 */
export type ToComparable = (value: ColumnValue) => Value

/** The parts of a column that can be compared. A user-defined value has none. */
export function comparableParts(
  { type }: Column,
  types: UserTypes,
): ReadonlyMap<ColumnPart, ToComparable> {
  switch (type.type) {
    case 'userDefined':
      return new Map()
    case 'list':
    case 'set': {
      const element = elementOf(type.valueType, types)
      return new Map([['value', (value) => (value as Value[]).map(element)]])
    }
    case 'map': {
      const key = elementOf(type.keyType, types)
      const mapped = elementOf(type.valueType, types)
      return new Map<ColumnPart, ToComparable>([
        [
          'value',
          (map) => entries(map).map(([k, v]) => comparableEntry(key(k), mapped(v))),
        ],
        ['keys', (map) => entries(map).map(([k]) => key(k))],
        ['values', (map) => entries(map).map(([, v]) => mapped(v))],
      ])
    }
    default:
      return new Map([['value', comparableScalar({ type }, types)]])
  }
}

/** Comparable form of a single-valued column for keys and sorts. */
export function comparableScalar(
  { type }: Pick<Column, 'type'>,
  types: UserTypes,
): ToComparable {
  switch (type.type) {
    case 'vector':
      return (value) => comparableVector(value as number[])
    case 'list':
    case 'set':
    case 'map':
      return () => null
    case 'userDefined':
      return (value) => comparable(type, value as Value, types)
    default:
      return (value) => comparable(type.type, value as Value, types)
  }
}

/** Comparable form for an index that treats different texts as equal. */
export function foldedComparable(
  toComparable: ToComparable,
  folding: TextFolding,
): ToComparable {
  return (value) => {
    const made = toComparable(value)
    return Array.isArray(made)
      ? made.map((text) => foldText(text as string, folding))
      : foldText(made as string, folding)
  }
}

function entries(map: ColumnValue) {
  return entriesOf(map as Value)
}

function elementOf(type: ElementType, types: UserTypes): (element: Value) => Value {
  return (element) => comparable(type, element, types)
}
