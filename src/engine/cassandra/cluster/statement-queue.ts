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

export class StatementQueue {
  readonly #queue: FairQueue
  #turn: Promise<void> | undefined

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
   * Resolves at the end of the event loop turn. Statements of requests that arrived together are
   * sent together, because a socket write takes longer than building a statement.
   */
  #endOfTurn(): Promise<void> {
    return (this.#turn ??= new Promise((resolve) => {
      setImmediate(() => {
        this.#turn = undefined
        resolve()
      })
    }))
  }
}
