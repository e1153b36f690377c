/**
 * Documents of the cluster benchmark. They are the documents of other workloads with a vector of 64
 * numbers (600 bytes of JSON). Each document depends only on the seed and its number.
 */
import type { NewRecord } from '../../src/engine/contract.ts'
import { parseStored } from '../../src/json/parse.ts'
import type { JsonObject } from '../../src/json/value.ts'
import { cityCount, cityOf, documentText, idOf, randomNumbers } from '../documents.ts'
import { Clusters } from '../vectors/clusters.ts'
import { binary } from '../vectors/documents.ts'

export const dimension = 64

const centerCount = 500
/**
 * Maximum difference between a component of a vector and the same component of its cluster's
 * center. Vectors are normalized afterwards.
 */
const spread = 0.1

export class ClusterPicks {
  readonly #seed: number
  readonly #size: number
  readonly #random: () => number
  readonly #centers: readonly Float32Array[]
  #next: number

  /**
   * `size` documents are loaded, numbered from 0; `next` is the number of the next new document.
   */
  constructor(seed: number, size: number, next = size) {
    this.#seed = seed
    this.#size = size
    this.#next = next
    this.#random = randomNumbers(seed)
    const clusters = new Clusters(seed, dimension)
    this.#centers = Array.from({ length: centerCount }, () => {
      const center = new Float32Array(dimension)
      clusters.fill(center)
      return center
    })
  }

  /** The id of a loaded document. */
  id(): string {
    return idOf(this.#below(this.#size))
  }

  city(): string {
    return cityOf(this.#below(cityCount))
  }

  /** A query vector in Base64. */
  vector(): string {
    return binary(this.#vectorNear(this.#random))
  }

  /** A query vector as numbers. */
  vectorNumbers(): Float32Array {
    return this.#vectorNear(this.#random)
  }

  /** JSON of a new document. */
  newDocument(): string {
    const number = this.#next++
    const text = documentText(this.#seed, number)
    return `${text.slice(0, -1)},"$vector":${binary(this.#vectorOf(number))}}`
  }

  /** A new document in the engine's format. */
  newRecord(): NewRecord {
    return this.#recordOf(this.#next++)
  }

  /** A loaded document. */
  record(): NewRecord {
    return this.#recordOf(this.#below(this.#size))
  }

  #recordOf(number: number): NewRecord {
    const text = documentText(this.#seed, number)
    const numbers = Float64Array.from(this.#vectorOf(number))
    return {
      id: idOf(number),
      text,
      document: parseStored(text) as JsonObject,
      search: { vector: { numbers, form: 'binary' } },
    }
  }

  #vectorOf(number: number): Float32Array {
    return this.#vectorNear(randomNumbers(this.#seed + number * 2_654_435_761))
  }

  #vectorNear(random: () => number): Float32Array {
    const center = this.#centers[Math.floor(random() * centerCount)]!
    return center.map((number) => number + spread * (2 * random() - 1))
  }

  #below(bound: number): number {
    return Math.floor(this.#random() * bound)
  }
}
