/** Interface of the compared indexes. */
import { groupOf, type Share, type VectorSet } from './clusters.ts'

/** Parameters of all indexes: links per vector, and candidates considered for the links. */
export const connectivity = 16
export const buildBreadth = 128

/** An index of the vectors of a set, which are identified by their numbers. */
export interface TestedIndex {
  readonly name: string
  /** Inserts the vectors from `start` to `end`; returns the milliseconds. */
  build(start: number, end: number): number
  /**
   * The nearest neighbours of a query. `breadth` is the number of candidates that the search keeps.
   */
  nearest(query: number, breadth: number): ArrayLike<number>
  /** Methods that find the nearest neighbours among the matches of a share. */
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

/** Breadth of a filtered search in the engine, which is used for all indexes. */
export const filteredBreadth = 128

/** Returns a flag per vector: 1 if it matches the share, otherwise 0. */
export function flagsOf({ vectors }: VectorSet, share: Share): Uint8Array {
  return Uint8Array.from(vectors, (_, i) => (groupOf(i, share) === 0 ? 1 : 0))
}
