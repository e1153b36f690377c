/** Candidates of access paths and walks, before the rest of the filter is checked. */
import type { Found } from '../runs/cursor.ts'
import { idIn } from '../format/entry-key.ts'
import type { DocRow } from '../format/doc-row.ts'
import type { StoreConnection } from '../store/store-connection.ts'
import type { PossibleMatch, Index } from './conditions.ts'

/** A candidate, with the parts of it that were read already. */
export interface ReadCandidate extends PossibleMatch {
  readonly row?: DocRow
  /** The value of its entry in a range. */
  readonly value?: Uint8Array
}

/** The document of an index entry. */
export function candidateOf({ key, doc }: Found, { tie, store }: Index): PossibleMatch {
  return { seq: doc, id: tie === 'id' ? () => idIn(key) : () => store.idOf(doc) }
}

/** The row of a candidate, read from the store if needed. */
export function candidateRow(
  { seq, row, value }: ReadCandidate,
  store: StoreConnection,
): DocRow {
  if (row !== undefined) return row
  const found = store.row(seq)
  return value === undefined ? found : { ...found, value }
}

/** Merges sorted walks into one. */
export function* merged<T>(
  walks: readonly Iterable<T>[],
  isBefore: (a: T, b: T) => boolean,
): Generator<T> {
  if (walks.length === 1) {
    yield* walks[0]!
    return
  }
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
