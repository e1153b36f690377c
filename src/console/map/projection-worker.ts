/** Worker that computes projections and reports progress a few times per second. */
import { project, type Projection, type ProjectionOrder } from './project.ts'

/** Milliseconds between reports: often enough to look like motion. */
const reportEveryMs = 60

interface WorkerScope {
  onmessage: ((event: MessageEvent<ProjectionOrder>) => void) | null
  postMessage(message: Projection, transfer: readonly Transferable[]): void
}

// TypeScript cannot load the types of pages and workers together; this declares the few
// that are used.
const scope = globalThis as unknown as WorkerScope

scope.onmessage = ({ data: order }) => {
  let reportedAt = -Infinity
  for (const { stage, positions, progress } of project(order)) {
    const now = performance.now()
    if (stage === 'umap' && progress < 1 && now - reportedAt < reportEveryMs) continue
    reportedAt = now
    const copy = positions.slice()
    scope.postMessage({ stage, positions: copy, progress }, [copy.buffer])
  }
}
