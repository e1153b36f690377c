/** Projects vectors to a plane. The first projection is a PCA; UMAP then refines it in rounds. */
import { nearestNeighbors } from './nearest-neighbors.ts'
import { coordinatesAlong, findComponents } from './principal-components.ts'
import { seededRandom } from './random.ts'
import { Umap } from './umap.ts'

export interface ProjectionOrder {
  /** The vectors, one after another. */
  readonly vectors: Float32Array
  readonly dimension: number
  /** Whether the metric is cosine, which ignores the length of vectors. */
  readonly isCosine: boolean
  readonly seed: number
}

export interface Projection {
  readonly stage: 'pca' | 'umap'
  /** x and y of each vector. The next round overwrites the array. */
  readonly positions: Float32Array
  /** Completed share of the work, from 0 to 1. */
  readonly progress: number
}

const neighborsWanted = 15
/**
 * Number of components for the search of neighbours. Further components have almost no variance.
 */
const reducedDimension = 32

/** Yields a projection after each round. */
export function* project(order: ProjectionOrder): Generator<Projection, void> {
  const { dimension, isCosine, seed } = order
  if (dimension === 0) return
  const rows = Math.floor(order.vectors.length / dimension)
  const data = isCosine ? unitLength(order.vectors, dimension) : order.vectors
  const random = seededRandom(seed)
  const vectors = { data, rows, columns: dimension }
  const components = findComponents(vectors, reducedDimension, random)
  const flat = coordinatesAlong(vectors, components, 2).data
  yield { stage: 'pca', positions: flat, progress: 0 }
  if (rows < 3) {
    yield { stage: 'umap', positions: flat, progress: 1 }
    return
  }
  const reduced = coordinatesAlong(vectors, components, reducedDimension)
  const umap = new Umap(nearestNeighbors(reduced, neighborsWanted), flat, random)
  while (!umap.isDone) {
    umap.step()
    yield { stage: 'umap', positions: umap.positions, progress: umap.progress }
  }
  yield { stage: 'umap', positions: umap.positions, progress: 1 }
}

function unitLength(vectors: Float32Array, dimension: number): Float32Array {
  const scaled = vectors.slice()
  for (let from = 0; from + dimension <= scaled.length; from += dimension) {
    let square = 0
    for (let at = from; at < from + dimension; at++) square += scaled[at]! * scaled[at]!
    const length = Math.sqrt(square)
    if (length > 0) for (let at = from; at < from + dimension; at++) scaled[at]! /= length
  }
  return scaled
}
