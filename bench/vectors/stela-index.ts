/** Stela's index: 8-bit codes find candidates, and full vectors in memory rescore them. */
import { join } from 'node:path'
import { loadSnapshot, saveSnapshot } from '../../src/engine/embedded/vectors/snapshot.ts'
import {
  capacityFor,
  Segment,
  type FoundDocuments,
  type SegmentShape,
} from '../../src/search/vector/segment.ts'
import { distanceFrom } from '../../src/search/vector/similarity.ts'
import type { Share, VectorSet } from './clusters.ts'
import { wanted } from './exact.ts'
import {
  buildBreadth,
  filteredBreadth,
  flagsOf,
  type FilteredWay,
  type TestedIndex,
} from './tested-index.ts'

/** Number of candidates that are rescored in addition to the requested number. */
const extraMin = 8

/** Number of candidates of a scan; the engine uses the same number. */
const scanBreadth = 256

export class StelaIndex implements TestedIndex {
  readonly name = 'Stela'
  readonly segment: Segment
  readonly #set: VectorSet
  readonly #shape: SegmentShape

  constructor(set: VectorSet) {
    this.#set = set
    const { dimension } = set
    this.#shape = {
      dimension,
      metric: 'cosine',
      bits: 8,
      capacity: capacityFor(dimension, 8),
      breadth: buildBreadth,
      threads: 3,
    }
    this.segment = Segment.create(this.#shape)
  }

  build(start: number, end: number): number {
    const { segment } = this
    const startedAt = performance.now()
    for (let i = start; i < end; i++) segment.add(documentOf(i), this.#set.vectors[i]!)
    while (segment.linkNext());
    return performance.now() - startedAt
  }

  nearest(query: number, breadth: number): number[] {
    return nearestExactly(this.segment, this.#set, query, breadth)
  }

  matching(share: Share): FilteredWay[] {
    const { segment } = this
    const { queries } = this.#set
    const flags = flagsOf(this.#set, share)
    const isMatch = (document: number) => flags[numberOf(document)] === 1
    const matches = Float64Array.from(
      [...flags.keys()].filter((i) => flags[i] === 1),
      documentOf,
    )
    return [
      {
        says: 'walk',
        nearest: (query) => {
          segment.forget()
          return rescore(
            this.#set,
            query,
            segment.search(queries[query]!, filteredBreadth, isMatch),
          )
        },
      },
      {
        says: 'scan',
        nearest: (query) =>
          rescore(this.#set, query, segment.scan(queries[query]!, scanBreadth, matches)),
      },
    ]
  }

  /** Saves the index as the engine's snapshot, including checksums. */
  save(folder: string): Promise<void> {
    return saveSnapshot(join(folder, 'store.db'), 1, [this.segment])
  }

  load(folder: string): void {
    const snapshot = loadSnapshot(join(folder, 'store.db'), this.#shape)
    if (snapshot === undefined) throw new Error('nothing was saved')
  }
}

/** Searches by codes, and rescores the candidates with full vectors. */
export function nearestExactly(
  segment: Segment,
  set: VectorSet,
  query: number,
  breadth: number,
): number[] {
  return rescore(set, query, segment.search(set.queries[query]!, breadth))
}

/**
 * Rescores candidates like engine/embedded/read/vector-search.ts, in ascending order of their
 * distance by code. From this distance it subtracts twice the largest error of a code so far, and
 * stops when the difference exceeds the distance of the farthest result.
 */
function rescore(
  { queries, vectors }: VectorSet,
  query: number,
  found: FoundDocuments,
): number[] {
  const distanceOf = distanceFrom('cosine', queries[query]!)
  const nearest: number[] = []
  const distances: number[] = []
  let off = 0
  // `found` contains pairs of a document number and the distance of its code.
  for (let i = 0; i < found.length; i += 2) {
    const byCode = found[i + 1]!
    const farthest = distances[wanted - 1] ?? Infinity
    if (i / 2 >= wanted + extraMin && byCode - 2 * off > farthest) break
    const number = numberOf(found[i]!)
    const distance = distanceOf(vectors[number]!)
    off = Math.max(off, byCode - distance)
    if (distance >= farthest) continue
    let at = Math.min(distances.length, wanted - 1)
    while (at > 0 && distances[at - 1]! > distance) at--
    nearest.splice(at, 0, number)
    distances.splice(at, 0, distance)
    if (nearest.length > wanted) {
      nearest.pop()
      distances.pop()
    }
  }
  return nearest
}

/** The document number of a vector. Document numbers start at 1. */
function documentOf(number: number): number {
  return number + 1
}

function numberOf(document: number): number {
  return document - 1
}
