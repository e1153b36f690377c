/**
 * Memory layout of one index. The whole index is in linear memory, at addresses that depend only on
 * its shape. Saving the memory therefore saves the index, and several threads can share it.
 *
 *   header    fields of the index (below)
 *   center    with short codes: the vector that codes are relative to
 *   scratch   one area per thread: queries, heaps, marks
 *   places    hash table from document number to node
 *   pending   ring buffer of nodes to link into the graph, oldest first
 *   upper     link lists above level 0, for 1/16 of the nodes
 *   nodes     last, because it grows
 *
 * One thread writes while others search without locks. A search may read a list that is being
 * rewritten, or a node that is being reused. Every node id that it can read is valid, and callers
 * check results against the store.
 */

export const NIL: u32 = 0xffffffff

/** Links per node above level 0. */
export const M: u32 = 16
export const LEVEL_MAX: u32 = 12

export const COSINE: u32 = 0
export const DOT_PRODUCT: u32 = 1
export const EUCLIDEAN: u32 = 2

export namespace State {
  /** Unused; in the free list. */
  export const free: u32 = 0
  /** Found by scans; not in the graph yet. */
  export const pending: u32 = 1
  export const linked: u32 = 2
  /** Part of the graph, but excluded from results. */
  export const deleted: u32 = 3
  /** Deleted, and freed by the current repair; must not get new links. */
  export const leaving: u32 = 4
  /** Deleted before it was linked; freed when it reaches the head of the ring. */
  export const dropped: u32 = 5
}

/**
 * Address of the header: after AssemblyScript's static data, which starts at --memoryBase and is
 * small.
 */
export const HEADER: usize = 32768
/** Bytes of the fields below. */
export const HEADER_SIZE: usize = 256

export namespace Field {
  export const dimension: u32 = 0
  export const metric: u32 = 1
  export const capacity: u32 = 2
  export const breadth: u32 = 3
  /** Number of nodes that were ever used, each counted once; all node ids are smaller. */
  export const count: u32 = 4
  export const entry: u32 = 5
  export const topLevel: u32 = 6
  export const upperTop: u32 = 7
  export const pendingHead: u32 = 8
  export const pendingTail: u32 = 9
  export const freeNode: u32 = 10
  export const live: u32 = 11
  export const deleted: u32 = 12
  export const random: u32 = 13
  /** Odd while entries of `places` are being moved. */
  export const placesEpoch: u32 = 14
  export const repairCursor: u32 = 15
  export const leaving: u32 = 16
  /** Nonzero: freed nodes are not reused, because the index is being saved. */
  export const frozen: u32 = 17
  /** Squared length that vectors are lifted to (code.ts), as the bits of a float. */
  export const liftedLength: u32 = 18
  /** Mean and variance of the squared lengths, which determine `liftedLength`. */
  export const lengthMean: u32 = 19
  export const lengthSpread: u32 = 20
  /** Number of times that a node was taken. */
  export const taken: u32 = 21
  /** Free blocks of upper lists, by level: 13 fields. */
  export const freeUpper: u32 = 22
  /** Bits per number of a code: 1, 2, 4 or 8; 0 in older files, which means 8. */
  export const bits: u32 = 35
  /** Squared length of the center, as the bits of a float. */
  export const centerLength: u32 = 36
}

@inline export function field(i: u32): u32 {
  return load<u32>(HEADER + (<usize>i << 2))
}
@inline export function setField(i: u32, value: u32): void {
  store<u32>(HEADER + (<usize>i << 2), value)
}
@inline export function sharedField(i: u32): u32 {
  return atomic.load<u32>(HEADER + (<usize>i << 2))
}
@inline export function shareField(i: u32, value: u32): void {
  atomic.store<u32>(HEADER + (<usize>i << 2), value)
}

// Values derived from the shape of the index; each thread computes them itself.
export let dimension: u32 = 0
export let metric: u32 = 0
export let capacity: u32 = 0
/** Bits per number of a code. */
export let bits: u32 = 8
/** Bytes of a code, padded to whole SIMD registers. */
export let codeSize: usize = 0
/** Numbers of a code, including padding. */
export let codeLength: u32 = 0
/** Links per node at level 0. */
export let baseLinks: u32 = 32
/** Offsets within a node. */
export let fieldsAt: usize = 0
export let linksAt: usize = 0
export let center: usize = 0
export let nodeSize: usize = 0
export let nodes: usize = 0
export let upper: usize = 0
export let upperEnd: usize = 0
export let places: usize = 0
export let placesMask: u32 = 0
export let pending: usize = 0

// Scratch memory of this thread.
export let input: usize = 0
export let query: usize = 0
/** Queries made from codes of nodes (`queryOf`). */
export let linking: usize = 0
export let compared: usize = 0
export let relinked: usize = 0
/** Numbers of a vector that is being encoded. */
export let rotated: usize = 0
export let numbers: usize = 0
export let visited: usize = 0
export let known: usize = 0
export let allowed: usize = 0
export let candidates: usize = 0
export let results: usize = 0
export let selected: usize = 0
export let kept: usize = 0
export let near: usize = 0
export let distances: usize = 0

/** Maximum results of a search. */
export const RESULTS_MAX: u32 = 16384
/** Maximum numbers that host and kernel exchange at a time. */
export const NUMBERS_MAX: u32 = 32768
/** Maximum nodes whose distances are computed at a time. */
export const NEAR_MAX: u32 = 2048

@inline function aligned(address: usize): usize {
  return (address + 63) & ~(<usize>63)
}

/** Computes all addresses. Returns the address of the first node. */
export function place(thread: u32, threads: u32): usize {
  dimension = field(Field.dimension)
  metric = field(Field.metric)
  capacity = field(Field.capacity)
  bits = field(Field.bits)
  if (bits == 0) bits = 8
  // A register has 128 bits.
  const block: u32 = 128 / bits
  codeLength = (dimension + block - 1) / block * block
  codeSize = codeLength * bits / 8
  // With 28 links, a node for 768 numbers has 240 bytes.
  baseLinks = bits == 1 ? 28 : 32
  fieldsAt = codeSize + (bits == 8 ? 16 : 12)
  linksAt = fieldsAt + 16
  nodeSize = bits == 8 ? aligned(linksAt + (baseLinks << 2)) : (linksAt + (baseLinks << 2) + 7) & ~7
  const marks = aligned(<usize>capacity / 8 + 64)
  center = aligned(HEADER + 1024)
  let at = aligned(center + centerBytes())
  let end = at
  for (let t: u32 = 0; t < threads; t++) {
    let a = end
    const inputAt = a; a = aligned(a + <usize>dimension * 4 + 64)
    const queryAt = a; a = aligned(a + querySize())
    const linkingAt = a; a = aligned(a + querySize())
    const comparedAt = a; a = aligned(a + querySize())
    const relinkedAt = a; a = aligned(a + querySize())
    const rotatedAt = a; a = aligned(a + <usize>codeLength * 4)
    const numbersAt = a; a = aligned(a + <usize>NUMBERS_MAX * 8)
    const resultsAt = a; a = aligned(a + <usize>(RESULTS_MAX + 64) * 8)
    const selectedAt = a; a += 1024
    const keptAt = a; a += 1024
    const nearAt = a; a = aligned(a + <usize>(NEAR_MAX + 64) * 4)
    const distancesAt = a; a = aligned(a + <usize>(NEAR_MAX + 64) * 8)
    const visitedAt = a; a += marks
    const knownAt = a; a += marks
    const allowedAt = a; a += marks
    const candidatesAt = a; a = aligned(a + <usize>capacity * 8 + 64)
    if (t == thread) {
      linking = linkingAt; compared = comparedAt; relinked = relinkedAt; rotated = rotatedAt
      input = inputAt; query = queryAt; numbers = numbersAt; results = resultsAt
      selected = selectedAt; kept = keptAt; near = nearAt; distances = distancesAt
      visited = visitedAt; known = knownAt; allowed = allowedAt; candidates = candidatesAt
    }
    end = a
  }
  at = end
  places = at
  placesMask = placesSize(capacity) - 1
  at = aligned(at + (<usize>(placesMask + 1) << 2))
  pending = at
  at = aligned(at + (<usize>(placesMask + 1) << 1))
  upper = at
  // On average, 15 nodes have one list of 64 bytes, which is 4.3 bytes per node. The rest is a
  // reserve.
  at = aligned(at + <usize>capacity * 6 + 65536)
  upperEnd = at
  nodes = at
  return at
}

/** Bytes of a query: a byte per number, and the values that belong to it. */
@inline function querySize(): usize {
  return <usize>codeLength + 16
}

export function centerBytes(): usize {
  return bits == 8 ? 0 : <usize>dimension * 4
}

/** Slots of the hash table: at most half are full, which keeps probe sequences short. */
function placesSize(capacity: u32): u32 {
  let size: u32 = 1024
  while (size < capacity * 2) size <<= 1
  return size
}

// Layout of a node: its code (codeSize bytes), values that belong to the code (16 bytes; 12 with
// short codes), the offset of its upper list, its level, its state, its document number, and its
// links at level 0.
@inline export function node(id: u32): usize {
  return nodes + <usize>id * nodeSize
}
@inline export function upperOf(id: u32): u32 {
  return load<u32>(node(id) + fieldsAt)
}
@inline export function setUpper(id: u32, offset: u32): void {
  store<u32>(node(id) + fieldsAt, offset)
}
@inline export function levelOf(id: u32): u32 {
  return load<u8>(node(id) + fieldsAt, 4)
}
@inline export function setLevel(id: u32, level: u32): void {
  store<u8>(node(id) + fieldsAt, level, 4)
}
@inline export function stateOf(id: u32): u32 {
  return load<u8>(node(id) + fieldsAt, 5)
}
@inline export function setState(id: u32, state: u32): void {
  store<u8>(node(id) + fieldsAt, state, 5)
}
/** The document's number in its store. */
@inline export function documentOf(id: u32): f64 {
  return load<f64>(node(id) + fieldsAt, 8)
}
@inline export function setDocument(id: u32, document: f64): void {
  store<f64>(node(id) + fieldsAt, document, 8)
}
/** The list of a node's links at a level. It ends at the first NIL. */
@inline export function linksOf(id: u32, level: u32): usize {
  return level == 0
    ? node(id) + linksAt
    : upper + <usize>upperOf(id) + <usize>(level - 1) * (M << 2)
}
@inline export function linksMax(level: u32): u32 {
  return level == 0 ? baseLinks : M
}
@inline export function pendingAt(i: u32): usize {
  return pending + (<usize>(i & (placesMask >> 1)) << 2)
}

@inline export function isMarked(marks: usize, id: u32): bool {
  return ((<u32>load<u8>(marks + (id >> 3)) >> (id & 7)) & 1) != 0
}
@inline export function mark(marks: usize, id: u32): void {
  const at = marks + (id >> 3)
  store<u8>(at, load<u8>(at) | (<u32>1 << (id & 7)))
}
@inline export function unmark(marks: usize, id: u32): void {
  const at = marks + (id >> 3)
  store<u8>(at, load<u8>(at) & ~(<u32>1 << (id & 7)))
}
@inline export function unmarkAll(marks: usize): void {
  memory.fill(marks, 0, (<usize>field(Field.count) + 8) >> 3)
}
