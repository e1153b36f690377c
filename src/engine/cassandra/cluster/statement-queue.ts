/**
 * Queue of statements for the cluster. Principals take turns (round-robin), and the number of
 * unanswered statements is limited. A node answers statements in order of arrival, so a client that
 * sends thousands would delay all others, and the driver would reject further statements. With this
 * queue, only that client waits.
 */
import type { Caller } from '../../../caller/caller.ts'
import { FairQueue } from '../../../caller/fair-queue.ts'
import { EngineError } from '../../errors.ts'

export interface StatementOwner extends Pick<Caller, 'principalName' | 'signal'> {
  /** Called with each statement that was answered, and the number of its rows. */
  answered?(text: string, rows: number): void
}

/**
 * Maximum number of statements sent per turn of the event loop. The driver takes up to half a
 * millisecond to build a statement.
 */
export const sentAtOnce = 16

export class StatementQueue {
  readonly #queue: FairQueue
  /**
   * Resolve functions of the admitted statements, which are sent at the end of this turn of the
   * event loop or of a later turn.
   */
  #admitted: (() => void)[] = []

  /**
   * `sentMax` limits the unanswered statements, `waitingMax` the queued statements of one
   * principal.
   */
  constructor(sentMax: number, waitingMax: number) {
    const refuse = (max: number) =>
      new EngineError(
        'overloaded',
        `${max} statements of this token already wait for the cluster`,
      )
    this.#queue = new FairQueue({ capacity: sentMax, waitingMax, refuse })
  }

  /** Sends a statement when it is the owner's turn. */
  run<T>(owner: StatementOwner, send: () => Promise<T>): Promise<T> {
    return this.#queue.run(owner, async () => {
      await this.#endOfTurn()
      return send()
    })
  }

  /**
   * Resolves at the end of this turn of the event loop or of a later one. Statements of requests
   * that arrived together are sent together, because a socket write takes longer than building a
   * statement.
   */
  #endOfTurn(): Promise<void> {
    return new Promise((resolve) => {
      if (this.#admitted.push(resolve) === 1) setImmediate(this.#sendSome)
    })
  }

  readonly #sendSome = (): void => {
    const some = this.#admitted.splice(0, sentAtOnce)
    if (this.#admitted.length > 0) setImmediate(this.#sendSome)
    for (const send of some) send()
  }
}
