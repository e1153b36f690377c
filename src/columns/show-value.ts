/**
 * Stored values as they go to clients. Most go as they are. The fields of user-defined types
 * are stored under the names they had first, so that renaming one touches no row; and whole
 * numbers of any size are stored with exponents, which clients do not look for in them.
 */
import type { JsonObject, Numeric, Value } from '../json/value.ts'
import { isTextual } from './collections.ts'
import type { ColumnType, ElementType, UserTypes } from './column-type.ts'
import { writeOut } from './numbers.ts'
import { userTypeOf } from './user-types.ts'

export function showValue(type: ColumnType, stored: Value, types: UserTypes): Value {
  switch (type.type) {
    case 'list':
    case 'set':
      return (stored as Value[]).map((element) =>
        showElement(type.valueType, element, types),
      )
    case 'map':
      return isTextual(type.keyType)
        ? new Map(
            Array.from(stored as JsonObject, ([key, value]): [string, Value] => [
              key,
              showElement(type.valueType, value, types),
            ]),
          )
        : (stored as [Value, Value][]).map(([key, value]) => [
            showElement(type.keyType, key, types),
            showElement(type.valueType, value, types),
          ])
    case 'userDefined':
      return showElement(type, stored, types)
    case 'vector':
      return stored
    default:
      return showElement(type.type, stored, types)
  }
}

/** Whether showValue changes nothing, whatever the value. */
export function isShownAsStored(type: ColumnType, types: UserTypes): boolean {
  switch (type.type) {
    case 'list':
    case 'set':
      return isElementShownAsStored(type.valueType, types)
    case 'map':
      return type.keyType !== 'varint' && isElementShownAsStored(type.valueType, types)
    case 'userDefined':
      return isElementShownAsStored(type, types)
    default:
      return type.type !== 'varint'
  }
}

function showElement(type: ElementType, stored: Value, types: UserTypes): Value {
  if (typeof type === 'string')
    return type === 'varint' ? writeOut(stored as Numeric) : stored
  const shown: JsonObject = new Map()
  for (const { name, key, type: fieldType } of userTypeOf(type, types).fields) {
    const field = (stored as JsonObject).get(key)
    if (field !== undefined) shown.set(name, showElement(fieldType, field, types))
  }
  return shown
}

function isElementShownAsStored(type: ElementType, types: UserTypes): boolean {
  if (typeof type === 'string') return type !== 'varint'
  return userTypeOf(type, types).fields.every(
    (field) => field.name === field.key && field.type !== 'varint',
  )
}
