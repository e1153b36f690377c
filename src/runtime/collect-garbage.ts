/**
 * Returns memory to the system after a burst of work.
 *
 * V8 collects old objects when its heap grows. The heap of a thread that becomes quiet does not
 * grow, so it would keep the memory of a burst: hundreds of megabytes. This module collects garbage
 * in a quiet thread whose heap has grown.
 *
 * V8 keeps the pages that a collection frees. About 8 s later, it runs a further collection in
 * small steps and returns them to the system. V8 omits the further collection while the thread
 * allocates more than a megabyte per second, unless V8 optimizes for size. So this module makes V8
 * optimize for size until the pages are returned.
 */
import { getHeapStatistics, setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { isMainThread } from 'node:worker_threads'

/** Milliseconds between two measurements of the heap. */
const lookMs = 2_000

/**
 * A thread is quiet if it uses less than this share of a CPU. With a fifth instead of a half, a
 * server with steady clients kept 400 MB of a burst instead of 120.
 */
const quietShare = 0.5

/** Bytes by which a heap must have grown since the last collection. */
const growthMin = 24_000_000

/** Collections take at most this share of the processor time of their thread. */
const costShare = 0.005

/** Milliseconds after a collection until V8 has returned the free pages. */
const returnMs = 12_000

export interface HeapLook {
  /** Processor time of the thread since the last measurement, as a share of the elapsed time. */
  readonly busyShare: number
  /** Bytes that the heap has taken from the system. */
  readonly size: number
  /** Milliseconds since any fixed time. */
  readonly now: number
}

/** Decides when to collect. */
export class CollectionPolicy {
  /** The smallest heap size since the last collection. */
  #floor = Infinity
  #earliest = -Infinity

  isDue({ busyShare, size, now }: HeapLook): boolean {
    this.#floor = Math.min(this.#floor, size)
    return (
      busyShare < quietShare && size >= this.#floor + growthMin && now >= this.#earliest
    )
  }

  /**
   * Records the heap size after a collection, and the processor time of the collection in
   * milliseconds.
   */
  note(size: number, costMs: number, now: number): void {
    this.#floor = size
    this.#earliest = now + Math.max(returnMs, costMs / costShare)
  }
}

/**
 * Starts a timer that collects garbage in this thread when it is quiet. The timer does not keep the
 * thread alive.
 */
export function collectWhenQuiet(): void {
  const policy = new CollectionPolicy()
  let usedMs = threadMs()
  let lookedAt = performance.now()
  setInterval(() => {
    const now = performance.now()
    const busyShare = (threadMs() - usedMs) / (now - lookedAt)
    if (policy.isDue({ busyShare, size: heapSize(), now })) {
      const before = threadMs()
      collect()
      policy.note(heapSize(), threadMs() - before, now)
      if (isMainThread) optimizeForSize()
    }
    usedMs = threadMs()
    lookedAt = performance.now()
  }, lookMs).unref()
}

/**
 * Makes V8 optimize for size for a while. The flag applies to all threads, so only the main thread
 * sets it.
 */
function optimizeForSize(): void {
  setFlagsFromString('--optimize-for-size')
  setTimeout(() => setFlagsFromString('--no-optimize-for-size'), returnMs).unref()
}

function heapSize(): number {
  return getHeapStatistics().total_heap_size
}

function threadMs(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1_000
}

let collect = (): void => {
  setFlagsFromString('--expose-gc')
  collect = runInNewContext('gc') as () => void
  // Resets the flag, because V8 rejects cached code that was compiled with other flags.
  setFlagsFromString('--no-expose-gc')
  collect()
}
