/**
 * Heaps of a walk: candidates, closest first, and results, farthest first. An item combines a
 * distance and a node id in one number. Items compare by distance, and for equal distances the
 * greatest id comes first.
 */
import { candidates, results } from './layout'

export let candidateCount: u32 = 0
export let resultCount: u32 = 0

export function clearHeaps(): void {
  candidateCount = 0
  resultCount = 0
}

@inline export function item(distance: f32, id: u32): u64 {
  let bits = reinterpret<u32>(distance)
  bits ^= <u32>(<i32>bits >> 31) | 0x80000000
  return (<u64>bits << 32) | <u64>~id
}
@inline export function nodeIn(item: u64): u32 {
  return ~<u32>item
}
@inline export function distanceOf(item: u64): f32 {
  const bits = <u32>(item >> 32)
  return reinterpret<f32>(bits & 0x80000000 ? bits ^ 0x80000000 : ~bits)
}

export function pushCandidate(pushed: u64): void {
  let i: usize = candidateCount++
  while (i > 0) {
    const parent = (i - 1) >> 1
    const above = load<u64>(candidates + (parent << 3))
    if (above <= pushed) break
    store<u64>(candidates + (i << 3), above)
    i = parent
  }
  store<u64>(candidates + (i << 3), pushed)
}

export function popCandidate(): u64 {
  const top = load<u64>(candidates)
  const count: usize = --candidateCount
  const last = load<u64>(candidates + (count << 3))
  let i: usize = 0
  while (true) {
    let child = (i << 1) + 1
    if (child >= count) break
    let below = load<u64>(candidates + (child << 3))
    if (child + 1 < count) {
      const other = load<u64>(candidates + (child << 3), 8)
      if (other < below) {
        below = other
        child++
      }
    }
    if (last <= below) break
    store<u64>(candidates + (i << 3), below)
    i = child
  }
  store<u64>(candidates + (i << 3), last)
  return top
}

/**
 * Adds a result, and keeps the closest `max` results. Returns the farthest kept result, or
 * `farthest` while fewer than `max` are kept.
 */
@inline export function keepResult(found: u64, max: u32, farthest: u64): u64 {
  if (resultCount < max) {
    pushResult(found)
    return resultCount == max ? load<u64>(results) : farthest
  }
  replaceTop(resultCount, found)
  return load<u64>(results)
}

function pushResult(pushed: u64): void {
  let i: usize = resultCount++
  while (i > 0) {
    const parent = (i - 1) >> 1
    const above = load<u64>(results + (parent << 3))
    if (above >= pushed) break
    store<u64>(results + (i << 3), above)
    i = parent
  }
  store<u64>(results + (i << 3), pushed)
}

function replaceTop(count: usize, replacement: u64): void {
  let i: usize = 0
  while (true) {
    let child = (i << 1) + 1
    if (child >= count) break
    let below = load<u64>(results + (child << 3))
    if (child + 1 < count) {
      const other = load<u64>(results + (child << 3), 8)
      if (other > below) {
        below = other
        child++
      }
    }
    if (replacement >= below) break
    store<u64>(results + (i << 3), below)
    i = child
  }
  store<u64>(results + (i << 3), replacement)
}

/** Sorts in place, closest first. */
export function sortResults(): void {
  for (let count = resultCount; count > 1; count--) {
    const top = load<u64>(results)
    const last = load<u64>(results + (<usize>(count - 1) << 3))
    replaceTop(count - 1, last)
    store<u64>(results + (<usize>(count - 1) << 3), top)
  }
}

/** Insertion sort of items outside of the heaps; a few hundred at most. */
export function sortItems(at: usize, count: u32): void {
  for (let i: u32 = 1; i < count; i++) {
    const moved = load<u64>(at + (<usize>i << 3))
    let j: usize = i
    while (j > 0 && load<u64>(at + ((j - 1) << 3)) > moved) {
      store<u64>(at + (j << 3), load<u64>(at + ((j - 1) << 3)))
      j--
    }
    store<u64>(at + (j << 3), moved)
  }
}
