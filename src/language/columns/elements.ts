/** Reads single values from requests: primitive and user-defined ones. */
import { extendedOf } from '../../json/extended.ts'
import { isObject, jsonTypeOf, type JsonObject, type Value } from '../../json/value.ts'
import { quoteJson } from '../values/quote-json.ts'
import { BadValue } from './bad-value.ts'
import type { ElementType, PrimitiveName, UserType, UserTypes } from './column-type.ts'
import { readPairs } from './pairs.ts'
import { primitives } from './primitives.ts'
import { userTypeOf } from './user-types.ts'

/**
 * The stored form of an element, a key or an operand. With `loose`, as in filters, UUIDs may also
 * be written as {"$uuid": …}. A user-defined value without fields is returned as an empty object.
 */
export function readElement(
  type: ElementType,
  value: Value,
  types: UserTypes,
  loose = false,
): Value | BadValue {
  return typeof type === 'string'
    ? readPrimitive(type, value, loose)
    : readUserValue(userTypeOf(type, types), value, loose)
}

function readPrimitive(
  name: PrimitiveName,
  value: Value,
  loose: boolean,
): Value | BadValue {
  const primitive = primitives[name]
  const stored = primitive.read(loose ? unwrapUuid(name, value) : value)
  if (stored !== undefined) return stored
  const type = jsonTypeOf(value)
  const kind = `${/^[ai]/.test(name) ? 'an' : 'a'} ${name}`
  return new BadValue(
    type === primitive.json
      ? `is not valid: ${kind} must be ${primitive.takes}`
      : `is of type ${type}, but ${kind} must be ${primitive.takes}`,
  )
}

function unwrapUuid(name: PrimitiveName, value: Value): Value {
  if (name !== 'uuid' && name !== 'timeuuid') return value
  const extended = extendedOf(value)
  return extended?.kind === 'uuid' ? extended.text : value
}

/** Reads a user-defined value. Its fields are stored in the order of the type. */
function readUserValue(
  type: UserType,
  value: Value,
  loose: boolean,
): JsonObject | BadValue {
  const given = isObject(value) ? value : readFieldPairs(type, value)
  if (given instanceof BadValue) return given
  const stored: JsonObject = new Map()
  for (const { name, type: fieldType } of type.fields) {
    const field = given.get(name)
    if (field === undefined || field === null) continue
    const read = readPrimitive(fieldType, field, loose)
    if (read instanceof BadValue)
      return new BadValue(
        `has the value ${quoteJson(field)} in the field ${quoteJson(name)}, which ` +
          read.problem,
      )
    stored.set(name, read)
  }
  return unknownField(type, given) ?? stored
}

function unknownField(type: UserType, given: JsonObject): BadValue | undefined {
  for (const name of given.keys())
    if (!type.fields.some((field) => field.name === name)) {
      const known = type.fields.map((field) => quoteJson(field.name)).join(', ')
      return new BadValue(
        `has the field ${quoteJson(name)}, which ${type.name} does not have; its ` +
          `fields are ${known}`,
      )
    }
  return undefined
}

function readFieldPairs(type: UserType, value: Value): JsonObject | BadValue {
  const takes = `${type.name} must be an object, or an array of pairs [field, value]`
  const pairs = readPairs(value, takes)
  if (pairs instanceof BadValue) return pairs
  const given: JsonObject = new Map()
  for (const [name, field] of pairs) {
    if (typeof name !== 'string')
      return new BadValue(`has the field name ${quoteJson(name)}, but ${takes}`)
    if (given.has(name)) return new BadValue(`has the field ${quoteJson(name)} twice`)
    given.set(name, field)
  }
  return given
}
