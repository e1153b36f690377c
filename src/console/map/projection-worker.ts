/** Worker that computes a projection and reports intermediate results. */
import { project, type Projection, type ProjectionOrder } from './project.ts'

/** Minimum milliseconds between reports: short enough for the points to move smoothly. */
const reportEveryMs = 60

interface WorkerScope {
  onmessage: ((event: MessageEvent<ProjectionOrder>) => void) | null
  postMessage(message: Projection, transfer: readonly Transferable[]): void
}

// TypeScript cannot load the types of pages and of workers together, so this file declares the few
// members that it uses.
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
