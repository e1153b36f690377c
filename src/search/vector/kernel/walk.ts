/**
 * Walks through the graph towards a code. Each step visits the neighbours of the closest unvisited
 * candidate, until no candidate is closer than the farthest result.
 */
import { distance, distance4 } from './code'
import {
  candidateCount, clearHeaps, item, keepResult, nodeIn, popCandidate, pushCandidate,
} from './heaps'
import {
  allowed, distances, documentOf, isMarked, known, levelOf, linksMax, linksOf, mark, near,
  NEAR_MAX, NIL, node, State, stateOf, unmarkAll, visited,
} from './layout'

/** Whether a document matches the filter of the search; called once per document. */
@external('host', 'matches')
declare function matches(document: f64): u32

export const FARTHEST: u64 = 0xffffffffffffffff

/** Moves to the node closest to the code on level `from`, then on each lower level above `to`. */
export function descend(code: usize, start: u64, from: u32, to: u32): u64 {
  let nearest = start
  for (let level = from; level > to; level--) {
    unmarkAll(visited)
    let moved = true
    while (moved) {
      moved = false
      const count = gather(nodeIn(nearest), level)
      measure(code, count)
      for (let i: u32 = 0; i < count; i++) {
        const found = measured(i)
        if (found < nearest) {
          nearest = found
          moved = true
        }
      }
    }
  }
  return nearest
}

/** Collects the closest `breadth` nodes of a level as results. */
export function walk(code: usize, start: u64, breadth: u32, level: u32, filtered: bool): u64 {
  unmarkAll(visited)
  clearHeaps()
  let farthest = FARTHEST
  mark(visited, nodeIn(start))
  pushCandidate(start)
  if (isFound(nodeIn(start), filtered)) farthest = keepResult(start, breadth, farthest)
  while (candidateCount > 0) {
    const nearest = popCandidate()
    if (nearest > farthest) break
    const count = gather(nodeIn(nearest), level)
    measure(code, count)
    for (let i: u32 = 0; i < count; i++) {
      const found = measured(i)
      if (found >= farthest) continue
      pushCandidate(found)
      if (isFound(nodeIn(found), filtered)) farthest = keepResult(found, breadth, farthest)
    }
  }
  return farthest
}

@inline function isFound(id: u32, filtered: bool): bool {
  return stateOf(id) == State.linked && (!filtered || isAllowed(id))
}

export function isAllowed(id: u32): bool {
  if (!isMarked(known, id)) {
    mark(known, id)
    if (matches(documentOf(id))) mark(allowed, id)
  }
  return isMarked(allowed, id)
}

/** Lists the unvisited neighbours of a node. */
@inline function gather(id: u32, level: u32): u32 {
  // The memory of the node may have been reused for a node with fewer levels.
  if (level > levelOf(id)) return 0
  let at = linksOf(id, level)
  const end = at + (linksMax(level) << 2)
  let count: usize = 0
  while (at < end) {
    const neighbour = load<u32>(at)
    if (neighbour == NIL) break
    if (!isMarked(visited, neighbour)) {
      mark(visited, neighbour)
      store<u32>(near + (count << 2), neighbour)
      count++
    }
    at += 4
  }
  return <u32>count
}

/** Computes the distances of the listed nodes. */
export function measure(code: usize, count: u32): void {
  let i: u32 = 0
  for (; i + 4 <= count; i += 4) {
    const at = near + (<usize>i << 2)
    const to = distances + (<usize>i << 2)
    distance4(code, load<u32>(at), load<u32>(at, 4), load<u32>(at, 8), load<u32>(at, 12), to)
  }
  for (; i < count; i++)
    store<f32>(distances + (<usize>i << 2), distance(code, node(listed(i))))
}

@inline export function listed(i: u32): u32 {
  return load<u32>(near + (<usize>i << 2))
}
@inline export function measured(i: u32): u64 {
  return item(load<f32>(distances + (<usize>i << 2)), listed(i))
}

@inline export function list(count: u32, id: u32): u32 {
  if (count >= NEAR_MAX) return count
  store<u32>(near + (<usize>count << 2), id)
  return count + 1
}
