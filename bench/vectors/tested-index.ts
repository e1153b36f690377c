/** What is asked of each index that is compared. */
import { groupOf, type Share, type VectorSet } from './clusters.ts'

/** The same for all: links of a vector, and candidates looked at to choose them. */
export const connectivity = 16
export const buildBreadth = 128

/** An index over the vectors of a set, by their numbers. */
export interface TestedIndex {
  readonly name: string
  /** Takes in the vectors from `start` to `end`; returns the milliseconds that took. */
  build(start: number, end: number): number
  /** The nearest to a query, of so many candidates kept on the walk. */
  nearest(query: number, breadth: number): ArrayLike<number>
  /** The ways to find the nearest among those of a share. */
  matching(share: Share): readonly FilteredWay[]
  /** Saves it into an empty folder. */
  save(folder: string): void | Promise<void>
  /** Opens another index from what was saved. */
  load(folder: string): void
}

export interface FilteredWay {
  readonly says: string
  nearest(query: number): ArrayLike<number>
}

/** What the engine keeps on a walk with a filter, and so what all keep here. */
export const filteredBreadth = 128

/** Which vectors match, by their numbers: 1 where one does. */
export function flagsOf({ vectors }: VectorSet, share: Share): Uint8Array {
  return Uint8Array.from(vectors, (_, i) => (groupOf(i, share) === 0 ? 1 : 0))
}
