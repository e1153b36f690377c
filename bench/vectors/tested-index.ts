/** Interface of the compared indexes. */
import { groupOf, type Share, type VectorSet } from './clusters.ts'

/** Parameters of all indexes: links per vector, and candidates considered for the links. */
export const connectivity = 16
export const buildBreadth = 128

/** An index over the vectors of a set, by number. */
export interface TestedIndex {
  readonly name: string
  /** Inserts the vectors from `start` to `end`; returns the milliseconds. */
  build(start: number, end: number): number
  /** The nearest to a query, with `breadth` candidates kept during the search. */
  nearest(query: number, breadth: number): ArrayLike<number>
  /** Methods to find the nearest among the matches of a share. */
  matching(share: Share): readonly FilteredWay[]
  /** Saves the index into an empty folder. */
  save(folder: string): void | Promise<void>
  /** Opens a saved index. */
  load(folder: string): void
}

export interface FilteredWay {
  readonly says: string
  nearest(query: number): ArrayLike<number>
}

/** The engine's breadth of a filtered search, used for all indexes. */
export const filteredBreadth = 128

/** A flag per vector: 1 when it matches. */
export function flagsOf({ vectors }: VectorSet, share: Share): Uint8Array {
  return Uint8Array.from(vectors, (_, i) => (groupOf(i, share) === 0 ? 1 : 0))
}
