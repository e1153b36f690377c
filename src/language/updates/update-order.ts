import { compareNumeric } from '../../json/decimal.ts'
import {
  isNumeric,
  isObject,
  jsonTypeOf,
  type JsonType,
  type Value,
} from '../../json/value.ts'

const typeOrder: Readonly<Record<JsonType, number>> = {
  Null: 0,
  Number: 1,
  String: 2,
  Object: 3,
  Array: 4,
  Boolean: 5,
}

/**
 * The order of $min and $max: by type, then within the type. Arrays compare element by element.
 * Objects compare field by field, each name before its value, so dates sort by time. The result is
 * zero if the values are equal and have their fields in the same order.
 */
export function compareForUpdate(a: Value, b: Value): number {
  if (isNumeric(a) && isNumeric(b)) return compareNumeric(a, b)
  if (typeof a === 'string' && typeof b === 'string') return a < b ? -1 : a > b ? 1 : 0
  if (typeof a === 'boolean' && typeof b === 'boolean') return Number(a) - Number(b)
  if (Array.isArray(a) && Array.isArray(b)) return compareInTurn(a, b)
  if (isObject(a) && isObject(b)) return compareInTurn([...a].flat(1), [...b].flat(1))
  return typeOrder[jsonTypeOf(a)] - typeOrder[jsonTypeOf(b)]
}

function compareInTurn(a: readonly Value[], b: readonly Value[]): number {
  for (let i = 0; i < Math.min(a.length, b.length); i++) {
    const order = compareForUpdate(a[i]!, b[i]!)
    if (order !== 0) return order
  }
  return a.length - b.length
}
