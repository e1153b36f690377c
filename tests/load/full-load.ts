/** Loads the server fully for some time, and samples its resource usage. */
import { setTimeout as pause } from 'node:timers/promises'
import type { Sample } from './growth.ts'
import type { LoadedServer } from './loaded-server.ts'
import { prepareWorkload, Worker } from './workload.ts'

export interface Loaded {
  readonly requests: number
  readonly samples: readonly Sample[]
  /** Descriptions of the first wrong replies. A wrong reply ends the load. */
  readonly problems: readonly string[]
}

/** Number of concurrent clients, enough to keep the server busy. */
const workerCount = 16

export async function loadFully(server: LoadedServer, seconds: number): Promise<Loaded> {
  await prepareWorkload(server.port)
  const workers = await Promise.all(
    Array.from({ length: workerCount }, (_, number) => Worker.start(server.port, number)),
  )
  const startedAt = performance.now()
  const endsAt = startedAt + seconds * 1_000
  const problems: string[] = []
  const requestsSoFar = () => workers.reduce((sum, { requests }) => sum + requests, 0)
  const isOver = () => performance.now() >= endsAt || problems.length > 0
  const work = async (worker: Worker) => {
    try {
      while (!isOver()) await worker.step()
    } catch (error) {
      problems.push(error instanceof Error ? error.message : String(error))
    }
  }

  const samples: Sample[] = []
  const intervalMs = Math.min(10_000, (seconds * 1_000) / 60)
  const sample = async () => {
    while (!isOver()) {
      await pause(Math.max(0, Math.min(intervalMs, endsAt - performance.now())))
      const at = (performance.now() - startedAt) / 1_000
      samples.push({ at, requests: requestsSoFar(), ...(await server.usage()) })
    }
  }
  await Promise.all([...workers.map(work), sample()])
  for (const worker of workers) worker.close()
  return { requests: requestsSoFar(), samples, problems }
}
