/** What one request holds of a room that many share. */
import { fixedLimits } from '../limits.ts'
import type { FairShare, Taker } from './fair-share.ts'

export class Charge {
  readonly #room: FairShare
  readonly #taker: Taker
  #held = 0
  #isOver = false

  constructor(room: FairShare, taker: Taker) {
    this.#room = room
    this.#taker = taker
  }

  get held(): number {
    return this.#held
  }

  /** Whether there was room at once. */
  take(amount: number): boolean {
    if (this.#isOver || !this.#room.take(this.#taker, amount, this.#held)) return false
    this.#held += amount
    return true
  }

  /** Whether there was room in time, and it is still wanted. */
  async takeWithin(
    amount: number,
    signal: AbortSignal,
    waitMs: number = fixedLimits.roomWaitMsMax,
  ): Promise<boolean> {
    const isTaken = await this.#room.takeWithin(this.#taker, amount, waitMs, signal)
    if (!isTaken) return false
    if (this.#isOver) this.#room.giveBack(this.#taker, amount)
    else this.#held += amount
    return !this.#isOver
  }

  /** Takes it although there may be no room: for what exists already, or has to. */
  force(amount: number): void {
    if (this.#isOver) return
    this.#room.force(this.#taker, amount)
    this.#held += amount
  }

  /** Gives back all but so much. */
  lowerTo(amount: number): void {
    if (amount >= this.#held) return
    const less = this.#held - amount
    this.#held = amount
    this.#room.giveBack(this.#taker, less)
  }

  /** Gives everything back, and takes nothing any more. */
  end(): void {
    this.#isOver = true
    this.lowerTo(0)
  }
}
