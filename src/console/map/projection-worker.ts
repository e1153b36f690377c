/** Projects off the page's thread, and tells how far it is a few times a second. */
import { project, type Projection, type ProjectionOrder } from './project.ts'

/** Often enough to look like movement. */
const reportEveryMs = 60

interface WorkerScope {
  onmessage: ((event: MessageEvent<ProjectionOrder>) => void) | null
  postMessage(message: Projection, transfer: readonly Transferable[]): void
}

// Types of pages and of workers cannot both be had; this is all that is used of the latter.
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
