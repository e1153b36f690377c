/** Projects vectors in a worker and follows its progress. */
import { useEffect, useState } from 'preact/hooks'
import type { Projection, ProjectionOrder } from './project.ts'

export interface ProjectionState {
  readonly positions: Float32Array
  readonly stage: 'waiting' | 'pca' | 'umap' | 'done'
  readonly progress: number
  readonly error: unknown
}

const waiting: ProjectionState = {
  positions: new Float32Array(),
  stage: 'waiting',
  progress: 0,
  error: undefined,
}

/** Projects the vectors in a worker. Starts again when the array of vectors changes. */
export function useProjection(
  vectors: Float32Array | undefined,
  dimension: number,
  isCosine: boolean,
): ProjectionState {
  const [state, setState] = useState({ of: vectors, shown: waiting })
  useEffect(() => {
    if (vectors === undefined) return undefined
    const worker = new Worker(new URL('./projection-worker.ts', import.meta.url), {
      type: 'module',
    })
    worker.onmessage = ({ data }: MessageEvent<Projection>) => {
      const { positions, progress } = data
      const stage = data.stage === 'umap' && progress === 1 ? 'done' : data.stage
      setState({ of: vectors, shown: { positions, stage, progress, error: undefined } })
      if (stage === 'done') worker.terminate()
    }
    worker.onerror = (event) => {
      const error = new Error(`The projection failed: ${event.message}`)
      setState({ of: vectors, shown: { ...waiting, error } })
    }
    const order: ProjectionOrder = { vectors, dimension, isCosine, seed: 1 }
    worker.postMessage(order)
    return () => worker.terminate()
  }, [vectors, dimension, isCosine])
  // `state` may still contain the projection of the previous vectors.
  return state.of === vectors ? state.shown : waiting
}
