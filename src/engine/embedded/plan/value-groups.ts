/** Values that tie in a sort: each alone, or all containers of a kind. */
import { afterPrefix, tag } from '../../../language/values/key.ts'
import { pathStart, tieStart, valueIn, valueStart } from '../runs/entry-key.ts'

/** The keys of values that tie. */
export interface Group {
  readonly low: Uint8Array
  /** The first key beyond the group. */
  readonly high: Uint8Array
  readonly isMixed: boolean
}

export function groupOf(key: Uint8Array): Group {
  if (key[0]! < tag.object) {
    // The next key after one is that key with a zero byte behind it.
    const high = new Uint8Array(key.length + 1)
    high.set(key)
    return { low: key, high, isMixed: false }
  }
  const low = key.slice(0, 1)
  return { low, high: afterPrefix(low), isMixed: true }
}

/** How the entries of a group at a path start, and no others. */
export function startOf(path: number, { low, isMixed }: Group): string {
  return isMixed ? pathStart(path) + String.fromCharCode(low[0]!) : valueStart(path, low)
}

/** The group that an entry belongs to, and how all of its entries start. */
export function groupOfKey(key: string): { start: string; of: () => Group } {
  const first = 1 + key.charCodeAt(0)
  const isMixed = key.charCodeAt(first) >= tag.object
  return {
    start: key.slice(0, isMixed ? first + 1 : tieStart(key)),
    of: () => groupOf(valueIn(key)),
  }
}
