/**
 * Timestamps of writes. All that a server sends has them from here, for every user, so
 * that what is sent later is later to the cluster, within a millisecond as well; and so is what
 * another server sends, as far as the clocks of the machines agree.
 */
import { policies } from 'cassandra-driver'

const { MonotonicTimestampGenerator } = policies.timestampGeneration

/** The driver takes no others than its own. */
export class WriteClock extends MonotonicTimestampGenerator {
  #last = 0
  /**
   * Milliseconds by which the machine's clock was set since the process started. It is found out
   * by a clock that tells no parts of one, and so once for all clocks of a process: each by
   * itself would find another number.
   */
  static #setBy = 0

  constructor() {
    super(warningMs, warningMs)
  }

  /** Microseconds since 1970, no two alike. */
  override next(): number {
    return (this.#last = Math.max(Math.floor(this.#nowMs() * 1_000), this.#last + 1))
  }

  /** With parts of a millisecond, which the machine's clock does not tell. */
  #nowMs(): number {
    const elapsed = performance.timeOrigin + performance.now()
    const now = Date.now()
    const isFar = Math.abs(elapsed + WriteClock.#setBy - now) > toleratedMs
    // A thread that had to wait between the two has not seen the clock set.
    const waitedMs = performance.timeOrigin + performance.now() - elapsed
    if (isFar && waitedMs < toleratedMs / 2) WriteClock.#setBy = now - elapsed
    return elapsed + WriteClock.#setBy
  }
}

/** The one that tells parts may be so far from the one that is set, if only by rounding. */
const toleratedMs = 2

/** As the driver has it, for warnings that this one never gives. */
const warningMs = 1_000
