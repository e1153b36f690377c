/** What one request holds of a room that many share. */
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

  /** Whether there was room without waiting for some. */
  take(amount: number): boolean | Promise<boolean> {
    if (this.#isOver) return false
    return this.#keep(this.#room.take(this.#holder, amount, this.#held), amount)
  }

  /** The same, behind others of its principal that wait already. */
  takeInTurn(amount: number): boolean | Promise<boolean> {
    if (this.#isOver) return false
    return this.#keep(this.#room.takeInTurn(this.#holder, amount, this.#held), amount)
  }

  /** Whether there was room in time, and it is still wanted. */
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

  /** Returns an amount that was granted after the request had ended. */
  #hold(isTaken: boolean, amount: number): boolean {
    if (!isTaken) return false
    if (this.#isOver) this.#room.release(this.#holder, amount)
    else this.#held += amount
    return !this.#isOver
  }

  /** Takes it although there may be no room: for what exists already, or has to. */
  force(amount: number): void {
    if (this.#isOver) return
    this.#room.force(this.#holder, amount)
    this.#held += amount
  }

  /** Gives back all but so much. */
  lowerTo(amount: number): void {
    if (amount >= this.#held) return
    const less = this.#held - amount
    this.#held = amount
    this.#room.release(this.#holder, less)
  }

  /** Gives everything back, and takes nothing any more. */
  end(): void {
    this.#isOver = true
    this.lowerTo(0)
  }
}
