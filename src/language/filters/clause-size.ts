import { isObject, type Value } from '../../json/value.ts'

/** Whether a clause has more fields and elements, at all depths, than `max`. */
export function hasMoreParts(clause: Value, max: number): boolean {
  const pending = [clause]
  let parts = 0
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const inside = Array.isArray(next) ? next : isObject(next) ? next.values() : []
    for (const part of inside) {
      if (++parts > max) return true
      if (typeof part === 'object' && part !== null) pending.push(part)
    }
  }
  return false
}
