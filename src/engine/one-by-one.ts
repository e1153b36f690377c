/** Runs changes one after the other, so that each starts from the result of the previous one. */
export class OneByOne {
  #last: Promise<unknown> = Promise.resolve()

  /** Runs the change after all earlier ones have settled. */
  next<T>(change: () => T | Promise<T>): Promise<T> {
    const turn = this.#last.then(change)
    this.#last = turn.catch(() => undefined)
    return turn
  }

  /** Resolves when all changes requested so far have settled. */
  async end(): Promise<void> {
    await this.#last
  }
}
