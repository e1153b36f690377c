/**
 * Vectors with the structure of embeddings: they form clusters and have a low intrinsic dimension.
 * Each vector is generated as a point near one of a thousand centers in 24 dimensions. A common
 * matrix projects the point to the full dimension; then noise is added and the vector is
 * normalized. Uniformly random vectors would all have nearly the same distance.
 */
import { randomNumbers } from '../documents.ts'

const clusterCount = 1000
const innerDimension = 24
/**
 * Width at which clusters overlap: with 100 000 vectors, a breadth of 32 yields a recall of 0.96.
 */
const clusterWidth = 0.8
const noise = 0.3

export class Clusters {
  readonly dimension: number
  #random: () => number
  readonly #projection: Float32Array
  readonly #centers: Float32Array
  readonly #point = new Float32Array(innerDimension)
  #spare: number | undefined

  /**
   * Generators with the same seed have the same clusters. Each `stream` yields different vectors.
   */
  constructor(seed: number, dimension: number, stream = 0) {
    this.dimension = dimension
    this.#random = randomNumbers(seed)
    const normals = (count: number) => Float32Array.from({ length: count }, this.#normal)
    this.#projection = normals(innerDimension * dimension)
    this.#centers = normals(clusterCount * innerDimension)
    this.#random = randomNumbers(seed + 1 + stream * 7919)
  }

  /** Writes the next vector into `vector`. */
  fill(vector: Float32Array): void {
    const { dimension } = this
    const normal = this.#normal
    const center = Math.floor(this.#random() * clusterCount) * innerDimension
    for (let l = 0; l < innerDimension; l++)
      this.#point[l] = this.#centers[center + l]! + clusterWidth * normal()
    for (let i = 0; i < dimension; i++) vector[i] = noise * normal()
    for (let l = 0; l < innerDimension; l++) {
      const weight = this.#point[l]!
      const row = this.#projection.subarray(l * dimension, (l + 1) * dimension)
      for (let i = 0; i < dimension; i++) vector[i]! += weight * row[i]!
    }
    let squares = 0
    for (let i = 0; i < dimension; i++) squares += vector[i]! * vector[i]!
    const scale = 1 / Math.sqrt(squares)
    for (let i = 0; i < dimension; i++) vector[i]! *= scale
  }

  /**
   * Normally distributed numbers by Box-Muller. The method yields pairs, so the second number is
   * kept for the next call.
   */
  readonly #normal = (): number => {
    const spare = this.#spare
    if (spare !== undefined) {
      this.#spare = undefined
      return spare
    }
    const length = Math.sqrt(-2 * Math.log(1 - this.#random()))
    const angle = 2 * Math.PI * this.#random()
    this.#spare = length * Math.sin(angle)
    return length * Math.cos(angle)
  }
}

/** Indexed vectors and query vectors. They can be in memory that threads share. */
export interface VectorSet {
  readonly dimension: number
  readonly vectors: readonly Float32Array[]
  readonly queries: readonly Float32Array[]
}

const queryCountMax = 1000

export function makeVectors(seed: number, dimension: number, size: number): VectorSet {
  const clusters = new Clusters(seed, dimension)
  return {
    dimension,
    vectors: makeRun(clusters, size),
    queries: makeRun(clusters, Math.min(Math.ceil(size / 10), queryCountMax)),
  }
}

function makeRun(clusters: Clusters, count: number): Float32Array[] {
  const { dimension } = clusters
  const all = new Float32Array(new SharedArrayBuffer(count * dimension * 4))
  const vectors = viewsOf(all, dimension)
  for (const vector of vectors) clusters.fill(vector)
  return vectors
}

/** Views of consecutive vectors in one buffer. */
export function viewsOf(all: Float32Array, dimension: number): Float32Array[] {
  return Array.from({ length: all.length / dimension }, (_, i) =>
    all.subarray(i * dimension, (i + 1) * dimension),
  )
}

/** A document field whose value is 0 in one of `oneIn` documents. */
export interface Share {
  readonly field: string
  readonly oneIn: number
  readonly says: string
}

export const shares: readonly Share[] = [
  { field: 'half', oneIn: 2, says: '50 %' },
  { field: 'tenth', oneIn: 10, says: '10 %' },
  { field: 'hundredth', oneIn: 100, says: '1 %' },
  { field: 'thousandth', oneIn: 1000, says: '0.1 %' },
]

/** The pseudo-random value of a share's field, from 0 to `oneIn` - 1. */
export function groupOf(number: number, { oneIn }: Share): number {
  return Math.floor(randomNumbers(number * 2_654_435_761 + oneIn)() * oneIn)
}
