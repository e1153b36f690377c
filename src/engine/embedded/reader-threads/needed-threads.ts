/** Counts how many reader threads are needed, so that spare ones can end. */
export class NeededThreads {
  readonly #min: number
  #used = 0
  /** Maximum of `#used` since the last call of `take`. */
  #usedMax = 0

  /** `min`: number of threads that are always needed. */
  constructor(min: number) {
    this.#min = min
  }

  /** A read has started on a thread. */
  begin(): void {
    this.#used++
    this.#usedMax = Math.max(this.#usedMax, this.#used)
  }

  /** A read has left its thread. */
  end(): void {
    this.#used--
  }

  /**
   * Number of threads that were needed since the last call. If threads were in use, one more is
   * needed: without a free thread, the next read would start one.
   */
  take(): number {
    const needed = this.#usedMax === 0 ? 0 : this.#usedMax + 1
    this.#usedMax = this.#used
    return Math.max(this.#min, needed)
  }
}
