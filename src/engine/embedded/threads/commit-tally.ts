/**
 * Counts of commits, and what waits to be done in indexes, kept in memory that threads share:
 * reading them waits for nothing.
 */
import type { IndexDebt } from '../../operations.ts'
import type { Debt } from '../runs/runs-writer.ts'
import type { WriteOutcome } from './write-batch.ts'

export interface CommitCounts {
  readonly commits: number
  /** Records that were inserted, replaced or deleted. */
  readonly writes: number
}

/** A tally as it goes from one thread to another. */
export type SharedTally = BigInt64Array<SharedArrayBuffer>

export class CommitTally {
  /** The commits, the writes, then what waits: recent changes, entries, runs by level. */
  readonly shared: SharedTally

  constructor(shared: SharedTally = newTally()) {
    this.shared = shared
  }

  /** Counts one commit by what it did. */
  add(outcomes: readonly (readonly WriteOutcome[])[]): void {
    let writes = 0
    for (const group of outcomes)
      for (const outcome of group) if (outcome === 'done') writes++
    Atomics.add(this.shared, 0, 1n)
    Atomics.add(this.shared, 1, BigInt(writes))
  }

  /** Notes what waits to be done in the indexes of all stores that are open. */
  setDebt(debts: Iterable<Debt>): void {
    const sums = new Array<number>(debtsAt + levelsMax).fill(0)
    for (const { recent, waiting, runsOf } of debts) {
      sums[recentAt]! += recent
      sums[waitingAt]! += waiting
      for (const [level, runs] of runsOf.entries())
        sums[debtsAt + Math.min(level, levelsMax - 1)]! += runs
    }
    for (let i = recentAt; i < sums.length; i++)
      Atomics.store(this.shared, i, BigInt(sums[i]!))
  }

  get debt(): IndexDebt {
    const read = (at: number) => Number(Atomics.load(this.shared, at))
    const runs = Array.from({ length: levelsMax }, (_, level) => read(debtsAt + level))
    const levels = runs.findLastIndex((count) => count > 0) + 1
    return { recent: read(recentAt), waiting: read(waitingAt), runs: runs.slice(0, levels) }
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
const debtsAt = 4
/** More levels than an index of a trillion entries has. */
const levelsMax = 16

function newTally(): SharedTally {
  return new BigInt64Array(new SharedArrayBuffer(8 * (debtsAt + levelsMax)))
}
