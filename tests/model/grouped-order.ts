/**
 * The possible results of a find: groups of items in a fixed order. The items of a group tie in the
 * sort and may come in any order. Without a sort, all items are one group.
 */
import assert from 'node:assert/strict'

/** Sorts items and divides them into groups; the items of a group tie. */
export function grouped<T>(
  items: readonly T[],
  compare: (a: T, b: T) => number,
): readonly (readonly T[])[] {
  const groups: T[][] = []
  for (const item of items.toSorted(compare)) {
    const last = groups.at(-1)
    if (last !== undefined && compare(last.at(-1)!, item) === 0) last.push(item)
    else groups.push([item])
  }
  return groups
}

/**
 * Asserts that `found` is a possible result after the first `skip` items, with at most `limit`
 * items. Texts may be equal, because a projection can exclude the fields that distinguish items.
 */
export function assertInGroups(
  found: readonly string[],
  groups: readonly (readonly string[])[],
  { skip = 0, limit = Infinity }: { readonly skip?: number; readonly limit?: number },
): void {
  const total = groups.reduce((sum, group) => sum + group.length, 0)
  const expected = Math.max(0, Math.min(limit, total - skip))
  assert.equal(found.length, expected, `${found.length} found instead of ${expected}`)
  let start = 0
  for (const group of groups) {
    const end = start + group.length
    const left = new Map<string, number>()
    for (const text of group) left.set(text, (left.get(text) ?? 0) + 1)
    for (let at = Math.max(start, skip); at < Math.min(end, skip + limit); at++) {
      const text = found[at - skip]!
      const count = left.get(text) ?? 0
      assert(count > 0, `${text}\nis not expected at position ${at - skip}`)
      left.set(text, count - 1)
    }
    start = end
  }
}
