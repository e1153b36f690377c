/**
 * The forms of a value of a column: what rows keep is a plain value, and has to be put into the
 * form in which it is printed, in the text of a row or in a reply.
 *
 * Floating-point numbers are printed as such, 1.0 and not 1, in both. Replies differ in two
 * things. The fields of user-defined types are stored under the names they had first, so that
 * renaming one touches no row; and whole numbers of any size are stored with exponents, which
 * clients do not look for in them.
 */
import { asFloating } from '../../json/floats.ts'
import type { JsonObject, Numeric, Value } from '../../json/value.ts'
import { isTextual } from './collections.ts'
import type {
  ColumnType,
  ElementType,
  PrimitiveName,
  UserField,
  UserTypes,
} from './column-type.ts'
import { writeOut } from './numbers.ts'
import { userTypeOf } from './user-types.ts'

/** What replies print. */
export function showValue(type: ColumnType, value: Value, types: UserTypes): Value {
  return formOf(type, value, types, shown)
}

/** What the texts of rows print. Where `hasFloats` says no, that is the value itself. */
export function storedForm(type: ColumnType, value: Value, types: UserTypes): Value {
  return formOf(type, value, types, stored)
}

/** Whether values of the type have floating-point numbers in them. */
export function hasFloats(type: ColumnType, types: UserTypes): boolean {
  return type.type === 'vector' || primitivesIn(type, types).some(isFloating)
}

/** Whether showValue and storedForm make the same of any value. */
export function isShownAsStored(type: ColumnType, types: UserTypes): boolean {
  return (
    !primitivesIn(type, types).includes('varint') &&
    userTypesIn(type, types).every(({ fields }) =>
      fields.every(({ name, key }) => name === key),
    )
  )
}

interface Form {
  nameOf(field: UserField): string
  primitive(name: PrimitiveName, value: Value): Value
}

const stored: Form = {
  nameOf: ({ key }) => key,
  // What is not finite is a string.
  primitive: (name, value) =>
    isFloating(name) && typeof value === 'number' ? asFloating(value) : value,
}

const shown: Form = {
  nameOf: ({ name }) => name,
  primitive: (name, value) =>
    name === 'varint' ? writeOut(value as Numeric) : stored.primitive(name, value),
}

function isFloating(name: PrimitiveName): boolean {
  return name === 'float' || name === 'double'
}

function formOf(type: ColumnType, value: Value, types: UserTypes, form: Form): Value {
  const element = (elementType: ElementType, one: Value) =>
    elementForm(elementType, one, types, form)
  switch (type.type) {
    case 'list':
    case 'set':
      return (value as Value[]).map((one) => element(type.valueType, one))
    case 'map':
      return isTextual(type.keyType)
        ? new Map(
            Array.from(value as JsonObject, ([key, one]): [string, Value] => [
              key,
              element(type.valueType, one),
            ]),
          )
        : (value as [Value, Value][]).map(([key, one]) => [
            element(type.keyType, key),
            element(type.valueType, one),
          ])
    case 'userDefined':
      return element(type, value)
    case 'vector':
      return (value as number[]).map(asFloating)
    default:
      return element(type.type, value)
  }
}

function elementForm(type: ElementType, value: Value, types: UserTypes, form: Form): Value {
  if (typeof type === 'string') return form.primitive(type, value)
  const made: JsonObject = new Map()
  for (const field of userTypeOf(type, types).fields) {
    const one = (value as JsonObject).get(field.key)
    if (one !== undefined) made.set(form.nameOf(field), form.primitive(field.type, one))
  }
  return made
}

function primitivesIn(type: ColumnType, types: UserTypes): PrimitiveName[] {
  return elementsOf(type).flatMap((element) =>
    typeof element === 'string'
      ? [element]
      : userTypeOf(element, types).fields.map((field) => field.type),
  )
}

function userTypesIn(type: ColumnType, types: UserTypes) {
  return elementsOf(type).flatMap((element) =>
    typeof element === 'string' ? [] : [userTypeOf(element, types)],
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
      return []
    default:
      return [type.type]
  }
}
