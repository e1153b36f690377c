/** Reads values from replies of unknown structure. */

/** The value at a JSON pointer such as "/error/message"; undefined if it does not exist. */
export function at(reply: unknown, pointer: string): unknown {
  let value = reply
  for (const name of pointer.split('/').slice(1)) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name))
      return undefined
    value = (value as Record<string, unknown>)[name]
  }
  return value
}

/**
 * A member of each entry of a list, ordered by the `index` of the entries. Undefined when `list` is
 * not an array, or its indexes are not its positions.
 */
export function byIndex(list: unknown, member: string): unknown[] | undefined {
  if (!Array.isArray(list)) return undefined
  const entries: readonly unknown[] = list
  const placed = new Map<unknown, unknown>()
  for (const [place, entry] of entries.entries())
    placed.set(at(entry, '/index') ?? place, at(entry, `/${member}`))
  return entries.every((_, place) => placed.has(place))
    ? entries.map((_, place) => placed.get(place))
    : undefined
}

/** A member of each entry of a list, in order. */
export function each(list: unknown, pointer: string): unknown[] | undefined {
  return Array.isArray(list) ? list.map((entry) => at(entry, pointer)) : undefined
}
