/**
 * The latest slow commands, for operators: where and how long, without the content of requests.
 */
import { fixedLimits } from '../limits.ts'

export interface SlowCommand {
  /** When its reply was known. */
  readonly time: string
  readonly command: string
  /** The id of the database. */
  readonly database: string
  /** The keyspace, and the collection or table. */
  readonly target: string
  readonly elapsedMs: number
  readonly requestId: string
  /** Number of reads, and the plan of the slowest with what it met; absent without reads. */
  readonly reads?: number
  readonly slowestRead?: string
}

/** An interface, because servers that share a store may come to share these. */
export interface SlowCommands {
  note(command: SlowCommand): void
  /** The latest first. */
  latest(): Promise<readonly SlowCommand[]>
}

/** In memory: they are gone with the server. */
export class RecentSlowCommands implements SlowCommands {
  readonly #max: number
  /** The oldest first. */
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
