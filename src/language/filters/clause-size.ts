import { isObject, type Value } from '../../json/value.ts'

/**
 * Whether a clause has more than `max` fields and elements, at all depths. A long path counts as
 * several fields.
 */
export function hasMoreParts(clause: Value, max: number): boolean {
  const pending = [clause]
  let parts = 0
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    if (Array.isArray(next)) parts += next.length
    else if (isObject(next))
      for (const name of next.keys()) if ((parts += pathParts(name, max)) > max) break
    if (parts > max) return true
    const inside = Array.isArray(next) ? next : isObject(next) ? next.values() : []
    for (const part of inside)
      if (typeof part === 'object' && part !== null) pending.push(part)
  }
  return false
}

/**
 * The cost of a path: 1, or more for a long path, in proportion to the time to parse it. Stops
 * counting beyond `max`.
 */
export function pathParts(path: string, max: number): number {
  const byLength = 1 + Math.floor(path.length / charactersPerPart)
  const dotsMax = segmentsPerPart * max
  let dots = 0
  for (
    let at = path.indexOf('.');
    at >= 0 && dots < dotsMax;
    at = path.indexOf('.', at + 1)
  )
    dots++
  return byLength + Math.floor(dots / segmentsPerPart)
}

const charactersPerPart = 250
const segmentsPerPart = 4
