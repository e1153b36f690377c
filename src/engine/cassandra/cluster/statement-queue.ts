/**
 * Statements before they are sent to the cluster: principals take turns (round-robin), and only
 * so many statements wait for answers at a time. A node answers in the order in which statements
 * arrive, so a client that sends thousands would delay everybody, and the driver would refuse
 * whoever comes next. Here the statements of that client wait behind each other.
 */
import type { Caller } from '../../../caller/caller.ts'
import { FairQueue } from '../../../caller/fair-queue.ts'
import { EngineError } from '../../errors.ts'

export type StatementOwner = Pick<Caller, 'principalName' | 'signal'>

export class StatementQueue {
  readonly #queue: FairQueue
  #turn: Promise<void> | undefined

  /** Statements that are sent and not answered, and those of one principal that wait. */
  constructor(sentMax: number, waitingMax: number) {
    const refuse = (max: number) =>
      new EngineError('overloaded', `${max} statements of this token wait for the cluster`)
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
   * Requests come by connections of their own. What those that have arrived together ask leaves
   * together, since writing to a socket takes longer than making a statement.
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
