/**
 * Returns memory after a burst of work.
 *
 * V8 collects old objects when its heap grows, and gives pages back to the system only some seconds
 * after such a collection. The heap of a thread that becomes idle does not grow, so it would keep what
 * a burst has taken: hundreds of megabytes. This module collects garbage in a quiet thread whose heap
 * has grown.
 */
import { performance } from 'node:perf_hooks'
import { getHeapStatistics, setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/** Milliseconds between two looks at the heap. */
const lookMs = 2_000

/** Share of the time between two looks below which a thread is quiet. */
const quietShare = 0.25

/** Bytes by which a heap must have grown since the last collection. */
const growthMin = 24_000_000

/** Collections take at most this share of the processor time of their thread. */
const costShare = 0.002

export interface HeapLook {
  /** Share of the time since the last look in which the thread was busy. */
  readonly busyShare: number
  /** Bytes that the heap has taken from the system. */
  readonly size: number
  /** In milliseconds, from any start. */
  readonly now: number
}

/** Decides when to collect. */
export class CollectionPolicy {
  /** The smallest size since the last collection. */
  #floor = Infinity
  #earliest = -Infinity

  isDue({ busyShare, size, now }: HeapLook): boolean {
    this.#floor = Math.min(this.#floor, size)
    return (
      busyShare < quietShare && size >= this.#floor + growthMin && now >= this.#earliest
    )
  }

  /** Notes a collection: the size after it, and its processor time in milliseconds. */
  note(size: number, costMs: number, now: number): void {
    this.#floor = size
    this.#earliest = now + costMs / costShare
  }
}

/** Starts to look after the heap of this thread. Does not keep the thread alive. */
export function collectWhenQuiet(): void {
  const policy = new CollectionPolicy()
  let last = performance.eventLoopUtilization()
  setInterval(() => {
    const next = performance.eventLoopUtilization()
    const busyShare = performance.eventLoopUtilization(next, last).utilization
    last = next
    const size = getHeapStatistics().total_heap_size
    if (!policy.isDue({ busyShare, size, now: performance.now() })) return
    const before = process.threadCpuUsage()
    collect()
    const { user, system } = process.threadCpuUsage(before)
    const after = getHeapStatistics().total_heap_size
    policy.note(after, (user + system) / 1_000, performance.now())
  }, lookMs).unref()
}

let collect: () => void = () => {
  setFlagsFromString('--expose-gc')
  collect = runInNewContext('gc') as () => void
  collect()
}
