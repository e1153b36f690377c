/** Exports of the kernel. The host writes vectors to `inputAddress` as floats. */
import { distance, encode, prepareQuery } from './code'
import {
  clearHeaps, distanceOf, item, keepResult, nodeIn, resultCount, sortResults,
} from './heaps'
import { linkNext as linkOne, repair as repairSome, takeNode } from './graph'
import {
  allowed, center, centerBytes, dimension, documentOf, Field, field, HEADER, HEADER_SIZE, input,
  isMarked, known, LEVEL_MAX,
  NIL, node, nodeSize, nodes, numbers, pendingAt, place, query, results, setDocument, setField,
  setLevel, setState, sharedField, shareField, State, stateOf, unmarkAll, upper, visited,
} from './layout'
import { addPlace, findNode, removePlace } from './places'
import { descend, FARTHEST, isAllowed, list, measure, measured, walk } from './walk'

/** Initializes an empty index. Returns the bytes of memory before the first node. */
export function create(
  dimension: u32, metric: u32, capacity: u32, breadth: u32, threads: u32, bits: u32,
): u32 {
  setField(Field.bits, bits)
  setField(Field.dimension, dimension)
  setField(Field.metric, metric)
  setField(Field.capacity, capacity)
  setField(Field.breadth, breadth)
  setField(Field.entry, NIL)
  setField(Field.freeNode, NIL)
  setField(Field.random, 0x9e3779b9)
  for (let level: u32 = 0; level <= LEVEL_MAX; level++) setField(Field.freeUpper + level, NIL)
  return <u32>place(0, threads)
}

/** Sets the center of short codes to the input. Must be called before the first vector is added. */
export function setCenter(): void {
  let squares: f64 = 0
  for (let i: u32 = 0; i < dimension; i++) {
    const x = load<f32>(input + (<usize>i << 2))
    squares += <f64>x * <f64>x
    store<f32>(center + (<usize>i << 2), x)
  }
  setField(Field.centerLength, reinterpret<u32>(<f32>squares))
}

export function centerAddress(): u32 { return <u32>center }
export function centerSize(): u32 { return <u32>centerBytes() }

/** Attaches this instance as one of the threads that work on the index. */
export function attach(thread: u32, threads: u32): void {
  place(thread, threads)
}

export function inputAddress(): u32 { return <u32>input }
export function numbersAddress(): u32 { return <u32>numbers }
export function nodesAddress(): u32 { return <u32>nodes }
export function upperAddress(): u32 { return <u32>upper }
export function nodeBytes(): u32 { return <u32>nodeSize }
export function count(): u32 { return sharedField(Field.count) }
export function liveCount(): u32 { return sharedField(Field.live) }
export function deletedCount(): u32 { return field(Field.deleted) + field(Field.leaving) }
export function takenCount(): u32 { return sharedField(Field.taken) }
export function isRepairing(): bool { return field(Field.leaving) > 0 }
export function pendingCount(): u32 {
  return sharedField(Field.pendingTail) - sharedField(Field.pendingHead)
}
export function upperBytes(): u32 { return field(Field.upperTop) }
export function headerAddress(): u32 { return <u32>HEADER }
export function headerBytes(): u32 { return <u32>HEADER_SIZE }

/** Adds a vector for a document. False if the index is full. */
export function add(document: f64): bool {
  const id = takeNode()
  if (id == NIL) return false
  encode(node(id))
  setLevel(id, 0)
  setDocument(id, document)
  setState(id, State.pending)
  addPlace(document, id)
  queue(id)
  shareField(Field.live, field(Field.live) + 1)
  return true
}

/** Removes the vector of a document. False if the document has no vector in this index. */
export function remove(document: f64): bool {
  const id = findNode(document)
  if (id == NIL) return false
  removePlace(document)
  if (stateOf(id) == State.pending) setState(id, State.dropped)
  else {
    setState(id, State.deleted)
    setField(Field.deleted, field(Field.deleted) + 1)
  }
  shareField(Field.live, field(Field.live) - 1)
  return true
}

export function has(document: f64): bool { return findNode(document) != NIL }
export function linkNext(): bool { return linkOne() }
export function repair(most: u32): bool { return repairSome(most) }

/**
 * Freezes or thaws the index. While it is frozen, freed nodes are not reused, and the caller must
 * not link or repair. Nodes that existed at the freeze then change only their state.
 */
export function freeze(frozen: bool): void { setField(Field.frozen, frozen ? 1 : 0) }

/**
 * Rebuilds derived state after the header, nodes and upper lists were loaded. False if these parts
 * are inconsistent.
 */
export function restore(): bool {
  setField(Field.frozen, 0)
  setField(Field.placesEpoch, 0)
  setField(Field.pendingHead, 0)
  setField(Field.pendingTail, 0)
  let live: u32 = 0
  let deleted: u32 = 0
  const count = field(Field.count)
  for (let id: u32 = 0; id < count; id++) {
    const state = stateOf(id)
    if (state == State.linked || state == State.pending) {
      if (findNode(documentOf(id)) != NIL) return false
      addPlace(documentOf(id), id)
      live++
    } else if (state == State.deleted || state == State.leaving) {
      setState(id, State.deleted)
      deleted++
    } else if (state > State.dropped) return false
    if (state == State.pending || state == State.dropped) queue(id)
  }
  setField(Field.live, live)
  setField(Field.deleted, deleted)
  setField(Field.leaving, 0)
  const entry = field(Field.entry)
  return entry == NIL || entry < count
}

function queue(id: u32): void {
  const tail = field(Field.pendingTail)
  store<u32>(pendingAt(tail), id)
  shareField(Field.pendingTail, tail + 1)
}

/** Makes a query of the input. */
export function prepare(): void { prepareQuery(query) }

/** Forgets which documents match the filter. */
export function forget(): void {
  unmarkAll(known)
  unmarkAll(allowed)
}

let farthest: u64 = FARTHEST

/** Walks through the graph, then scans all pending nodes. */
export function search(breadth: u32, filtered: bool): void {
  farthest = FARTHEST
  clearHeaps()
  unmarkAll(visited)
  const entry = sharedField(Field.entry)
  if (entry != NIL) {
    const start = item(distance(query, node(entry)), entry)
    const level = sharedField(Field.topLevel)
    farthest = walk(query, descend(query, start, level, 0), breadth, 0, filtered)
  }
  scanPending(breadth, filtered)
}

function scanPending(breadth: u32, filtered: bool): void {
  const tail = sharedField(Field.pendingTail)
  let listed: u32 = 0
  for (let i = sharedField(Field.pendingHead); i != tail; i++) {
    const id = load<u32>(pendingAt(i))
    if (stateOf(id) != State.pending || isMarked(visited, id)) continue
    listed = list(listed, id)
    if (listed == 64) {
      keepListed(listed, breadth, filtered)
      listed = 0
    }
  }
  keepListed(listed, breadth, filtered)
}

export function scanAll(breadth: u32, filtered: bool): void {
  begin()
  const end = sharedField(Field.count)
  let listed: u32 = 0
  for (let id: u32 = 0; id < end; id++) {
    const state = stateOf(id)
    if (state != State.linked && state != State.pending) continue
    listed = list(listed, id)
    if (listed == 64) {
      keepListed(listed, breadth, filtered)
      listed = 0
    }
  }
  keepListed(listed, breadth, filtered)
}

/** Begins a scan of selected documents. */
export function begin(): void {
  clearHeaps()
  farthest = FARTHEST
}

/** Scans documents whose numbers the host has written. */
export function scan(count: u32, breadth: u32): void {
  let listed: u32 = 0
  for (let i: u32 = 0; i < count; i++) {
    const id = findNode(load<f64>(numbers + (<usize>i << 3)))
    if (id == NIL) continue
    listed = list(listed, id)
    if (listed == 64) {
      keepListed(listed, breadth, false)
      listed = 0
    }
  }
  keepListed(listed, breadth, false)
}

function keepListed(count: u32, breadth: u32, filtered: bool): void {
  measure(query, count)
  for (let i: u32 = 0; i < count; i++) {
    const found = measured(i)
    if (found >= farthest || (filtered && !isAllowed(nodeIn(found)))) continue
    farthest = keepResult(found, breadth, farthest)
  }
}

/**
 * Writes the results, closest first, as pairs of document number and distance. Returns their
 * number.
 */
export function finish(): u32 {
  sortResults()
  for (let i: u32 = 0; i < resultCount; i++) {
    const found = load<u64>(results + (<usize>i << 3))
    store<f64>(numbers + (<usize>i << 4), documentOf(nodeIn(found)))
    store<f64>(numbers + (<usize>i << 4), <f64>distanceOf(found), 8)
  }
  return resultCount
}
