/**
 * Timestamps of writes. All that a server sends has them from here, whoever it is sent for, so
 * that what is sent later is later to the cluster, within a millisecond as well.
 */
import { policies } from 'cassandra-driver'

const { MonotonicTimestampGenerator } = policies.timestampGeneration

/** The driver takes no others than its own. */
export class WriteClock extends MonotonicTimestampGenerator {
  #last = 0

  constructor() {
    super(warningMs, warningMs)
  }

  /** Microseconds since 1970, no two alike. */
  override next(): number {
    return (this.#last = Math.max(Date.now() * 1_000, this.#last + 1))
  }
}

/** As the driver has it, for warnings that this one never gives. */
const warningMs = 1_000
