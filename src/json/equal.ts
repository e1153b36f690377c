import { compareNumeric } from './decimal.ts'
import { isNumeric, isObject } from './value.ts'
import type { JsonObject, Value } from './value.ts'

/**
 * Deep equality. Numbers are equal by value; objects are equal only if their keys are in the same
 * order.
 */
export function equalValues(a: Value, b: Value): boolean {
  if (a === b) return true
  if (Array.isArray(a)) return Array.isArray(b) && equalArrays(a, b)
  if (isObject(a)) return isObject(b) && equalObjects(a, b)
  return isNumeric(a) && isNumeric(b) && compareNumeric(a, b) === 0
}

function equalArrays(a: readonly Value[], b: readonly Value[]): boolean {
  return (
    a.length === b.length &&
    a.every((element, position) => equalValues(element, b[position]!))
  )
}

function equalObjects(a: JsonObject, b: JsonObject): boolean {
  if (a.size !== b.size) return false
  const others = b.entries()
  for (const [key, value] of a) {
    const [otherKey, otherValue] = others.next().value!
    if (key !== otherKey || !equalValues(value, otherValue)) return false
  }
  return true
}
