/** Entries of an index by their values: those that tie are a group. */
import { afterPrefix, tag } from '../../../language/values/key.ts'
import { rowOf, type DocRow } from '../store/store-connection.ts'

/** The keys of values that tie: one value, or all containers of a kind. */
export interface Group {
  readonly low: Uint8Array
  /** The first key beyond the group. */
  readonly high: Uint8Array
  readonly isMixed: boolean
}

/** A group, and those of its documents that were read. */
export interface ReadGroup extends Group {
  readonly rows: DocRow[]
}

export function entriesIn(path: number, group: Group) {
  return {
    sql: 'e.path = ? AND e.element = 0 AND e.value >= ? AND e.value < ?',
    parameters: [path, group.low, group.high],
  }
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

export function groupsOf(entries: readonly unknown[][]): ReadGroup[] {
  const groups: ReadGroup[] = []
  let last: ReadGroup | undefined
  for (const columns of entries) {
    const row = rowOf(columns)
    const key = row.value!
    const isSame =
      last !== undefined &&
      (last.isMixed ? key[0] === last.low[0] : Buffer.compare(key, last.low) === 0)
    if (!isSame) groups.push((last = { ...groupOf(key), rows: [] }))
    last!.rows.push(row)
  }
  return groups
}
