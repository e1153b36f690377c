/**
 * Records the latest slow commands for operators: target and duration, without the content of
 * requests.
 */
import { fixedLimits } from '../limits.ts'

export interface SlowCommand {
  /** Time at which the reply was known. */
  readonly time: string
  readonly command: string
  /** Id of the database. */
  readonly database: string
  /** Keyspace, and name of the collection or table. */
  readonly target: string
  readonly elapsedMs: number
  readonly requestId: string
  /**
   * Number of reads, and the slowest read with its plan and counts. Both are absent if the command
   * made no reads.
   */
  readonly reads?: number
  readonly slowestRead?: string
}

/**
 * Records of slow commands. This is an interface, because servers with a shared store can share
 * their records.
 */
export interface SlowCommands {
  note(command: SlowCommand): void
  /** The latest commands first. */
  latest(): Promise<readonly SlowCommand[]>
}

/** Keeps slow commands in memory; they are lost when the server stops. */
export class RecentSlowCommands implements SlowCommands {
  readonly #max: number
  /** Oldest first. */
  readonly #commands: SlowCommand[] = []

  constructor(max = fixedLimits.slowCommandsMax) {
    this.#max = max
  }

  note(command: SlowCommand): void {
    this.#commands.push(command)
    if (this.#commands.length > this.#max) this.#commands.shift()
  }

  latest(): Promise<readonly SlowCommand[]> {
    return Promise.resolve(this.#commands.toReversed())
  }
}
