/** Merges runs: what became of each entry, seen over all of them. */
import { together, withoutPast, type Change } from './change.ts'
import type { Cursor } from './cursor.ts'
import type { Tie } from './entry-key.ts'

/** All changes of some cursors, in order; the newest comes first. Nothing is older than `isOldest`. */
export function* mergedChanges(
  cursors: readonly Cursor[],
  { tie, isOldest }: { readonly tie: Tie; readonly isOldest: boolean },
): Generator<Change> {
  const live = cursors.filter(({ isAt }) => isAt)
  const ended = isOldest ? withoutPast : asItIs
  while (live.length > 0) {
    let at = live.length - 1
    let { key } = live[at]!
    let rival: string | undefined
    let isShared = false
    for (let i = at - 1; i >= 0; i--) {
      const other = live[i]!.key
      if (other === key) isShared = true
      else if (other < key) {
        rival = key
        key = other
        at = i
        isShared = false
      } else if (rival === undefined || other < rival) rival = other
    }
    if (isShared) {
      let change: Change | undefined
      // The oldest first.
      for (let i = at; i >= 0; i--) {
        const cursor = live[i]!
        if (cursor.key !== key) continue
        change = together(change, { key, state: cursor.state, doc: cursor.doc }, tie)
        advance(live, i)
      }
      const left = change && ended(change)
      if (left !== undefined) yield left
      continue
    }
    const cursor = live[at]!
    // Up to the rival no other cursor need be asked.
    do {
      const left = ended({ key: cursor.key, state: cursor.state, doc: cursor.doc })
      if (left !== undefined) yield left
      if (!advance(live, at)) break
    } while (rival === undefined || cursor.key < rival)
  }
}

function advance(live: Cursor[], at: number): boolean {
  live[at]!.next()
  if (live[at]!.isAt) return true
  live.splice(at, 1)
  return false
}

function asItIs(change: Change): Change {
  return change
}
