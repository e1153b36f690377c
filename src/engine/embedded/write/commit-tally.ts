/**
 * Counters of commits and of pending index work, in shared memory, so that reading them does not
 * wait for another thread.
 */
import type { IndexDebt } from '../../operations.ts'
import type { StoreDebt } from './store-writer.ts'
import type { WriteOutcome } from './write-batch.ts'

export interface CommitCounts {
  readonly commits: number
  /** Records inserted, replaced or deleted. */
  readonly writes: number
}

/** The memory of a tally, for sending to another thread. */
export type SharedTally = BigInt64Array<SharedArrayBuffer>

export class CommitTally {
  /**
   * Numbers in this order: commits, writes, pending work of the value index and of term indexes,
   * then runs by level.
   */
  readonly shared: SharedTally

  constructor(shared: SharedTally = newTally()) {
    this.shared = shared
  }

  /** Counts one commit with the outcomes of its writes. */
  add(outcomes: readonly (readonly WriteOutcome[])[]): void {
    let writes = 0
    for (const group of outcomes)
      for (const outcome of group) if (outcome === 'done') writes++
    Atomics.add(this.shared, 0, 1n)
    Atomics.add(this.shared, 1, BigInt(writes))
  }

  /** Sets the pending index work, summed over all open stores. */
  setDebt(debts: Iterable<StoreDebt>): void {
    const sums = new Array<number>(runsAt + levelsMax).fill(0)
    for (const { entries, terms } of debts) {
      sums[recentAt]! += entries.recent
      sums[waitingAt]! += entries.waiting
      for (const { recent, waiting, segments } of terms) {
        sums[textsAt]! += recent
        sums[postingsAt]! += waiting
        sums[segmentsAt]! += segments
      }
      for (const [level, runs] of entries.runsOf.entries())
        sums[runsAt + Math.min(level, levelsMax - 1)]! += runs
    }
    for (let i = recentAt; i < sums.length; i++)
      Atomics.store(this.shared, i, BigInt(sums[i]!))
  }

  get debt(): IndexDebt {
    const read = (at: number) => Number(Atomics.load(this.shared, at))
    const runs = Array.from({ length: levelsMax }, (_, level) => read(runsAt + level))
    const levels = runs.findLastIndex((count) => count > 0) + 1
    return {
      recent: read(recentAt),
      waiting: read(waitingAt),
      runs: runs.slice(0, levels),
      terms: {
        recent: read(textsAt),
        waiting: read(postingsAt),
        segments: read(segmentsAt),
      },
    }
  }

  get counts(): CommitCounts {
    return {
      commits: Number(Atomics.load(this.shared, 0)),
      writes: Number(Atomics.load(this.shared, 1)),
    }
  }
}

const recentAt = 2
const waitingAt = 3
const textsAt = 4
const postingsAt = 5
const segmentsAt = 6
const runsAt = 7
/** Maximum number of levels: an index with 10^12 entries has fewer levels. */
const levelsMax = 16

function newTally(): SharedTally {
  return new BigInt64Array(new SharedArrayBuffer(8 * (runsAt + levelsMax)))
}
