/**
 * Generates the timestamps of all writes of a server, for every user. A later write gets a greater
 * timestamp, even within a millisecond. Writes of different servers are in the right order only if
 * the difference of their times exceeds the difference between the clocks of the machines.
 */
import { policies } from 'cassandra-driver'

const { MonotonicTimestampGenerator } = policies.timestampGeneration

/**
 * Generates timestamps. Extends the driver's generator, because the driver accepts no other class.
 */
export class WriteClock extends MonotonicTimestampGenerator {
  #last = 0
  /**
   * Milliseconds by which the system clock was changed since the process started. Static, because
   * Date.now() has a resolution of one millisecond: each clock of a process would measure a
   * different value.
   */
  static #setBy = 0

  constructor() {
    super(warningMs, warningMs)
  }

  /** Microseconds since 1970; strictly increasing. */
  override next(): number {
    return (this.#last = Math.max(Math.floor(this.#nowMs() * 1_000), this.#last + 1))
  }

  /** Current time with fractions of a millisecond, which Date.now() lacks. */
  #nowMs(): number {
    const elapsed = performance.timeOrigin + performance.now()
    const now = Date.now()
    const isFar = Math.abs(elapsed + WriteClock.#setBy - now) > toleratedMs
    // A long delay between the two readings looks like a changed clock. Such readings are ignored.
    const waitedMs = performance.timeOrigin + performance.now() - elapsed
    if (isFar && waitedMs < toleratedMs / 2) WriteClock.#setBy = now - elapsed
    return elapsed + WriteClock.#setBy
  }
}

/**
 * Tolerated difference in milliseconds between the monotonic clock and the system clock. Rounding
 * alone causes a difference.
 */
const toleratedMs = 2

/** The driver's default. It concerns warnings of the base class, which this class never emits. */
const warningMs = 1_000
