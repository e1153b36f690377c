/** usearch, with full vectors: https://www.npmjs.com/package/usearch */
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
 * The index of usearch. Its breadth is fixed at creation, and is at least the number of results.
 */
export class UsearchIndex implements TestedIndex {
  readonly name = 'usearch'
  readonly #set: VectorSet
  readonly #module: UsearchModule
  readonly #index: InstanceType<UsearchModule['Index']>

  constructor(set: VectorSet, module: UsearchModule) {
    this.#set = set
    this.#module = module
    this.#index = this.#empty()
  }

  #empty() {
    return new this.#module.Index({
      // All vectors are normalized. Dot products then rank like cosine similarity and are cheaper
      // to compute.
      metric: 'ip',
      quantization: 'f32',
      dimensions: this.#set.dimension,
      connectivity,
      expansion_add: buildBreadth,
      expansion_search: 1,
      multi: false,
    })
  }

  build(start: number, end: number): number {
    const startedAt = performance.now()
    for (let i = start; i < end; i++) this.#index.add(BigInt(i), this.#set.vectors[i]!, 1)
    return performance.now() - startedAt
  }

  nearest(query: number, breadth: number): number[] {
    const { keys } = this.#index.search(this.#set.queries[query]!, breadth, 1)
    return Array.from(keys.subarray(0, wanted), Number)
  }

  /**
   * The module does not support filters. The search requests more results and drops results that do
   * not match.
   */
  matching(share: Share): FilteredWay[] {
    const { vectors, queries } = this.#set
    const flags = flagsOf(this.#set, share)
    const asked = Math.min(
      vectors.length,
      Math.max(filteredBreadth, share.oneIn * wanted * 1.5),
    )
    return [
      {
        says: 'filtered afterwards',
        nearest: (query) => {
          const { keys } = this.#index.search(queries[query]!, asked, 1)
          const found: number[] = []
          for (let i = 0; i < keys.length && found.length < wanted; i++)
            if (flags[Number(keys[i])] === 1) found.push(Number(keys[i]))
          return found
        },
      },
    ]
  }

  save(folder: string): void {
    this.#index.save(join(folder, 'usearch'))
  }

  load(folder: string): void {
    this.#empty().load(join(folder, 'usearch'))
  }
}

/** The part of the module that this file uses. */
export interface UsearchModule {
  readonly Index: new (options: object) => {
    add(key: bigint, vector: Float32Array, threads: number): void
    search(
      vector: Float32Array,
      count: number,
      threads: number,
    ): { readonly keys: BigUint64Array }
    save(file: string): void
    load(file: string): void
  }
}
