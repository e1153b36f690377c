/** Changes that happen one after the other, each on what the one before left. */
export class OneByOne {
  #last: Promise<unknown> = Promise.resolve()

  /** Makes the change when all that came before have ended, well or not. */
  next<T>(change: () => T | Promise<T>): Promise<T> {
    const turn = this.#last.then(change)
    this.#last = turn.catch(() => undefined)
    return turn
  }

  /** Resolves when all that were asked for have ended. */
  async end(): Promise<void> {
    await this.#last
  }
}
