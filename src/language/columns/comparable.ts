/**
 * Comparable forms of stored values: scalars whose order (language/values/order.ts) and equality
 * are those of the column type.
 */
import { printJson } from '../../json/print.ts'
import type { JsonObject, Value } from '../../json/value.ts'
import { compareValues } from '../values/order.ts'
import type { ElementType, UserType, UserTypes } from './column-type.ts'
import { primitives } from './primitives.ts'
import { userTypeOf } from './user-types.ts'

/**
 * Comparable form of an element: a number, Decimal, string or boolean. For durations and
 * user-defined values it supports equality only, because its order is meaningless.
 */
export function comparable(type: ElementType, stored: Value, types: UserTypes): Value {
  return typeof type === 'string'
    ? primitives[type].comparable(stored)
    : textOfFields(userTypeOf(type, types), stored as JsonObject)
}

/** Comparable form of a vector in a key: its bytes, with -0 replaced by 0. */
export function comparableVector(numbers: ArrayLike<number>): Value {
  return Buffer.from(Float32Array.from(numbers, (n) => n + 0).buffer).toString('latin1')
}

/** Comparable form of a map entry, from the comparable forms of its key and value. */
export function comparableEntry(key: Value, value: Value): Value {
  return printJson([key, value])
}

/**
 * Comparable form of a user-defined value. It omits null fields, so that values stay equal when a
 * type gets more fields.
 */
function textOfFields(type: UserType, stored: JsonObject): string {
  let text = ''
  for (const { name, type: fieldType } of type.fields) {
    const field = stored.get(name)
    if (field !== undefined)
      text += printJson([name, primitives[fieldType].comparable(field)])
  }
  return text
}

/** Sort key of an element of a set. For user-defined values: the comparable forms of the fields. */
export type Order = readonly (Value | undefined)[]

export function orderOf(type: ElementType, stored: Value, types: UserTypes): Order {
  if (typeof type === 'string') return [primitives[type].comparable(stored)]
  return userTypeOf(type, types).fields.map(({ name, type: fieldType }) => {
    const field = (stored as JsonObject).get(name)
    return field === undefined ? undefined : primitives[fieldType].comparable(field)
  })
}

export function compareInOrder(a: Order, b: Order): number {
  for (const [position, part] of a.entries()) {
    const order = compareValues(part, b[position])
    if (order !== 0) return order
  }
  return 0
}
