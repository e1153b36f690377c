/** Threads that search a shared index concurrently. */
import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { decimal, whole } from '../report.ts'
import { ratePerSecond, takeTurns, type Contender } from '../turns.ts'
import type { Table } from '../workloads/study.ts'
import type { VectorSet } from './clusters.ts'
import type { SearchingAnswer, SharedSearch } from './searching-thread.ts'
import type { StelaIndex } from './stela-index.ts'

/** Breadth of a search in the engine. */
const threadBreadth = 128

export async function measureThreads(
  { segment }: StelaIndex,
  { vectors, queries, dimension }: VectorSet,
  seconds: number,
): Promise<Table> {
  const threads = [1, 2].map(
    (thread) =>
      new Worker(new URL('searching-thread.ts', import.meta.url), {
        workerData: {
          segment: segment.shared,
          thread,
          dimension,
          vectors: allOf(vectors),
          queries: allOf(queries),
          breadth: threadBreadth,
        } satisfies SharedSearch,
      }),
  )
  try {
    const standings = await takeTurns(
      [together(threads.slice(0, 1)), together(threads)],
      seconds,
    )
    const rates = standings.map(ratePerSecond)
    return {
      title: `Threads on one index, breadth ${threadBreadth}`,
      head: ['threads', 'queries/s', 'ratio'],
      rows: rates.map((rate, i) => [whole(i + 1), whole(rate), decimal(rate / rates[0]!)]),
    }
  } finally {
    for (const thread of threads) await thread.terminate()
  }
}

function together(threads: readonly Worker[]): Contender {
  return {
    name: `${threads.length}`,
    async run(forMs) {
      const tallies = await Promise.all(
        threads.map(async (thread) => {
          const answered = once(thread, 'message')
          thread.postMessage(forMs)
          const [tally] = (await answered) as [SearchingAnswer]
          return tally
        }),
      )
      return {
        requests: tallies.reduce((sum, { requests }) => sum + requests, 0),
        elapsedMs: Math.max(...tallies.map(({ elapsedMs }) => elapsedMs)),
      }
    },
  }
}

/** One array with all vectors, which are views of one buffer. */
function allOf(vectors: readonly Float32Array[]): Float32Array {
  return new Float32Array(vectors[0]!.buffer)
}
