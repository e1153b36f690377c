/**
 * What stored values compare by: scalars that language/values/order.ts puts in the order of the type,
 * and that are equal where the values are.
 */
import { printJson } from '../../json/print.ts'
import type { JsonObject, Value } from '../../json/value.ts'
import { compareValues } from '../values/order.ts'
import type { ElementType, UserType, UserTypes } from './column-type.ts'
import { primitives } from './primitives.ts'
import { userTypeOf } from './user-types.ts'

/** A number, Decimal, string or boolean. Those of durations and user types have no order. */
export function comparable(type: ElementType, stored: Value, types: UserTypes): Value {
  return typeof type === 'string'
    ? primitives[type].comparable(stored)
    : textOfFields(userTypeOf(type, types), stored as JsonObject)
}

/** What a vector compares by where it is part of a key: its bytes, those of -0 as of 0. */
export function comparableVector(numbers: ArrayLike<number>): Value {
  return Buffer.from(Float32Array.from(numbers, (n) => n + 0).buffer).toString('latin1')
}

/** What the entry of a map compares by, of what its key and its value compare by. */
export function comparableEntry(key: Value, value: Value): Value {
  return printJson([key, value])
}

/** Fields that are null are left out, so that a type may get more fields. */
function textOfFields(type: UserType, stored: JsonObject): string {
  let text = ''
  for (const { name, type: fieldType } of type.fields) {
    const field = stored.get(name)
    if (field !== undefined)
      text += printJson([name, primitives[fieldType].comparable(field)])
  }
  return text
}

/** What the elements of a set are sorted by: user-defined values by their fields in turn. */
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
