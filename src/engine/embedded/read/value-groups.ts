/**
 * Groups of values that tie in a sort: equal values, all objects, all arrays, or all binary values.
 */
import { afterPrefix, tag } from '../../../language/values/key.ts'
import { pathStart, tieStart, valueStart } from '../format/entry-key.ts'
import type { EntryRange } from '../runs/runs-reader.ts'

/** Key range of a group. */
export interface Group {
  readonly low: Uint8Array
  /** The first key beyond the group. */
  readonly high: Uint8Array
  readonly isMixed: boolean
}

export function groupOf(key: Uint8Array): Group {
  if (key[0]! < tag.object) {
    // The immediate successor of a key is the key followed by a zero byte.
    const high = new Uint8Array(key.length + 1)
    high.set(key)
    return { low: key, high, isMixed: false }
  }
  const low = key.slice(0, 1)
  return { low, high: afterPrefix(low), isMixed: true }
}

/** Key prefix of the entries of a group at a path. */
export function startOf(path: number, { low, isMixed }: Group): string {
  return isMixed ? pathStart(path) + String.fromCharCode(low[0]!) : valueStart(path, low)
}

/** Key prefix of the group that an entry belongs to. */
export function startOfKey(key: string): string {
  const first = 1 + key.charCodeAt(0)
  const isMixed = key.charCodeAt(first) >= tag.object
  return key.slice(0, isMixed ? first + 1 : tieStart(key))
}

/**
 * The entries that come after a group in the direction of the walk. `inclusive`: preceded by the
 * entries of the group.
 */
export function rangeFrom(
  path: number,
  { low, high }: Group,
  direction: 1 | -1,
  inclusive: boolean,
): EntryRange {
  return direction === 1
    ? { path, low: { key: inclusive ? low : high, inclusive: true } }
    : { path, high: { key: inclusive ? high : low, inclusive: false } }
}
