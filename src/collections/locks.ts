/**
 * Turns within this process: requests that change a document queue for its key.
 *
 * The engine's versions already keep changes apart. The queue spares the callers of one
 * server the retries: fifty increments of one counter run one after the other instead of
 * defeating each other until they give up.
 */
export class Locks {
  /** For each key that is held or waited for: the last in the queue. */
  readonly #tails = new Map<string, Turn>()

  /** Runs `work` exclusively among all calls that share one of its keys. */
  async holding<T>(
    keys: readonly string[],
    work: (waited: boolean) => Promise<T>,
  ): Promise<T> {
    let waited = false
    const turn = new Turn()
    try {
      // All take their keys in the same order, so no two can wait for each other.
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
  /** Created when the first call waits, which is rare. */
  #over: PromiseWithResolvers<undefined> | undefined

  /** To be asked before it ends. */
  over(): Promise<undefined> {
    this.#over ??= Promise.withResolvers<undefined>()
    return this.#over.promise
  }

  end(): void {
    this.#over?.resolve(undefined)
  }
}
