/** hnswlib-node, with full vectors: https://www.npmjs.com/package/hnswlib-node */
import { join } from 'node:path'
import type { Share, VectorSet } from './clusters.ts'
import { wanted } from './exact.ts'
import {
  buildBreadth,
  connectivity,
  filteredBreadth,
  flagsOf,
  type FilteredWay,
  type TestedIndex,
} from './tested-index.ts'

/**
 * The index of hnswlib-node. The module accepts only plain arrays, which are created before the
 * clock starts.
 */
export class HnswlibIndex implements TestedIndex {
  readonly name = 'hnswlib-node'
  readonly #set: VectorSet
  readonly #module: HnswlibModule
  readonly #index: InstanceType<HnswlibModule['HierarchicalNSW']>
  readonly #queries: readonly (readonly number[])[]

  constructor(set: VectorSet, module: HnswlibModule) {
    this.#set = set
    this.#module = module
    this.#queries = set.queries.map((query) => Array.from(query))
    this.#index = new module.HierarchicalNSW('ip', set.dimension)
    this.#index.initIndex(set.vectors.length, connectivity, buildBreadth, 7)
  }

  build(start: number, end: number): number {
    const points = this.#set.vectors.slice(start, end).map((vector) => Array.from(vector))
    const startedAt = performance.now()
    for (const [i, point] of points.entries()) this.#index.addPoint(point, start + i)
    return performance.now() - startedAt
  }

  nearest(query: number, breadth: number): number[] {
    this.#index.setEf(breadth)
    return this.#index.searchKnn(this.#queries[query]!, wanted).neighbors
  }

  matching(share: Share): FilteredWay[] {
    const flags = flagsOf(this.#set, share)
    const isMatch = (label: number) => flags[label] === 1
    return [
      {
        says: 'filter during walk',
        nearest: (query) => {
          this.#index.setEf(filteredBreadth)
          return this.#index.searchKnn(this.#queries[query]!, wanted, isMatch).neighbors
        },
      },
    ]
  }

  save(folder: string): void {
    this.#index.writeIndexSync(join(folder, 'hnswlib'))
  }

  load(folder: string): void {
    new this.#module.HierarchicalNSW('ip', this.#set.dimension).readIndexSync(
      join(folder, 'hnswlib'),
    )
  }
}

/** The part of the module that this file uses. */
export interface HnswlibModule {
  readonly HierarchicalNSW: new (
    space: string,
    dimension: number,
  ) => {
    initIndex(capacity: number, connectivity: number, breadth: number, seed: number): void
    addPoint(point: readonly number[], label: number): void
    setEf(breadth: number): void
    searchKnn(
      query: readonly number[],
      count: number,
      filter?: (label: number) => boolean,
    ): { readonly neighbors: number[] }
    writeIndexSync(file: string): void
    readIndexSync(file: string): void
  }
}
