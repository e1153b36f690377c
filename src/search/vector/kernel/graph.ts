/** Modifies the graph: adds and links nodes, and repairs it after deletions. */
import { distance, distance4, queryOf, squaredLengthOf } from './code'
import { distanceOf, item, nodeIn, resultCount, sortItems, sortResults } from './heaps'
import {
  capacity, compared, distances, Field, field, isMarked, kept, levelOf, LEVEL_MAX, linking,
  linksMax, linksOf, M,
  mark, NIL, node, nodeSize, nodes, pendingAt, relinked, results, selected, setField,
  setLevel, setState, setUpper, shareField, State, stateOf, unmark, unmarkAll, upper, upperEnd, upperOf,
  visited,
} from './layout'
import { noteLength, setBuilding } from './lengths'
import { descend, FARTHEST, list, listed, measure, measured, walk } from './walk'

/** Takes an unused node; NIL when the index is full. */
export function takeNode(): u32 {
  shareField(Field.taken, field(Field.taken) + 1)
  const free = field(Field.freeNode)
  if (free != NIL && field(Field.frozen) == 0) {
    setField(Field.freeNode, load<u32>(linksOf(free, 0)))
    return free
  }
  const id = field(Field.count)
  if (id >= capacity || !makeRoom(id)) return NIL
  shareField(Field.count, id + 1)
  return id
}

function makeRoom(id: u32): bool {
  const end = nodes + <usize>(id + 1) * nodeSize
  const missing = <i64>end - (<i64>memory.size() << 16)
  if (missing <= 0) return true
  const pages = <i32>((missing + 65535) >> 16)
  // The memory grows by an eighth more than necessary, because growing is slow.
  const more = max<i32>(pages, min<i32>(memory.size() >> 3, 1024))
  return memory.grow(more) >= 0 || memory.grow(pages) >= 0
}

export function freeNode(id: u32): void {
  freeUpper(id)
  setState(id, State.free)
  store<u32>(linksOf(id, 0), field(Field.freeNode))
  setField(Field.freeNode, id)
}

/** Links the oldest pending node into the graph; false if no node is pending. */
export function linkNext(): bool {
  const head = field(Field.pendingHead)
  if (head == field(Field.pendingTail)) return false
  const id = load<u32>(pendingAt(head))
  if (stateOf(id) == State.dropped) freeNode(id)
  else {
    setBuilding(true)
    noteLength(squaredLengthOf(id))
    connect(id)
    setBuilding(false)
  }
  // The head is shared last, so that a search finds the node as pending, as linked, or as both.
  shareField(Field.pendingHead, head + 1)
  return true
}

function connect(id: u32): void {
  const level = takeUpper(id, randomLevel())
  memory.fill(linksOf(id, 0), 0xff, linksMax(0) << 2)
  const entry = field(Field.entry)
  const top = field(Field.topLevel)
  if (entry == NIL) {
    setState(id, State.linked)
    enterAt(id, level)
    return
  }
  const code = queryOf(id, linking)
  let start = item(distance(code, node(entry)), entry)
  if (level < top) start = descend(code, start, top, level)
  let isAlone = false
  for (let at = <i32>min(level, top); at >= 0; at--) {
    walk(code, start, field(Field.breadth), at, false)
    sortResults()
    isAlone = resultCount == 0
    if (isAlone) continue
    start = load<u64>(results)
    const count = select(code, results, resultCount, M, id)
    // Copies the selection, because linkBack reuses its memory.
    memory.copy(kept, selected, count << 3)
    const links = linksOf(id, at)
    for (let i: u32 = 0; i < count; i++) store<u32>(links + (<usize>i << 2), <u32>keptAt(i))
    setState(id, State.linked)
    publish()
    for (let i: u32 = 0; i < count; i++)
      linkBack(<u32>keptAt(i), id, distanceOf(keptAt(i)), at)
  }
  setState(id, State.linked)
  // If all other nodes are deleted, the new node is reachable only as the entry point.
  if (level > top || isAlone) enterAt(id, level)
}

/** Release barrier: a thread that sees later writes also sees all earlier ones. */
@inline function publish(): void {
  shareField(Field.count, field(Field.count))
}

@inline function keptAt(i: u32): u64 {
  return load<u64>(kept + (<usize>i << 3))
}

function enterAt(id: u32, level: u32): void {
  // A walk may see only one of the two writes. If it starts above the level of its node, it finds
  // no links there and descends.
  shareField(Field.entry, id)
  shareField(Field.topLevel, level)
}

/**
 * Selects links from sorted items. Skips a candidate that is closer to an already selected node
 * than to the node itself, because a path leads through the selected node.
 */
function select(code: usize, items: usize, count: u32, most: u32, self: u32): u32 {
  const toItself = distance(code, node(self))
  let chosen = selectCopies(items, count, self, toItself)
  for (let i: u32 = 0; i < count && chosen < most; i++) {
    const candidate = load<u64>(items + (<usize>i << 3))
    const apart = distanceOf(candidate)
    if (apart != toItself && isNearestToNone(nodeIn(candidate), apart, chosen))
      choose(chosen++, nodeIn(candidate), apart)
  }
  return chosen
}

/** Adds a node id and its distance to the selection. */
@inline function choose(i: u32, id: u32, apart: f32): void {
  store<u64>(selected + (<usize>i << 3), (item(apart, 0) & 0xffffffff00000000) | <u64>id)
}

/** Maximum links to nodes with equal vectors, which form a chain in order of node ids. */
const COPIES_MAX: u32 = 4

/**
 * Selects among nodes with the same code, whose distance is minimal. Without a limit they would
 * link only to each other, and be unreachable. The closest node ids are selected, so that the chain
 * stays connected however often links are selected again.
 */
function selectCopies(items: usize, count: u32, self: u32, toItself: f32): u32 {
  let chosen: u32 = 0
  while (chosen < COPIES_MAX) {
    let best: u32 = NIL
    for (let i: u32 = 0; i < count; i++) {
      const candidate = load<u64>(items + (<usize>i << 3))
      if (distanceOf(candidate) != toItself || isChosen(nodeIn(candidate), chosen)) continue
      if (best == NIL || gap(nodeIn(candidate), self) < gap(best, self)) best = nodeIn(candidate)
    }
    if (best == NIL) return chosen
    choose(chosen++, best, toItself)
  }
  return chosen
}

@inline function gap(a: u32, b: u32): u32 {
  return a > b ? a - b : b - a
}

function isChosen(id: u32, chosen: u32): bool {
  for (let i: u32 = 0; i < chosen; i++)
    if (load<u32>(selected + (<usize>i << 3)) == id) return true
  return false
}

function isNearestToNone(id: u32, toNode: f32, chosen: u32): bool {
  if (chosen == 0) return true
  const code = queryOf(id, compared)
  let i: u32 = 0
  for (; i + 4 <= chosen; i += 4) {
    const at = selected + (<usize>i << 3)
    distance4(code, load<u32>(at), load<u32>(at, 8), load<u32>(at, 16), load<u32>(at, 24), distances)
    if (v128.any_true(f32x4.lt(v128.load(distances), f32x4.splat(toNode)))) return false
  }
  for (; i < chosen; i++)
    if (distance(code, node(load<u32>(selected + (<usize>i << 3)))) < toNode) return false
  return true
}

/** Adds a link; if the list is full, selects again among all of its nodes. */
function linkBack(id: u32, to: u32, apart: f32, level: u32): void {
  const links = linksOf(id, level)
  const most = linksMax(level)
  let count: u32 = 0
  while (count < most && load<u32>(links + (<usize>count << 2)) != NIL) count++
  if (count < most) {
    store<u32>(links + (<usize>count << 2), to)
    return
  }
  const code = queryOf(id, relinked)
  let listedCount: u32 = 0
  for (let i: u32 = 0; i < most; i++) {
    const linked = load<u32>(links + (<usize>i << 2))
    if (stateOf(linked) == State.linked) listedCount = list(listedCount, linked)
  }
  measure(code, listedCount)
  for (let i: u32 = 0; i < listedCount; i++) store<u64>(results + (<usize>i << 3), measured(i))
  store<u64>(results + (<usize>listedCount << 3), item(apart, to))
  sortItems(results, listedCount + 1)
  writeLinks(links, select(code, results, listedCount + 1, most, id), most)
}

function writeLinks(links: usize, count: u32, most: u32): void {
  for (let i: u32 = 0; i < most; i++)
    store<u32>(
      links + (<usize>i << 2),
      i < count ? load<u32>(selected + (<usize>i << 3)) : NIL,
    )
}

function randomLevel(): u32 {
  let x = field(Field.random)
  x ^= x << 13
  x ^= x >> 17
  x ^= x << 5
  setField(Field.random, x)
  const unit = (<f64>x + 1) / 4294967297
  return min(<u32>(-Math.log(unit) / Math.log(<f64>M)), LEVEL_MAX)
}

/** Allocates a node's lists above level 0. Returns the level of the node: 0 if there is no room. */
function takeUpper(id: u32, level: u32): u32 {
  setLevel(id, 0)
  if (level == 0) return 0
  const size = level * (M << 2)
  const free = field(Field.freeUpper + level)
  let offset: u32
  if (free != NIL) {
    offset = free
    setField(Field.freeUpper + level, load<u32>(upper + <usize>free))
  } else {
    offset = field(Field.upperTop)
    if (upper + offset + size > upperEnd) return 0
    setField(Field.upperTop, offset + size)
  }
  memory.fill(upper + offset, 0xff, size)
  setUpper(id, offset)
  setLevel(id, level)
  return level
}

function freeUpper(id: u32): void {
  const level = levelOf(id)
  if (level == 0) return
  setLevel(id, 0)
  const offset = upperOf(id)
  store<u32>(upper + <usize>offset, field(Field.freeUpper + level))
  setField(Field.freeUpper + level, offset)
}

/**
 * Repairs the graph around deleted nodes, so that their memory can be reused: replaces a link to a
 * deleted node by a link to a neighbour of the deleted node. Processes `most` nodes per call; false
 * when nothing is left to repair.
 */
export function repair(most: u32): bool {
  if (field(Field.leaving) == 0) {
    if (field(Field.deleted) == 0) return false
    beginRepair()
  }
  // Marks are cleared only here: `mend` marks the neighbours of a node, and unmarks them at its
  // end.
  unmarkAll(visited)
  const count = field(Field.count)
  const from = field(Field.repairCursor)
  const to = min(count, from + most)
  setBuilding(true)
  for (let id = from; id < to; id++) {
    const state = stateOf(id)
    if (state == State.linked || state == State.deleted) mend(id)
  }
  setBuilding(false)
  setField(Field.repairCursor, to)
  if (to < count) return true
  endRepair()
  return field(Field.deleted) > 0
}

function beginRepair(): void {
  const count = field(Field.count)
  let leaving: u32 = 0
  for (let id: u32 = 0; id < count; id++)
    if (stateOf(id) == State.deleted) {
      setState(id, State.leaving)
      leaving++
    }
  setField(Field.deleted, 0)
  setField(Field.leaving, leaving)
  setField(Field.repairCursor, 0)
}

function endRepair(): void {
  const entry = field(Field.entry)
  if (entry != NIL && stateOf(entry) != State.linked) enterElsewhere()
  const count = field(Field.count)
  for (let id: u32 = 0; id < count; id++)
    if (stateOf(id) == State.leaving) freeNode(id)
  setField(Field.leaving, 0)
}

function enterElsewhere(): void {
  const count = field(Field.count)
  let best: u32 = NIL
  let level: u32 = 0
  for (let id: u32 = 0; id < count; id++)
    if (stateOf(id) == State.linked && (best == NIL || levelOf(id) > level)) {
      best = id
      level = levelOf(id)
    }
  enterAt(best, level)
}

function mend(id: u32): void {
  for (let level: u32 = 0; level <= levelOf(id); level++) {
    const links = linksOf(id, level)
    const most = linksMax(level)
    if (!linksToLeaving(links, most)) continue
    markLinks(links, most)
    mark(visited, id)
    let end: u32 = 0
    for (let i: u32 = 0; i < most; i++) {
      let linked = load<u32>(links + (<usize>i << 2))
      if (linked == NIL) break
      if (stateOf(linked) == State.leaving) {
        unmark(visited, linked)
        linked = standIn(linked, level)
        if (linked == NIL) continue
        mark(visited, linked)
        linkWhereRoom(linked, id, level)
      }
      store<u32>(links + (<usize>end << 2), linked)
      end++
    }
    for (let i = end; i < most; i++) store<u32>(links + (<usize>i << 2), NIL)
    unmark(visited, id)
    for (let i: u32 = 0; i < end; i++) unmark(visited, load<u32>(links + (<usize>i << 2)))
  }
}

/** The unmarked neighbour closest to a leaving node; NIL if all are marked or unusable. */
function standIn(leaving: u32, level: u32): u32 {
  if (level > levelOf(leaving)) return NIL
  const links = linksOf(leaving, level)
  const most = linksMax(level)
  let count: u32 = 0
  for (let i: u32 = 0; i < most; i++) {
    const further = load<u32>(links + (<usize>i << 2))
    if (further == NIL) break
    if (stateOf(further) == State.linked && !isMarked(visited, further))
      count = list(count, further)
  }
  measure(queryOf(leaving, relinked), count)
  let nearest = FARTHEST
  for (let i: u32 = 0; i < count; i++) nearest = min(nearest, measured(i))
  return nearest == FARTHEST ? NIL : nodeIn(nearest)
}

function linkWhereRoom(id: u32, to: u32, level: u32): void {
  const links = linksOf(id, level)
  const most = linksMax(level)
  for (let i: u32 = 0; i < most; i++) {
    const linked = load<u32>(links + (<usize>i << 2))
    if (linked == to) return
    if (linked == NIL) {
      store<u32>(links + (<usize>i << 2), to)
      return
    }
  }
}

function markLinks(links: usize, most: u32): void {
  for (let i: u32 = 0; i < most; i++) {
    const linked = load<u32>(links + (<usize>i << 2))
    if (linked == NIL) return
    mark(visited, linked)
  }
}

function linksToLeaving(links: usize, most: u32): bool {
  for (let i: u32 = 0; i < most; i++) {
    const linked = load<u32>(links + (<usize>i << 2))
    if (linked == NIL) return false
    if (stateOf(linked) == State.leaving) return true
  }
  return false
}
