/** Splits batches of writes into pieces, between which the writer thread serves other callers. */
import type { NewRecord, RowMerge, Write } from '../../contract.ts'

/** Characters per piece: about 20 ms of work for documents with many fields. */
export const pieceSize = 262_144

/** Minimum cost of a write, in characters: packing and its part of a transaction. */
const writeSizeMin = 256

/** Bytes per number of a vector. */
const numberSize = 4

export interface Piece {
  readonly writes: readonly Write[]
  readonly size: number
}

/**
 * Splits a batch into pieces. There is at least one piece, and each has at least one write, except
 * for an empty batch.
 */
export function piecesOf(writes: readonly Write[]): readonly Piece[] {
  const pieces: Piece[] = []
  let start = 0
  let size = 0
  for (const [i, write] of writes.entries()) {
    const more = sizeOf(write)
    if (i > start && size + more > pieceSize) {
      pieces.push({ writes: writes.slice(start, i), size })
      start = i
      size = 0
    }
    size += more
  }
  pieces.push({ writes: start === 0 ? writes : writes.slice(start), size })
  return pieces
}

/** Approximate size of a write in characters. */
export function sizeOf(write: Write): number {
  switch (write.kind) {
    case 'insert':
      return writeSizeMin + lengthOf(write.record)
    case 'replace':
      return writeSizeMin + write.before.text.length + lengthOf(write.after)
    case 'delete':
      return writeSizeMin + write.before.text.length
  }
}

function lengthOf({ text, search }: NewRecord): number {
  const { vector, vectorize, lexical } = search
  const texts = (vectorize?.length ?? 0) + (lexical?.length ?? 0)
  return text.length + texts + numberSize * (vector?.numbers.length ?? 0)
}

/** Approximate size of merges in characters. Their values are not serialized yet. */
export function sizeOfMerges(merges: readonly RowMerge[]): number {
  let size = 0
  for (const { values, elements } of merges) {
    size += writeSizeMin
    for (const value of values.values()) size += lengthOfValue(value)
    for (const change of elements?.values() ?? [])
      size += numberSize * change.elements.length
  }
  return size
}

function lengthOfValue(value: unknown): number {
  if (typeof value === 'string') return value.length
  const { length, size } = (value ?? {}) as { length?: unknown; size?: unknown }
  return (
    numberSize * (typeof length === 'number' ? length : typeof size === 'number' ? size : 1)
  )
}
