/** Candidates of access paths, before the rest of the filter is checked. */
import { EngineError } from '../../errors.ts'
import { idIn, tieStart, valueIn, type Tie } from '../format/entry-key.ts'
import { rowColumns, type DocRow } from '../format/doc-row.ts'
import type { StoredPosition } from '../format/position.ts'
import type { LexicalReader } from '../lexical/reader.ts'
import type { Found } from '../runs/cursor.ts'
import { DocumentSet } from '../runs/document-set.ts'
import type { Budget } from '../store/budget.ts'
import type { StoreConnection } from '../store/store-connection.ts'
import { keyOf } from '../../../language/values/key.ts'
import type { AccessPath, Key } from './access-paths.ts'
import type { Bounds } from './bounds.ts'
import type { PossibleMatch } from './conditions.ts'
import { boundsFrom, rowsWithin, type IdWalk } from './id-order.ts'
import type { Range } from './ranges.ts'

/** A candidate, with its row and its entry's value if the walk has read them. */
export interface RowCandidate extends PossibleMatch {
  readonly row?: DocRow
  /** The value in the candidate's index entry, if a range was walked. */
  readonly value?: Uint8Array
}

/** A store and its term indexes, in which access paths are followed. */
interface Followed {
  readonly store: StoreConnection
  lexical(path: string): LexicalReader
}

interface PathWalk {
  readonly after: StoredPosition | undefined
  readonly budget: Budget
  /** Whether to read texts as well, because most of them will be needed. */
  readonly withTexts: boolean
}

/** The document of an index entry. */
export function candidateOf(
  { key, doc }: Found,
  tie: Tie,
  store: StoreConnection,
): PossibleMatch {
  return { seq: doc, id: tie === 'id' ? () => idIn(key) : () => store.idOf(doc) }
}

/** Candidates of an access path, in its order, each document once. */
export function alongPath(
  access: AccessPath,
  followed: Followed,
  { after, budget, withTexts }: PathWalk,
): Iterable<RowCandidate> {
  const { store } = followed
  switch (access.kind) {
    case 'id':
      return byIds(store, [keyOf(access.id)], seqOf(after))
    case 'ids':
      return byIds(store, access.ids, seqOf(after))
    case 'idRange':
      // This walk has no position, because it serves only counts, lists and sorts in memory.
      // `inIdOrder` reads the pages of id ranges.
      return inIdOrder(access, store, { direction: 1, withTexts })
    case 'terms': {
      const lexical = followed.lexical(access.path)
      return byLists(store, lexical.documents(access.terms, seqOf(after), budget))
    }
    case 'range':
      return byRange(store, access.range, after)
    case 'keys':
      return store.entries.tie === 'id'
        ? byKeys(store, access.keys)
        : byKeysInOrder(store, access.keys, seqOf(after))
    case 'all':
      return everyDocument(store, seqOf(after), withTexts)
  }
}

/**
 * The first `size` document numbers of an access path. Undefined unless the access path is in the
 * order of document numbers and the store can list many numbers at once.
 */
export function firstNumbers(
  access: AccessPath,
  store: StoreConnection,
  after: StoredPosition | undefined,
  size: number,
): number[] | undefined {
  if (access.kind === 'all') {
    const sql = 'SELECT seq FROM doc WHERE seq > ? ORDER BY seq LIMIT ?'
    return store.all(sql, [seqOf(after), size]).map(([seq]) => seq as number)
  }
  const isOne = access.kind === 'keys' && access.keys.length === 1
  if (!isOne || store.entries.tie === 'id') return undefined
  const [{ path, value }] = access.keys as [Key]
  const numbers: number[] = []
  for (const seq of store.entries.numbersWith(path, value, seqOf(after)))
    if (numbers.push(seq) === size) break
  return numbers
}

/** Ascending numbers of all documents of an access path of keys; undefined for other paths. */
export function listedNumbers(
  access: AccessPath,
  { entries }: StoreConnection,
): Uint32Array | undefined {
  if (access.kind !== 'keys' || entries.tie === 'id') return undefined
  const lists: Uint32Array[] = []
  for (const { path, value } of access.keys) {
    const list = entries.listWith(path, value)
    if (list === undefined) return undefined
    lists.push(list)
  }
  if (lists.length === 1) return lists[0]
  const all = new DocumentSet()
  for (const list of lists) all.addAll(list)
  return all.numbers()
}

/** Candidates of an access path in the order of ids. */
export function inIdOrder(
  access: AccessPath,
  store: StoreConnection,
  walk: Omit<IdWalk, 'bounds'>,
): Iterable<RowCandidate> {
  if (access.kind === 'keys') return keysInIdOrder(store, access.keys, walk)
  return access.kind === 'idRange'
    ? withinBounds(store, access.bounds, walk)
    : rowsWithin(store, { ...walk, bounds: undefined })
}

function* withinBounds(
  store: StoreConnection,
  all: readonly Bounds[],
  walk: Omit<IdWalk, 'bounds'>,
): Generator<RowCandidate> {
  for (const bounds of boundsFrom(all, walk.direction, walk.from))
    yield* rowsWithin(store, { ...walk, bounds })
}

function* byLists(
  store: StoreConnection,
  lists: Iterable<Iterable<number>>,
): Generator<RowCandidate> {
  for (const seqs of lists) for (const seq of seqs) yield { seq, id: () => store.idOf(seq) }
}

function* byRange(
  store: StoreConnection,
  range: Range,
  after: StoredPosition | undefined,
): Generator<RowCandidate> {
  const { entries } = store
  const place =
    after?.by === 'range'
      ? { value: after.value, owner: { seq: after.seq, id: noId } }
      : undefined
  for (const entry of entries.inRange(range, { after: place }))
    yield { ...candidateOf(entry, entries.tie, store), value: valueIn(entry.key) }
}

/**
 * Rows with at least one of the values, in the order of ids. In tables, the entries of each value
 * are in that order, so the walks are merged.
 */
function* keysInIdOrder(
  store: StoreConnection,
  keys: readonly Key[],
  { direction, from }: Omit<IdWalk, 'bounds'>,
): Generator<RowCandidate> {
  const { entries } = store
  const after = from && { seq: 0, id: from }
  const walks = keys.map(({ path, value }) =>
    entries.withValue(path, value, { direction, after }),
  )
  const idOf = (key: string) => (keys.length === 1 ? '' : key.slice(tieStart(key)))
  const inOrder = merged(walks, ({ key: a }, { key: b }) =>
    direction === 1 ? idOf(a) < idOf(b) : idOf(a) > idOf(b),
  )
  let last = 0
  for (const entry of inOrder) {
    // A row with several of the values appears only once.
    if (entry.doc === last) continue
    last = entry.doc
    yield candidateOf(entry, entries.tie, store)
  }
}

function* byIds(
  store: StoreConnection,
  ids: readonly Uint8Array[],
  after: number,
): Generator<RowCandidate> {
  const found = new Map<number, Uint8Array>()
  for (const id of ids) {
    const seq = store.numberOf(id)
    if (seq !== undefined && seq > after) found.set(seq, id)
  }
  for (const [seq, id] of [...found].sort(([a], [b]) => a - b)) yield { seq, id: () => id }
}

/** Documents with one of the values, by ascending document number. */
function* byKeysInOrder(
  store: StoreConnection,
  keys: readonly Key[],
  after: number,
): Generator<RowCandidate> {
  const { entries } = store
  const walks = keys.map(({ path, value }) => entries.numbersWith(path, value, after))
  let last = 0
  for (const seq of merged(walks, (a, b) => a < b)) {
    if (seq === last) continue
    last = seq
    yield { seq, id: () => store.idOf(seq) }
  }
}

/**
 * Rows with at least one of the values, value by value. Like the walk of an id range, this walk has
 * no position: pages are read by `inIdOrder`.
 */
function* byKeys(store: StoreConnection, keys: readonly Key[]): Generator<RowCandidate> {
  const { entries } = store
  const seen = new Set<number>()
  for (const { path, value } of keys)
    for (const entry of entries.withValue(path, value)) {
      if (seen.has(entry.doc)) continue
      if (keys.length > 1) seen.add(entry.doc)
      yield candidateOf(entry, entries.tie, store)
    }
}

function* everyDocument(
  store: StoreConnection,
  after: number,
  withTexts: boolean,
): Generator<RowCandidate> {
  const columns = withTexts ? rowColumns : 'd.seq'
  const sql = `SELECT ${columns} FROM doc d WHERE d.seq > ? ORDER BY d.seq`
  for (const found of store.prepared(sql).iterate(after)) {
    const row = found as unknown as unknown[]
    const seq = row[0] as number
    const candidate = { seq, id: () => store.idOf(seq) }
    yield withTexts ? { ...candidate, row: store.rowOf(row) } : candidate
  }
}

const noId = new Uint8Array()

/** The document number of a position; 0 without a position. */
export function seqOf(after: StoredPosition | undefined): number {
  if (after === undefined) return 0
  if (after.by === 'seq') return after.seq
  throw new EngineError('position', 'the position belongs to another query')
}

/** Merges sorted walks into one. */
function merged<T>(
  walks: readonly Iterable<T>[],
  isBefore: (a: T, b: T) => boolean,
): Iterable<T> {
  return walks.length === 1 ? walks[0]! : mergedByHeap(walks, isBefore)
}

function* mergedByHeap<T>(
  walks: readonly Iterable<T>[],
  isBefore: (a: T, b: T) => boolean,
): Generator<T> {
  /** Min-heap by `isBefore`. */
  const heap: { item: T; readonly rest: Iterator<T> }[] = []
  const sink = (from: number) => {
    const own = heap[from]!
    let at = from
    for (;;) {
      let child = 2 * at + 1
      const other = heap[child + 1]
      if (other !== undefined && isBefore(other.item, heap[child]!.item)) child++
      if (child >= heap.length || !isBefore(heap[child]!.item, own.item)) break
      heap[at] = heap[child]!
      at = child
    }
    heap[at] = own
  }
  for (const walk of walks) {
    const rest = walk[Symbol.iterator]()
    const first = rest.next()
    if (first.done !== true) heap.push({ item: first.value, rest })
  }
  for (let i = (heap.length >> 1) - 1; i >= 0; i--) sink(i)
  while (heap.length > 0) {
    const top = heap[0]!
    yield top.item
    const next = top.rest.next()
    if (next.done !== true) top.item = next.value
    else {
      const last = heap.pop()!
      if (heap.length === 0) return
      heap[0] = last
    }
    sink(0)
  }
}
