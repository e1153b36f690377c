/** Counts of commits, kept in memory that threads share: reading them waits for nothing. */
import type { WriteOutcome } from './write-batch.ts'

export interface CommitCounts {
  readonly commits: number
  /** Records that were inserted, replaced or deleted. */
  readonly writes: number
}

/** A tally as it goes from one thread to another. */
export type SharedTally = BigInt64Array<SharedArrayBuffer>

export class CommitTally {
  /** The commits, then the writes. */
  readonly shared: SharedTally

  constructor(shared: SharedTally = new BigInt64Array(new SharedArrayBuffer(16))) {
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

  get counts(): CommitCounts {
    return {
      commits: Number(Atomics.load(this.shared, 0)),
      writes: Number(Atomics.load(this.shared, 1)),
    }
  }
}
