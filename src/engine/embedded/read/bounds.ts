/** Key ranges. */
import { afterPrefix, keyOf } from '../../../language/values/key.ts'
import type { Value } from '../../../json/value.ts'
import type { Bound } from '../runs/runs-reader.ts'

export interface Bounds {
  readonly low: Bound
  readonly high: Bound
}

/** The key range of a comparison: the values of the same type on one side of the operand. */
export function rangeOf(comparison: {
  readonly kind: 'gt' | 'gte' | 'lt' | 'lte'
  readonly value: Value
}): [low: Bound, high: Bound] {
  const key = keyOf(comparison.value)
  const type = key.subarray(0, 1)
  const first: Bound = { key: type, inclusive: true }
  const last: Bound = { key: afterPrefix(type), inclusive: false }
  switch (comparison.kind) {
    case 'gt':
      return [{ key, inclusive: false }, last]
    case 'gte':
      return [{ key, inclusive: true }, last]
    case 'lt':
      return [first, { key, inclusive: false }]
    case 'lte':
      return [first, { key, inclusive: true }]
  }
}

/** The more restrictive of two bounds: lower bounds with direction 1, upper bounds with -1. */
export function tighterBound(a: Bound, b: Bound, direction: 1 | -1): Bound {
  const order = Buffer.compare(a.key, b.key) * direction
  if (order !== 0) return order > 0 ? a : b
  return a.inclusive ? b : a
}

export function isBeyond(key: Uint8Array, bound: Bound, direction: 1 | -1): boolean {
  const order = Buffer.compare(key, bound.key) * direction
  return bound.inclusive ? order >= 0 : order > 0
}
