/**
 * The possible results of a find: groups of items in a fixed order. The items of a group have equal
 * sort keys and may come in any order. Without a sort, all items are one group.
 */
import assert from 'node:assert/strict'
import type { Random } from './random.ts'

/** Sorts items and divides them into groups of items that compare as equal. */
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

interface Scored {
  readonly score?: number
}

/**
 * A number halfway between the scores of two adjacent groups, and the groups above it. Undefined if
 * the scores differ too little, or the number is not from 0 to 1.
 */
export function groupsAbove<T extends Scored>(
  groups: readonly (readonly T[])[],
  random: Random,
): { readonly minimum: number; readonly groups: readonly (readonly T[])[] } | undefined {
  if (groups.length < 2) return undefined
  const count = random.integer(1, groups.length - 1)
  const above = groups[count - 1]!.at(-1)!.score!
  const below = groups[count]![0]!.score!
  const minimum = (above + below) / 2
  if (above - below < 1e-5 || minimum < 0 || minimum > 1) return undefined
  return { minimum, groups: groups.slice(0, count) }
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
