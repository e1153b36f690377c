/** The amount of a shared resource that one request holds. */
import { fixedLimits } from '../limits.ts'
import { andThen } from '../runtime/steps.ts'
import type { FairShare, MemoryHolder } from './fair-share.ts'

export class Charge {
  readonly #room: FairShare
  readonly #holder: MemoryHolder
  #held = 0
  #isOver = false

  constructor(room: FairShare, holder: MemoryHolder) {
    this.#room = room
    this.#holder = holder
  }

  get held(): number {
    return this.#held
  }

  /** Takes the amount if it is available without waiting; returns whether it was. */
  take(amount: number): boolean | Promise<boolean> {
    if (this.#isOver) return false
    return this.#keep(this.#room.take(this.#holder, amount, this.#held), amount)
  }

  /** Like `take`, but fails while other requests of the principal wait. */
  takeInTurn(amount: number): boolean | Promise<boolean> {
    if (this.#isOver) return false
    return this.#keep(this.#room.takeInTurn(this.#holder, amount, this.#held), amount)
  }

  /**
   * Waits for the amount. Resolves to false when the wait ends without the amount, or when the
   * request has ended.
   */
  takeWithin(
    amount: number,
    signal: AbortSignal,
    waitMs: number = fixedLimits.roomWaitMsMax,
  ): Promise<boolean> {
    const taking = this.#room.takeWithin(this.#holder, amount, waitMs, signal)
    return taking.then((isTaken) => this.#hold(isTaken, amount))
  }

  #keep(taken: boolean | Promise<boolean>, amount: number): boolean | Promise<boolean> {
    return andThen(taken, (isTaken) => this.#hold(isTaken, amount))
  }

  /**
   * Records a granted amount. If the request has ended meanwhile, releases the amount and returns
   * false.
   */
  #hold(isTaken: boolean, amount: number): boolean {
    if (!isTaken) return false
    if (this.#isOver) this.#room.release(this.#holder, amount)
    else this.#held += amount
    return !this.#isOver
  }

  /** Takes the amount even beyond the limit, for data that exists already or must be kept. */
  force(amount: number): void {
    if (this.#isOver) return
    this.#room.force(this.#holder, amount)
    this.#held += amount
  }

  /** Releases all but `amount`. */
  lowerTo(amount: number): void {
    if (amount >= this.#held) return
    const less = this.#held - amount
    this.#held = amount
    this.#room.release(this.#holder, less)
  }

  /** Releases everything and rejects further attempts to take an amount. */
  end(): void {
    this.#isOver = true
    this.lowerTo(0)
  }
}
