/**
 * Converts column values from their internal form to the form that is printed, in the stored
 * text of a row or in a reply. Floating-point numbers are printed with a fraction (1.0, not 1).
 * Large integers are printed with an exponent in stored texts, but not in replies, because clients
 * do not expect exponents in integers.
 */
import { asFloating } from '../../json/floats.ts'
import type { JsonObject, Numeric, Value } from '../../json/value.ts'
import { isTextual } from './collections.ts'
import type { ColumnType, ElementType, PrimitiveName, UserTypes } from './column-type.ts'
import { writeOut } from './numbers.ts'
import { userTypeOf } from './user-types.ts'

/** The form in replies. */
export function shownForm(type: ColumnType, value: Value, types: UserTypes): Value {
  return formOf(type, value, types, shown)
}

/** The form in the stored text of a row. It equals the value if `hasFloats` is false. */
export function storedForm(type: ColumnType, value: Value, types: UserTypes): Value {
  return formOf(type, value, types, stored)
}

/** Whether values of the type contain floating-point numbers. */
export function hasFloats(type: ColumnType, types: UserTypes): boolean {
  return primitivesIn(type, types).some(isFloating)
}

/** Whether shownForm and storedForm are equal for all values of the type. */
export function isShownAsStored(type: ColumnType, types: UserTypes): boolean {
  return !primitivesIn(type, types).includes('varint')
}

/** Maps the elements of a value, or the value itself if it is not a collection. */
export function mapElements(
  type: ColumnType,
  value: Value,
  make: (type: ElementType, element: Value) => Value,
): Value {
  switch (type.type) {
    case 'list':
    case 'set':
      return (value as Value[]).map((one) => make(type.valueType, one))
    case 'map':
      return isTextual(type.keyType)
        ? new Map(
            Array.from(value as JsonObject, ([key, one]): [string, Value] => [
              key,
              make(type.valueType, one),
            ]),
          )
        : (value as [Value, Value][]).map(([key, one]) => [
            make(type.keyType, key),
            make(type.valueType, one),
          ])
    case 'userDefined':
      return make(type, value)
    case 'vector':
      return (value as number[]).map((number) => make('float', number))
    default:
      return make(type.type, value)
  }
}

type Form = (name: PrimitiveName, value: Value) => Value

/** The form in stored rows. Non-finite numbers are strings already. */
const stored: Form = (name, value) =>
  isFloating(name) && typeof value === 'number' ? asFloating(value) : value

const shown: Form = (name, value) =>
  name === 'varint' ? writeOut(value as Numeric) : stored(name, value)

function isFloating(name: PrimitiveName): boolean {
  return name === 'float' || name === 'double'
}

function formOf(type: ColumnType, value: Value, types: UserTypes, form: Form): Value {
  // Fast path: lists may be long, and the elements of most types need no conversion.
  const isLong = type.type === 'list' || type.type === 'set' || type.type === 'map'
  if (isLong && !hasFloats(type, types) && isShownAsStored(type, types)) return value
  return mapElements(type, value, (element, one) => {
    if (typeof element === 'string') return form(element, one)
    const made: JsonObject = new Map()
    for (const { name, type: fieldType } of userTypeOf(element, types).fields) {
      const field = (one as JsonObject).get(name)
      if (field !== undefined) made.set(name, form(fieldType, field))
    }
    return made
  })
}

function primitivesIn(type: ColumnType, types: UserTypes): PrimitiveName[] {
  return elementsOf(type).flatMap((element) =>
    typeof element === 'string'
      ? [element]
      : userTypeOf(element, types).fields.map((field) => field.type),
  )
}

function elementsOf(type: ColumnType): readonly ElementType[] {
  switch (type.type) {
    case 'list':
    case 'set':
      return [type.valueType]
    case 'map':
      return [type.keyType, type.valueType]
    case 'userDefined':
      return [type]
    case 'vector':
      return ['float']
    default:
      return [type.type]
  }
}
