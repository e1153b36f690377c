/**
 * In-process locks by key: requests that change the same document queue for its key.
 *
 * Versions in the engine already prevent lost updates. The queue avoids retries within a
 * server: fifty increments of one counter run one after the other, instead of conflicting until
 * some exceed the limit of attempts.
 */
export class Locks {
  /** The last entry of the queue, by key; keys without a queue are absent. */
  readonly #tails = new Map<string, Turn>()

  /** Runs `work` exclusively among all calls that share one of its keys. */
  async holding<T>(
    keys: readonly string[],
    work: (waited: boolean) => Promise<T>,
  ): Promise<T> {
    let waited = false
    const turn = new Turn()
    try {
      // Calls take keys in sorted order, so they cannot deadlock.
      const inOrder = keys.length === 1 ? keys : [...new Set(keys)].toSorted()
      for (const key of inOrder) {
        const ahead = this.#tails.get(key)
        this.#tails.set(key, turn)
        if (ahead === undefined) continue
        waited = true
        await ahead.over()
      }
      return await work(waited)
    } finally {
      turn.end()
      for (const key of keys) if (this.#tails.get(key) === turn) this.#tails.delete(key)
    }
  }
}

class Turn {
  /** The promise that `over` returns; created when the first call waits, which is rare. */
  #over: PromiseWithResolvers<undefined> | undefined

  /** Resolves when the turn ends. Must be called before the turn ends. */
  over(): Promise<undefined> {
    this.#over ??= Promise.withResolvers<undefined>()
    return this.#over.promise
  }

  end(): void {
    this.#over?.resolve(undefined)
  }
}
